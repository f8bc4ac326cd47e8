import Foundation
import GRDB
import Testing

@testable import SwiftDataModels

@Suite("Swift sources in the command", .enabled(if: SourceParser.isThere, "built without SwiftData"))
struct SwiftSourceCommandTests {
  private static let text = """
    enum V1: VersionedSchema {
      static let versionIdentifier = Schema.Version(1, 0, 0)
      static var models: [any PersistentModel.Type] { [V1.Trip.self] }
      @Model class Trip { @Attribute(.unique) var name: String; var place: Place? }
    }
    enum V2: VersionedSchema {
      static let versionIdentifier = Schema.Version(2, 0, 0)
      static var models: [any PersistentModel.Type] { [V2.Trip.self, V2.Stop.self] }
      @Model class Trip {
        #Index<Trip>([\\.days])
        @Attribute(.unique, originalName: "name") var title: String; var place: Place?; var days = 3
        var price: Money?; @Relationship(inverse: \\Stop.trip) var stops: [Stop] = []
      }
      @Model class Stop { var trip: Trip?
        #if BETA
        var note: String?
        #endif
      }
    }
    struct Place: Codable { var x: Double; var y: Double }
    """
  private static let types = ["--swift-types", "Money=Decimal", "-D", "BETA"]

  private func sources(_ folder: CommandFolder) throws -> String {
    let path = folder.newPath("App")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try Self.text.write(toFile: path + "/Schema.swift", atomically: true, encoding: .utf8)
    return path
  }

  @Test("A store of one version is made, identified and migrated to the next; the run needs no sources again")
  func migrated() throws {
    let folder = try CommandFolder(readsSwift: true)
    let (sources, store) = (try sources(folder), folder.file("Trips.store"))
    let made = try folder.run(
      "godwit", ["sample", sources, "--version", "1.0.0", "--rows", "3000", "--output", store] + Self.types)
    #expect(made.code == 0, "\(made)")
    let found = try folder.run("godwit", ["identify", store, "--models", sources] + Self.types)
    #expect(found.code == 0 && found.output.contains("version 1.0.0 of"), "\(found)")
    let plan = try folder.run("godwit", ["plan", store, "--models", sources] + Self.types)
    #expect(plan.code == 0 && plan.output.contains("version 1.0.0 to 2.0.0"), "\(plan)")
    let stopped = try folder.run(
      "godwit", ["migrate", store, "--models", sources, "--max-runtime", "1ms"] + Self.types)
    try FileManager.default.removeItem(atPath: sources)
    let done = stopped.code == 75 ? try folder.run("godwit", ["resume", store]) : stopped
    #expect(done.code == 0, "\(stopped) \(done)")
    let verified = try folder.run("godwit", ["verify", store])
    #expect(verified.code == 0, "\(verified)")
    let rows = try ExampleFolder.rows(store, "SELECT count(*) AS n, count(ZTITLE) AS t FROM ZTRIP WHERE ZDAYS = 3")
    #expect(rows == ["[n:3000 t:3000]"], "\(rows)")
    let index = "SELECT name FROM sqlite_schema WHERE name = 'Z_Trip_SwiftDataIndexOnBinarydays'"
    #expect(try ExampleFolder.rows(store, index).count == 1)
  }

  @Test("The command that makes missing indexes has the options of Swift, and works as it is written")
  func repaired() throws {
    let folder = try CommandFolder(readsSwift: true)
    let (sources, store) = (try sources(folder), folder.file("Trips.store"))
    let words = ["sample", sources, "--version", "2.0.0", "--rows", "30", "--output", store]
    #expect(try folder.run("godwit", words + Self.types).code == 0)
    let queue = try DatabaseQueue(path: store)
    try queue.writeWithoutTransaction { try $0.execute(sql: "DROP INDEX Z_Trip_SwiftDataIndexOnBinarydays") }
    try queue.close()
    let verified = try folder.run("godwit", ["verify", store, "--models", sources] + Self.types)
    let command = ["migrate", store, "--identity", "--models", sources, "--swift-types", "Money=Decimal"]
    let line = (command + ["--define", "BETA"]).joined(separator: " ")
    #expect(verified.output.contains("to make what is missing: godwit \(line)\n"), "\(verified)")
    let done = try folder.run("godwit", command + ["--define", "BETA"])
    #expect(done.code == 0, "\(done)")
    let again = try folder.run("godwit", ["verify", store, "--models", sources] + Self.types)
    #expect(again.code == 0 && !again.output.contains("to make what is missing"), "\(again)")
  }

  @Test("diff shows that a constant date of a model of SwiftData changed, and not what is evaluated")
  func dates() throws {
    let folder = try CommandFolder(readsSwift: true)
    let paths = try ["0", "60"].map { seconds in
      let path = folder.newPath("At\(seconds).xcdatamodel")
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      let attribute = #"<attribute name="at" attributeType="Date" defaultDateTimeInterval="\#(seconds)"/>"#
      let text = #"<model usedWithSwiftData="YES"><entity name="Trip">\#(attribute)</entity></model>"#
      try text.write(toFile: path + "/contents", atomically: true, encoding: .utf8)
      return path
    }
    let constants = try folder.run("godwit", ["diff"] + paths)
    #expect(constants.code == 0 && constants.output.contains("defaultValue"), "\(constants)")
    let swift = folder.newPath("At.swift")
    try "@Model class Trip { var at: Date = Date() }\n".write(toFile: swift, atomically: true, encoding: .utf8)
    let evaluated = try folder.run("godwit", ["diff", paths[0], swift])
    #expect(evaluated.code == 0 && !evaluated.output.contains("defaultValue"), "\(evaluated)")
  }

  @Test("A bundle with a configuration named default is compared as any other; a store of SwiftData is known by it")
  func configuration() throws {
    let folder = try CommandFolder(readsSwift: true)
    let paths = try ["A", "B"].map { name in
      let path = folder.newPath("\(name).xcdatamodel")
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      let entity = "<entity name=\"Trip\" representedClassName=\"\(name)\"/>"
      let rest = #"<configuration name="default"><memberEntity name="Trip"/></configuration>"#
      let text = #"<model userDefinedModelVersionIdentifier="1.0.0">\#(entity)\#(rest)</model>"#
      try text.write(toFile: path + "/contents", atomically: true, encoding: .utf8)
      return path
    }
    let bundles = try folder.run("godwit", ["diff"] + paths)
    #expect(bundles.code == 0 && bundles.output.contains("managedObjectClassName"), "\(bundles)")
    let (swift, store) = (folder.newPath("Trip.swift"), folder.file("Trip.store"))
    try "@Model class Trip { var id: UUID = UUID() }\n".write(toFile: swift, atomically: true, encoding: .utf8)
    #expect(try folder.run("godwit", ["sample", swift, "--rows", "3", "--output", store]).code == 0)
    let same = try folder.run("godwit", ["diff", store, swift])
    #expect(same.code == 0 && same.output.contains("no difference"), "\(same)")
  }

  @Test("diff, hash and models take sources; what they lack is one error with file, line and the option")
  func looked() throws {
    let folder = try CommandFolder(readsSwift: true)
    let sources = try sources(folder)
    let refused = try folder.run("godwit", ["hash", sources])
    #expect(
      refused.code == 20 && refused.error.contains("\(sources)/Schema.swift:12: Trip.price has the type Money"),
      "\(refused)")
    #expect(refused.error.contains("--swift-types 'Money=String'"))
    let hash = try folder.run("godwit", ["hash", "--json", sources] + Self.types)
    #expect(hash.code == 0 && hash.output.contains("\"2.0.0\""), "\(hash)")
    let models = try folder.run("godwit", ["models", sources] + Self.types)
    #expect(models.code == 0 && models.output.contains("1.0.0 to 2.0.0: can be inferred"), "\(models)")
    let diff = try folder.run("godwit", ["diff", sources + ":1.0.0", sources + "/Schema.swift"] + Self.types)
    #expect(diff.code == 0 && diff.output.contains("~ attribute name -> title"), "\(diff)")
    let wrong = try folder.run("godwit", ["hash", sources, "--swift-types", "Money"])
    #expect(wrong.code == 64 && wrong.error.contains("Write --swift-types"), "\(wrong)")
    let tag = try folder.run("godwit", ["hash", sources + "@1.0"])
    #expect(tag.code == 20 && tag.error.contains("@1.0: "), "\(tag)")
  }
}
