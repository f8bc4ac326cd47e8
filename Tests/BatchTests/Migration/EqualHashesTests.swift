import Foundation
import GRDB
import Testing

@testable import CoreDataModel
@testable import CoreDataStore
@testable import MigrationJobs
@testable import Migrations

/// The hash of a composite attribute leaves out its name, and names of columns follow the order of names.
@Suite("Versions with equal hashes whose columns hold different attributes") struct EqualHashesTests {
  private static func version(_ name: String, _ attributes: [(name: String, id: String?)]) -> ManagedObjectModel {
    let composites = attributes.map { name, id in
      var attribute = MigrationModels.attribute(name, .composite, id: id)
      (attribute.elements, attribute.compositeName) = ([MigrationModels.attribute("q")], "S")
      return attribute
    }
    return ManagedObjectModel(name: name, entities: [MigrationModels.entity("Item", composites)])
  }

  private static let versions = [version("V1", [("a", nil), ("b", nil)]), version("V2", [("b", nil), ("c", "a")])]

  /// The column that holds the element of a composite attribute.
  private func column(_ attribute: String, _ model: ManagedObjectModel) throws -> String {
    let columns = try StoreLayout(model: model).entityTables[0].columns
    return try #require(columns.first { $0.role == .attribute(entity: "Item", name: "\(attribute).q") }).name
  }

  /// A store at the first version whose values are the names of their attributes.
  private func store(_ folder: MigrationFolder) throws -> String {
    let store = try folder.sample("V1", rows: 0, seed: 1)
    let (a, b) = (try column("a", Self.versions[0]), try column("b", Self.versions[0]))
    let queue = try DatabaseQueue(path: store)
    try queue.write { db in
      try db.execute(sql: "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, \(a), \(b)) VALUES (1, 1, 1, 'a', 'b')")
      try db.execute(sql: "UPDATE Z_PRIMARYKEY SET Z_MAX = 1")
    }
    try queue.close()
    return store
  }

  @Test("The store's own model says which one it has, and a migration keeps every value under its attribute")
  func migrated() throws {
    #expect(Self.versions[0].versionHashes == Self.versions[1].versionHashes)
    let folder = try MigrationFolder(Self.versions)
    let store = try store(folder)
    let plan = try folder.job().plan(folder.request(store))
    #expect(plan.sourceVersion.name == "V1" && plan.targetVersion.name == "V2" && plan.steps.count == 1)
    _ = try folder.migrate(folder.request(store))
    let (b, c) = (try column("b", Self.versions[1]), try column("c", Self.versions[1]))
    let queue = try DatabaseQueue(path: store)
    let row = try #require(try queue.read { try Row.fetchOne($0, sql: "SELECT \(b), \(c) FROM ZITEM") })
    try queue.close()
    #expect(row[b] == "b" && row[c] == "a", "\(row)")
    let after = try folder.job().plan(folder.request(store))
    #expect(after.sourceVersion.name == "V2" && after.isUpToDate && after.notes.isEmpty, "\(after.notes)")
  }

  @Test("Of a store without its own model it is told that nobody knows which one it has")
  func unknown() throws {
    let folder = try MigrationFolder(Self.versions)
    let store = try store(folder)
    let queue = try DatabaseQueue(path: store)
    try queue.write { try $0.execute(sql: "DELETE FROM Z_MODELCACHE") }
    try queue.close()
    let plan = try folder.job().plan(folder.request(store))
    #expect(plan.isUpToDate && plan.notes.contains { $0.hasPrefix("V1, V2 have the same version hashes") })
  }

  @Test(
    "On the way to a later version the values of the store's own columns are read, whichever of the versions it has")
  func passed() throws {
    var last = Self.version("V3", [("b", nil), ("c", "a")])
    last.entities[0].attributes.append(MigrationModels.attribute("more"))
    for fuses in [true, false] {
      let folder = try MigrationFolder(Self.versions + [last])
      let store = try store(folder)
      var request = folder.request(store)
      request.fuses = fuses
      let plan = try folder.job().plan(request)
      #expect(plan.sourceVersion.name == "V1" && plan.path.map(\.destination.name) == ["V2", "V3"])
      _ = try folder.migrate(request)
      let (b, c) = (try column("b", last), try column("c", last))
      let rows = try MigrationFolder.rows(store, "SELECT \(b), \(c) FROM ZITEM")
      #expect(rows == [#"string("b")|string("a")"#], "\(rows)")
    }
  }

  /// V2 renames, V3 forgets the old name, which hashes do not tell, and V4 has something new under it.
  private static let forgotten = [
    ManagedObjectModel(name: "V1", entities: [MigrationModels.entity("Item", [MigrationModels.attribute("price")])]),
    ManagedObjectModel(
      name: "V2", entities: [MigrationModels.entity("Item", [MigrationModels.attribute("net", id: "price")])]),
    ManagedObjectModel(name: "V3", entities: [MigrationModels.entity("Item", [MigrationModels.attribute("net")])]),
    ManagedObjectModel(
      name: "V4",
      entities: [
        MigrationModels.entity("Item", [MigrationModels.attribute("net"), MigrationModels.attribute("price")])
      ]),
  ]

  @Test("Of equal versions that a person lists, the last one says what the next step renames")
  func listed() throws {
    #expect(Self.forgotten[1].versionHashes == Self.forgotten[2].versionHashes)
    for (version, lists) in [("V1", [["V1", "V2", "V3", "V4"]]), ("V2", [["V3", "V4"], ["V2", "V3", "V4"]])] {
      for list in [nil] + lists.map(Optional.some) {
        let folder = try MigrationFolder(Self.forgotten)
        let store = try folder.sample(version, rows: 1, seed: 1)
        let column = version == "V1" ? "ZPRICE" : "ZNET"
        try MigrationFolder.execute(store, "UPDATE ZITEM SET \(column) = 'mine'")
        var request = folder.request(store)
        if let list { request.order = .list(list) }
        let plan = try folder.job().plan(request)
        #expect(
          plan.path.last?.source.name == "V3" && plan.path.last?.destination.name == "V4", "\(version) \(list ?? [])")
        _ = try folder.migrate(request)
        let rows = try MigrationFolder.rows(store, "SELECT ZNET, ZPRICE FROM ZITEM")
        #expect(rows == [#"string("mine")|null"#], "\(version) \(list ?? []): \(rows)")
      }
    }
  }

  @Test("What tells versions apart does not depend on their order: a run's copies of them may stand in another one")
  func keys() throws {
    let versions = Self.versions + Self.forgotten
    func library(_ versions: [ManagedObjectModel]) -> ModelLibrary {
      ModelLibrary(bundles: [ModelBundle(path: "App", name: "App", versions: versions)])
    }
    let (first, second) = (library(versions), library(versions.reversed()))
    for version in versions {
      #expect(first.key(of: version) == second.key(of: version))
      #expect(first.placeKey(of: version) == second.placeKey(of: version))
    }
    #expect(Set(first.placeKeys).count == versions.count && Set(first.keys).count == versions.count - 1)
  }
}
