import Foundation
import GRDB
import Testing

@testable import CoreDataModel
@testable import Migrations

@Suite("A store as a model")
struct StoreModelTests {
  private static let more = ManyEntities.attribute("more")

  /// Two versions, and a store of each that carries its model.
  private func stores() throws -> (folder: FindingFolder, old: String, new: String) {
    let folder = try FindingFolder([FindingFolder.name, FindingFolder.name + Self.more])
    let (old, new) = (try folder.sample("old.sqlite"), folder.file("new.store"))
    try folder.runWell(["sample", folder.models, "--version", "V2", "--rows", "3", "--output", new])
    return (folder, old, new)
  }

  @Test("Every command that takes models takes a store, which stays as it is")
  func commands() throws {
    let (folder, old, new) = try stores()
    let hashes = try expectLook(["hash", new, "--json"], in: folder.folder)
    let wanted = try folder.version("V2").versionHashes.mapValues { Data($0).base64EncodedString() }
    #expect(try document(hashes) as? [String: [String: String]] == ["new": wanted])
    #expect(try expectLook(["models", new], in: folder.folder).contains("new.store: 1 version"))
    #expect(try expectLook(["identify", new, "--models", old, new], in: folder.folder).contains("version new of"))
    let plan = try expectLook(["plan", old, "--models", new], in: folder.folder)
    #expect(plan.contains("to new, inferred"), "\(plan)")
    // With a bundle, as two bundles are.
    let both = try expectLook(["plan", old, "--models", folder.models, new, "--versions", "V1,new"], in: folder.folder)
    #expect(both.contains("version V1 to new"), "\(both)")
    #expect(try expectLook(["diff", old, new], in: folder.folder).contains("more"))
    try folder.runWell(["migrate", old, "--models", new])
    #expect(try folder.isStore(old, at: "V2"))
    try folder.runWell(["verify", old, "--models", new])
    try folder.runWell(["sample", new, "--rows", "5", "--output", folder.file("made.sqlite")])
    #expect(try folder.isStore(folder.file("made.sqlite"), at: "V2"))
  }

  @Test("A run whose model is a store keeps that model: the store may be gone when it is resumed")
  func resumed() throws {
    let (folder, old, new) = try stores()
    let output = folder.file("output.sqlite")
    try folder.kill(
      ["migrate", old, "--models", new, "--output", output] + FindingFolder.written, before: "rename cutover.json")
    try FileManager.default.removeItem(atPath: new)
    try folder.runWell(["resume", output])
    #expect(try folder.isStore(output, at: "V2"))
  }

  @Test("Stores of one name are versions of their own, named after their folders, also in a run that is resumed")
  func sameName() throws {
    let (folder, old, new) = try stores()
    let paths = try [("Old", old), ("New", new)].map { name, store in
      let place = folder.file(name)
      try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
      try FileManager.default.moveItem(atPath: store, toPath: place + "/default.store")
      return place + "/default.store"
    }
    let models = try expectLook(["models"] + paths, in: folder.folder)
    #expect(models.contains("Old-default") && models.contains("New-default"), "\(models)")
    let words = [paths[0], "--models"] + paths + ["--versions", "Old-default,New-default"]
    let plan = try expectLook(["plan"] + words, in: folder.folder)
    #expect(plan.contains("version Old-default to New-default"), "\(plan)")
    try folder.kill(["migrate"] + words + FindingFolder.written, before: "rename cutover.json")
    try folder.runWell(["resume", paths[0]])
    #expect(try folder.isStore(paths[0], at: "V2"))
    #expect(
      StoreDocument.names(["/a/x/d.store", "/b/x/d.store", "/d.store", "/c.store"]).values.sorted() == [
        "a-x-d", "b-x-d", "c", "d",
      ])
  }

  @Test("A draft between two stores fits wherever stores of these versions are, whatever their names")
  func draft() throws {
    let (folder, old, new) = try stores()
    let file = folder.file("draft.yaml")
    try Data(try expectLook(["mapping", "init", old, new], in: folder.folder).utf8).write(
      to: URL(fileURLWithPath: file))
    let plan = try expectLook(["plan", old, "--models", folder.models, "--mappings", file], in: folder.folder)
    #expect(plan.contains("V1 to V2, mapped"), "\(plan)")
    #expect(try folder.run(["plan", old, "--models", new, "--mappings", file]).output.contains("mapped"))
  }

  @Test("A store's model is written as a package of the same version, and nothing is overwritten")
  func extracted() throws {
    let (folder, _, new) = try stores()
    let place = folder.file("Models")
    for target in [place, folder.file("Own.xcdatamodel")] {
      let outcome = try folder.run(["models", new, "--extract", target])
      #expect(outcome.code == 0 && outcome.output.contains(": written"), "\(outcome)")
      let package = target == place ? place + "/new.xcdatamodel" : target
      #expect(try ModelReader.read(path: package)[0].versions[0].versionHashes == folder.version("V2").versionHashes)
      let before = try folder.folder.tree()
      let again = try folder.run(["models", new, "--extract", target])
      #expect(again.code == 20 && again.error.contains("something is there already"), "\(again)")
      #expect(try folder.folder.tree() == before)
    }
  }

  @Test("A store without a model is one clear error, and so is another program's database")
  func without() throws {
    let (folder, old, new) = try stores()
    try folder.execute(new, "DELETE FROM Z_MODELCACHE")
    let outcome = try folder.run(["plan", old, "--models", new])
    #expect(outcome.code == 20 && outcome.error.contains("new.store: the store carries no model"), "\(outcome)")
    #expect(outcome.error.contains("Name the application's models instead"))
    try folder.execute(folder.file("other.db"), "CREATE TABLE a (b)")
    let other = try folder.run(["hash", folder.file("other.db")])
    #expect(other.code == 30 && other.error.contains("not a Core Data store"), "\(other)")
  }

  @Test("A model that lies in the -wal file is the one that is read, also by a process that knows the store")
  func log() throws {
    let (folder, old, new) = try stores()
    let wanted = try ["V1", "V2"].map { try folder.version($0).versionHashes }
    #expect(try ModelLibrary(paths: [old]).versions[0].versionHashes == wanted[0])
    let main = try Data(contentsOf: URL(fileURLWithPath: old))
    let queue = try DatabaseQueue(path: old)
    try queue.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; ATTACH '\(new)' AS new")
      try db.execute(sql: "UPDATE main.Z_MODELCACHE SET Z_CONTENT = (SELECT Z_CONTENT FROM new.Z_MODELCACHE)")
      try db.execute(sql: "UPDATE main.Z_METADATA SET Z_PLIST = (SELECT Z_PLIST FROM new.Z_METADATA)")
    }
    #expect(try ModelLibrary(paths: [old]).versions[0].versionHashes == wanted[1])
    #expect(main.count == (try Data(contentsOf: URL(fileURLWithPath: old))).count)
    try queue.close()
  }
}
