import Foundation
import GRDB
import Testing

@testable import CoreDataModel
@testable import MigrationJobs

@Suite("The mapping file Times")
struct TimesExampleTests {
  @Test("Texts are added up as numbers, a table gives names, and an entity becomes another one")
  func times() throws {
    let folder = try MigrationFolder([
      ManagedObjectModel(
        name: "Shop 1",
        entities: [
          StoreModels.entity("Amount", [("xyz", .string)]),
          StoreModels.entity("Time", [("hour", .string), ("minute", .string), ("country", .string)]),
        ]),
      ManagedObjectModel(
        name: "Shop 2",
        entities: [
          StoreModels.entity("Time", [("times", .integer32), ("country", .string)]),
          StoreModels.entity("Unit", [("name", .string)]),
        ]),
    ])
    let store = try folder.sample("Shop 1", rows: 10, seed: 4)
    let queue = try DatabaseQueue(path: store)
    try queue.write { db in
      try db.execute(
        sql: "UPDATE ZTIME SET ZHOUR = Z_PK, ZMINUTE = '2', ZCOUNTRY = CASE Z_PK WHEN 1 THEN 'FR' ELSE '?' END")
    }
    try queue.close()
    let wanted = try MigrationFolder.rows(
      store, "SELECT Z_PK, Z_PK + 2, CASE Z_PK WHEN 1 THEN 'France, la' ELSE 'elsewhere' END FROM ZTIME ORDER BY 1")
    let units = try MigrationFolder.rows(store, "SELECT Z_PK, ZXYZ FROM ZAMOUNT ORDER BY 1")
    var request = folder.request(store)
    request.mappings = [ExampleLibrary.root + "/Examples/Mappings/Times.yaml"]
    #expect(try folder.migrate(request).isVerified)
    #expect(try MigrationFolder.rows(store, "SELECT Z_PK, ZTIMES, ZCOUNTRY FROM ZTIME ORDER BY 1") == wanted)
    #expect(try MigrationFolder.rows(store, "SELECT Z_PK, ZNAME FROM ZUNIT ORDER BY 1") == units)
    #expect(wanted.count > 2 && units.count > 2)
  }
}
