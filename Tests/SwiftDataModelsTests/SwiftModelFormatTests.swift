import CoreDataModel
import Foundation
import Migrations
import Testing

@testable import SwiftDataModels

@Suite(
  "Swift sources are models wherever a model is named", .serialized,
  .enabled(if: SourceParser.isThere, "built without SwiftData"))
struct SwiftModelFormatTests {
  private static func folder(_ files: [String: String]) throws -> String {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("format-\(UUID().uuidString)").path
    for (name, text) in files {
      let file = URL(fileURLWithPath: folder + "/" + name)
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
    }
    return folder
  }

  @Test("A library reads them with models of Xcode; files named together are one model")
  func library() throws {
    let folder = try Self.folder([
      "One/A.swift": "@Model class A { var b: Kind }", "Two/B.swift": "enum Kind: Int, Codable { case a }",
      ".build/X.swift": "@Model class", "App.xcdatamodel/contents": "<model><entity name=\"E\"/></model>",
    ])
    defer { try? FileManager.default.removeItem(atPath: folder) }
    ModelFormats.register(try SwiftDataReader())
    let library = try ModelLibrary(paths: [
      folder + "/One", folder + "/App.xcdatamodel", folder + "/Two/B.swift",
    ])
    #expect(library.bundles.map(\.name) == ["One", "App"])
    #expect(library.versions.map { $0.entities.map(\.name) } == [["A"], ["E"]])
    // A folder with a model of Xcode is that.
    #expect(ModelFormats.format(of: folder) == nil)
    #expect(ModelFormats.format(of: folder + "/One") != nil && ModelFormats.format(of: folder + "/One@1") != nil)
    #expect(
      ModelFormats.format(of: folder + "/App.xcdatamodel") == nil && ModelFormats.format(of: folder + "/None") == nil)
  }

  @Test("Sources that changed are read again, whatever the time and the size of their files say")
  func changed() throws {
    let folder = try Self.folder(["App/A.swift": "@Model class A { var b: Kind }"])
    defer { try? FileManager.default.removeItem(atPath: folder) }
    func write(_ name: String, _ text: String) throws {
      let path = "\(folder)/App/\(name).swift"
      // In place, so that the file stays the same one.
      let file = FileHandle(forUpdatingAtPath: path)
      try file?.write(contentsOf: Data(text.utf8))
      if file == nil { try Data(text.utf8).write(to: URL(fileURLWithPath: path)) }
      try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: path)
    }
    func types(_ swiftTypes: String = "Kind=Int") throws -> [String] {
      ModelFormats.register(try SwiftDataReader(types: [swiftTypes]))
      return try ModelLibrary(paths: [folder + "/App"]).versions[0].entities.map {
        "\($0.name) " + $0.attributes.map(SwiftText.text).joined(separator: ", ")
      }
    }
    for _ in 1...2 { #expect(try types() == ["A b integer64"]) }
    #expect(try types("Kind=Date") == ["A b date"])
    try write("A", "@Model class A { var c: Kind }")
    #expect(try types() == ["A c integer64"])
    try write("A", "@Model class A { var b: Kind }")
    #expect(try types() == ["A b integer64"])
    try write("B", "@Model class B { var n: Int16 }")
    #expect(try types() == ["A b integer64", "B n integer16"])
    try FileManager.default.removeItem(atPath: folder + "/App/B.swift")
    #expect(try types() == ["A b integer64"])
  }

  @Test(
    "A model of Xcode's that is written of sources has their hashes, tables and defaults",
    arguments: [
      """
      @Model class A { var a: Place?; var b: Kind; var c: [String]; var d = UUID(); var e: Decimal = 2
        @Attribute(.transformable(by: T.self)) var f: NSObject?; var g: Raw?; var h: [B] = [] }
      @Model class B { #Index<B>([\\.n]); @Attribute(.unique) var n: String = "x"; var a: A? }
      struct Place: Codable { var x: Double; var inner: Inner }
      struct Inner: Codable { var x: Float?; var kind: Kind }
      enum Kind: Codable { case one, two }
      enum Raw: String, Codable { case a }
      """
    ])
  func written(_ text: String) throws {
    let model = try SwiftText(text).model()
    let folder = try Self.folder([:])
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try ModelPackageWriter.write(
      ModelBundle(path: "", name: "A", versions: [model], currentVersion: model.name), to: folder + "/A.xcdatamodeld")
    let read = try #require(try ModelReader.read(path: folder + "/A.xcdatamodeld").first?.versions.first)
    #expect(read.name == model.name && read.versionIdentifiers == model.versionIdentifiers)
    #expect(read.versionHashes == model.versionHashes)
    #expect(read.entities.map(\.indexes) == model.entities.map(\.indexes))
    #expect(
      read.entities.map { $0.attributes.map(\.defaultValue) }
        == model.entities.map { $0.attributes.map(\.defaultValue) })
    #expect(read.entities.map { $0.attributes.map(\.userInfo) } == model.entities.map { $0.attributes.map(\.userInfo) })
    #expect(read.problems.filter { $0.severity == .error } == [])
  }

  @Test("The order of a plan is the order of inferred steps, whatever the names")
  func order() throws {
    func version(_ name: String, _ properties: String) -> String {
      "enum V\(name): VersionedSchema { static let versionIdentifier = Schema.Version(\(name), 0, 0)\n"
        + "static var models: [any PersistentModel.Type] { [V\(name).A.self] }\n@Model class A { \(properties) } }\n"
    }
    let text =
      version("1", "var a: Int") + version("2", "var a: Int; var b: Int?") + version("3", "var c: Int?")
      + "enum P: SchemaMigrationPlan { static var schemas: [any VersionedSchema.Type] { [V2.self, V1.self, V3.self] }\n"
      + "static var stages: [MigrationStage] { [] } }"
    let folder = try Self.folder(["A.swift": text])
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let library = ModelLibrary(bundles: try SwiftDataReader().read([folder]))
    #expect(library.versions.map(\.name) == ["2.0.0", "1.0.0", "3.0.0"])
    let steps = try VersionPath.find(
      from: library.versions[0], to: library.versions[2], library: library, mappings: [])
    #expect(steps.map(\.source.name) == ["2.0.0", "1.0.0"])
  }
}
