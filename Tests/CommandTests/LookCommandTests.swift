import Foundation
import GRDB
import Testing

@testable import BatchCommand
@testable import CoreDataModel
@testable import Migrations

/// Runs a command that must not change anything in its folder.
func expectLook(
  _ arguments: [String], in folder: CommandFolder, code: Int32 = 0, at location: SourceLocation = #_sourceLocation
) throws -> String {
  let before = try folder.tree()
  let outcome = try folder.run("godwit", arguments)
  #expect(outcome.code == code, "\(outcome)", sourceLocation: location)
  #expect(try folder.tree() == before, "\(arguments)", sourceLocation: location)
  return outcome.output
}

/// A document that a command printed for scripts.
func document(_ text: String) throws -> [String: Any] {
  try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
}

@Suite("Commands that look at models and stores")
struct LookCommandTests {
  private let folder: CommandFolder

  init() throws { folder = try CommandFolder() }

  @Test("--version prints name and version, and stays an option of the subcommands that have it")
  func version() throws {
    let printed = try folder.run("godwit", ["--version"])
    #expect(printed.code == 0 && printed.output == "godwit \(GodwitCommand.version)\n")
    #expect(try folder.run("book-migration", ["--version"]).output == "book-migration \(GodwitCommand.version)\n")
    let model = ExampleFolder.models
    #expect(
      try folder.run(
        "godwit", ["sample", model, "--version", "Library 1", "--rows", "1", "--output", folder.file("S.sqlite")]
      )
      .code == 0)
    #expect(try folder.run("godwit", ["--version", "inspect"]).code == 64)
  }

  @Test("hash prints version, entity and hash, as JSON nothing else; a version that is not there is named")
  func hash() throws {
    let wanted = try ModelLibrary(paths: [ExampleFolder.models]).versions.reduce(into: [String: [String: String]]()) {
      $0[$1.name] = $1.versionHashes.mapValues { Data($0).base64EncodedString() }
    }
    let all = try expectLook(["hash", ExampleFolder.models, "--json"], in: folder)
    #expect(try document(all) as? [String: [String: String]] == wanted && wanted.count == 3)
    let one = try expectLook(["hash", ExampleFolder.models, "--version", "Library 2", "--json"], in: folder)
    #expect(try document(one) as? [String: [String: String]] == wanted.filter { $0.key == "Library 2" })
    let text = try expectLook(["hash", ExampleFolder.models], in: folder)
    for (version, hashes) in wanted {
      #expect(text.contains("\(version)\n"))
      for (entity, hash) in hashes {
        #expect(text.contains("  \(entity.padding(toLength: 6, withPad: " ", startingAt: 0))  \(hash)"))
      }
    }
    try expectRefusal(
      20, ["no version is named Library 9", "Library 3"], ["hash", ExampleFolder.models, "--version", "Library 9"],
      in: folder,
      program: "godwit")
  }

  @Test("models lists versions in order with checksums, the current one, and which steps can be inferred")
  func models() throws {
    let text = try expectLook(["models", ExampleFolder.models], in: folder)
    for model in try ModelLibrary(paths: [ExampleFolder.models]).versions {
      let mark = model.name == "Library 3" ? "  * " : "    "
      #expect(text.contains("\(mark)\(model.name)  \(model.versionChecksum)  \(model.entities.count) entities"))
    }
    #expect(text.contains("Library 1 to Library 2: can be inferred"))
    let path = folder.file("Shop.xcdatamodeld")
    try Self.write(["price": "Integer 32"], to: path + "/Shop 1.xcdatamodel", identifier: "first")
    try Self.write(["price": "String"], to: path + "/Shop 2.xcdatamodel")
    try Self.write(["price": "String"], to: path + "/Shop 10.xcdatamodel")
    let shop = try expectLook(["models", path], in: folder)
    #expect(shop.contains("identifier first"))
    #expect(
      shop.contains("Shop 1 to Shop 2: needs a mapping model: Item.price: the type changed from integer32 to string"))
    #expect(shop.contains("Shop 2 to Shop 10: the same hashes, nothing to migrate"))
    let json = try document(try expectLook(["models", path, ExampleFolder.models, "--json"], in: folder))
    let found = try #require(json["models"] as? [[String: Any]])
    #expect(json["format"] as? Int == 1 && found.count == 2)
    let steps = try #require(found[0]["steps"] as? [[String: Any]])
    #expect(
      steps.map { $0["isInferable"] as? Bool } == [false, true] && (steps[0]["reasons"] as? [String])?.count == 1)
  }

  @Test("diff compares versions of models and of stores, with a verdict, and marks what changes hashes")
  func diff() throws {
    let models = ExampleFolder.models
    let text = try expectLook(["diff", models + ":Library 1", models + ":Library 2"], in: folder)
    for line in [
      "Library 1 to Library 2: can be inferred", "  + Author *", "  ~ Book", "      - attribute authorName *",
      "      + relationship authors *",
    ] { #expect(text.contains(line + "\n"), "\(line): \(text)") }
    let store = try folder.sample(rows: 50)
    let current = try expectLook(["diff", store, models, "--models", models], in: folder)
    #expect(current.hasPrefix("\(store) (Library 1) to Library 3: can be inferred\n"))
    #expect(try expectLook(["diff", models, models], in: folder) == "Library 3 to Library 3: no difference\n")
    try Self.write(["price": "Integer 32"], to: folder.file("a:b.xcdatamodel"))
    try Self.write(["price": "String"], to: folder.file("c.xcdatamodel"))
    let sides = [folder.file("a:b.xcdatamodel"), folder.file("c.xcdatamodel")]
    let other = try expectLook(["diff"] + sides, in: folder)
    for line in ["a:b to c: needs a mapping model", "type: integer32 -> string *", "  Item.price: the type changed"] {
      #expect(other.contains(line), "\(line): \(other)")
    }
    let json = try document(try expectLook(["diff", "--json"] + sides, in: folder))
    #expect(json["format"] as? Int == 1 && json["isInferable"] as? Bool == false)
    #expect(json["changesVersionHashes"] as? Bool == true && (json["obstacles"] as? [Any])?.count == 1)
    try expectRefusal(
      20, ["no version is named Library 9"], ["diff", models + ":Library 9", models], in: folder, program: "godwit")
    #expect(try expectLook(["diff", store, models], in: folder).contains("can be inferred"))
    try folder.forgetModel(of: store)
    try expectRefusal(20, ["model is not known"], ["diff", store, models], in: folder, program: "godwit")
  }

  /// A model of one entity with these attributes.
  static func write(_ attributes: [String: String], to path: String, identifier: String = "", entity: String = "Item")
    throws
  {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    let list = attributes.keys.sorted().map {
      "<attribute name=\"\($0)\" optional=\"YES\" attributeType=\"\(attributes[$0]!)\"/>"
    }
    let text =
      "<model type=\"com.apple.IDECoreDataModeler.DataModel\" userDefinedModelVersionIdentifier=\"\(identifier)\">"
      + "<entity name=\"\(entity)\">\(list.joined())</entity></model>"
    try text.write(toFile: path + "/contents", atomically: false, encoding: .utf8)
  }

  @Test("identify names the version of a store, and says by exit code 20 that none fits")
  func identify() throws {
    let store = try folder.sample(rows: 300)
    let text = try expectLook(["identify", store, "--models", ExampleFolder.models], in: folder)
    #expect(text == "\(store): version Library 1 of \(ExampleFolder.models)\n")
    let second = ExampleFolder.models + "/Library 2.xcdatamodel"
    let other = try expectLook(["identify", store, "--models", second], in: folder, code: 20)
    for line in [
      "no version fits", "nearest   Library 2", "  Author: only in the version", "  Book: another version hash",
      "    the store has no place for authors", "  the version does not know the column ZBOOK.ZAUTHORNAME VARCHAR",
    ] { #expect(other.contains(line), "\(line): \(other)") }
    let json = try document(try expectLook(["identify", store, "--models", second, "--json"], in: folder, code: 20))
    #expect((json["versions"] as? [Any])?.isEmpty == true && json["format"] as? Int == 1)
    #expect((json["nearest"] as? [String: String])?["name"] == "Library 2")
    let differences = try #require(json["differences"] as? [[String: Any]])
    #expect(differences.map { $0["entity"] as? String } == ["Author", "Book"])
    #expect(differences[1]["missing"] as? [String] == ["authors"])
  }

  @Test("identify tells an attribute of another type, and a store whose tables are not those of its hashes")
  func identifyColumns() throws {
    let models = folder.file("Shop.xcdatamodeld")
    try Self.write(["name": "String", "price": "Integer 32"], to: models + "/A.xcdatamodel")
    try Self.write(["name": "String", "price": "Double", "tax": "Double"], to: models + "/B.xcdatamodel")
    let store = folder.file("shop.sqlite")
    let made = try folder.run("godwit", ["sample", models, "--version", "A", "--rows", "10", "--output", store])
    #expect(made.code == 0)
    let other = try expectLook(["identify", store, "--models", models + "/B.xcdatamodel"], in: folder, code: 20)
    #expect(other.contains("    the store has no place for tax\n    price: INTEGER instead of FLOAT"), "\(other)")
    let queue = try DatabaseQueue(path: store)
    try queue.write { try $0.execute(sql: "ALTER TABLE ZITEM RENAME COLUMN ZPRICE TO ZCOST") }
    try queue.close()
    let torn = try expectLook(["identify", store, "--models", models], in: folder)
    for line in ["version A of", "the hash fits, but the tables do not", "no place for price", "ZITEM.ZCOST INTEGER"] {
      #expect(torn.contains(line), "\(line): \(torn)")
    }
  }

  @Test("What is no store or no model is refused", arguments: ["identify", "metadata", "export"])
  func refusals(command: String) throws {
    let path = folder.file("text.sqlite")
    try Data(repeating: 0x41, count: 5000).write(to: URL(fileURLWithPath: path))
    let models = command == "metadata" ? [] : ["--models", ExampleFolder.models]
    try expectRefusal(30, [path, "no SQLite database"], [command, path] + models, in: folder, program: "godwit")
    try expectRefusal(
      64, ["no such file"], [command, folder.file("none.sqlite")] + models, in: folder, program: "godwit")
    try expectRefusal(64, ["no such file"], ["hash", folder.file("none")], in: folder, program: "godwit")
    try expectRefusal(20, ["no data model"], ["hash", path], in: folder, program: "godwit")
    let store = try folder.sample(rows: 50)
    var journal = Data([0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7])
    journal.append(Data(count: 600))
    try journal.write(to: URL(fileURLWithPath: store + "-journal"))
    // Nothing is taken back here, but it is told that it was looked for.
    let recovered = try folder.run("godwit", [command, store] + models)
    #expect(recovered.code == 0 && recovered.error.contains("rollback journal"), "\(recovered)")
  }
}
