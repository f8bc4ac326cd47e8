import Foundation
import Streams
import Testing

@testable import CoreDataModel
@testable import MigrationJobs
@testable import RunSupport

@Suite("Names from models") struct HostileNamesTests {
  private static let token = "token\(UInt32.random(in: 0 ... .max))"

  static let names = [
    "a\"b", "a'b", "a\"\u{301}b", "a'\u{301}b",
    "a`b[c]d", "x; DROP TABLE ZPLAIN; --", "a/b", "../../../\(token)", "/\(token)", "x\0y", "%s%n?#",
    "straße ıİǆﬁ", "e\u{301}\u{200F}", String(repeating: "n", count: 1 << 16), "-wal", "..", "ZZ_",
  ]

  private func model(_ version: String, _ name: String, _ attributes: [String]) -> ManagedObjectModel {
    ManagedObjectModel(
      name: version,
      entities: [
        MigrationModels.entity("Plain", [MigrationModels.attribute("text")]),
        MigrationModels.entity(name, attributes.map { MigrationModels.attribute($0) }),
      ])
  }

  @Test(
    "Whatever the name of an entity and of an attribute, the store is migrated whole, or refused: it reaches no path and no SQL",
    arguments: HostileNamesTests.names)
  func entity(_ name: String) throws {
    do {
      let folder = try MigrationFolder([model("V1", name, [name, "kept"]), model("V2", name, [name, "kept", "new"])])
      let store = try folder.sample("V1", rows: 40, seed: 5)
      let plain = try MigrationFolder.rows(store, "SELECT Z_PK, ZTEXT FROM ZPLAIN ORDER BY Z_PK")
      let report = try folder.migrate(folder.request(store))
      #expect(report.isVerified)
      #expect(try MigrationFolder.rows(store, "PRAGMA integrity_check") == ["string(\"ok\")"])
      #expect(try MigrationFolder.rows(store, "SELECT Z_PK, ZTEXT FROM ZPLAIN ORDER BY Z_PK") == plain)
      let names = FileManager.default.enumerator(atPath: folder.path)?.allObjects as? [String] ?? []
      #expect(!names.contains { $0.contains(Self.token) })
    } catch let error as BatchError {
      #expect(error.code != .failed && error.code != .mismatch, "\(name.prefix(40)): \("\(error)".prefix(400))")
    }
    for directory in ["/", FileManager.default.temporaryDirectory.path, FileManager.default.currentDirectoryPath] {
      let names = try FileManager.default.contentsOfDirectory(atPath: directory)
      #expect(!names.contains { $0.contains(Self.token) }, "\(directory)")
    }
  }

  @Test(
    "The name of a version leads to no path outside of its package", arguments: ["../../\(token)", "a/b", "x\0y", ".."])
  func versions(_ name: String) throws {
    let folder = try JobTestFolder()
    let bundle = ModelBundle(
      path: folder.file("M.xcdatamodeld"), name: "M", versions: [model(name, "Other", ["a"])], currentVersion: name)
    try? ModelPackageWriter.write(bundle, to: folder.file("M.xcdatamodeld"))
    let names = try LocalFileSystem().list(folder.path)
    #expect(names.isEmpty || names == ["M.xcdatamodeld"])
    let above = try LocalFileSystem().list(FilePaths.directory(of: folder.path))
    #expect(!above.contains { $0.contains(Self.token) })
  }
}
