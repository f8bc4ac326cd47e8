import Streams
import Testing

@testable import CoreDataModel
@testable import MappingModels
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport

/// Sets what the mapping's user info asks for in the third object.
private struct SettingPolicy: EntityMigrationPolicy {
  static let values: [String: (String, Value)] = [
    "text": ("small", .text("abc")), "large": ("small", .integer(70000)), "cut": ("small", .real(1.5)),
    "two": ("flag", .integer(2)),
    "bytes": ("name", .blob([1])), "number": ("name", .integer(1)), "short": ("id", .blob([1, 2, 3])),
    "nan": ("moment", .real(.nan)),
    "nanDouble": ("ratio", .real(.nan)), "textData": ("data", .text("x")), "fits": ("small", .integer(-32768)),
    "whole": ("small", .real(5)), "true": ("flag", .integer(1)), "date": ("moment", .integer(5)),
    "null": ("small", .null),
  ]

  func createDestinationInstances(
    forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let object = try manager.createDestinationInstance(forSource: source, in: mapping)
    guard source.key == 3, let wish = mapping.userInfo["set"] else { return }
    if let (name, value) = Self.values[wish] { return try object.set(name, value) }
    try object.set(wish, from: source, "number")
  }
}

/// Gives required values late, but for the object that the user info names.
private struct LateValuePolicy: EntityMigrationPolicy {
  let createsRelationships = true

  func createRelationships(
    forDestination destination: DestinationObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    if mapping.userInfo["forgets"] != "value \(destination.key)" { try destination.set("title", "late") }
    if mapping.userInfo["forgets"] != "object \(destination.key)" { try destination.set("owner", to: destination) }
    if mapping.userInfo["clears"] == "\(destination.key)" { try destination.set("title", .null) }
  }
}

@Suite("Finding POL1: what a policy sets is looked at as what a rule gives")
struct PolicyValueTests {
  private static let old = ManagedObjectModel(
    name: "P1", entities: [StoreModels.entity("Item", [("number", .integer64), ("label", .string)])])

  private static func folder(
    _ new: EntityDescription, _ info: [String: String], _ policy: any EntityMigrationPolicy.Type
  ) throws -> (MigrationFolder, String) {
    let mapping = PolicyModels.model("Items", [PolicyModels.entity("Item", ["number"], [], policy: policy, info: info)])
    let folder = try MigrationFolder(
      [old, ManagedObjectModel(name: "P2", entities: [new])], mappings: [mapping], policies: [policy])
    let store = try folder.sample("P1", rows: 10, seed: 2)
    try MigrationFolder.execute(store, "UPDATE ZITEM SET ZNUMBER = 70000, ZLABEL = NULL")
    return (folder, store)
  }

  private static func setting(_ wish: String) throws -> (MigrationFolder, MigrationJob.Request) {
    let item = StoreModels.entity(
      "Item",
      [
        ("number", .integer64), ("small", .integer16), ("flag", .boolean), ("name", .string), ("id", .uuid),
        ("moment", .date),
        ("ratio", .double), ("data", .binaryData),
      ])
    let (folder, store) = try folder(item, ["set": wish], SettingPolicy.self)
    var request = folder.request(store, output: try folder.place("out"))
    request.consent = LossConsent(all: true)
    return (folder, request)
  }

  @Test(
    "A value that its attribute's type does not have is an error with entity and key, or a reject, and never written",
    arguments: [
      "text", "large", "cut", "two", "bytes", "number", "short", "nan", "nanDouble", "textData", "small", "name",
    ])
  func unfit(wish: String) throws {
    let (folder, asked) = try Self.setting(wish)
    var request = asked
    let error = #expect(throws: BatchError.self) { try folder.migrate(request) }
    #expect(
      error?.message.contains("does not fit the type") == true && error?.key == 3 && error?.entity == "Item",
      "\(error as Any)")
    request.output = try folder.place("again")
    request.rejects = RejectLimit(.count(1))
    let report = try folder.migrate(request)
    #expect(report.rejects?.count == 1)
    #expect(try MigrationFolder.rows(report.destination, "SELECT count(*) FROM ZITEM WHERE Z_PK <> 3") == ["int64(9)"])
    #expect(try MigrationFolder.rows(report.destination, "SELECT count(*) FROM ZITEM") == ["int64(9)"])
  }

  @Test(
    "Values that fit are written as Core Data writes them",
    arguments: [("fits", "-32768"), ("whole", "5"), ("true", "1"), ("date", "5"), ("null", "null"), ("flag", "1")])
  func fitting(wish: String, expected: String) throws {
    let (folder, request) = try Self.setting(wish)
    let report = try folder.migrate(request)
    let column = SettingPolicy.values[wish]?.0 ?? wish
    let sql =
      "SELECT count(*) FROM ZITEM WHERE Z_PK = 3 AND Z\(column.uppercased()) IS \(expected) AND typeof(Z\(column.uppercased())) <> 'real'"
    #expect(try MigrationFolder.rows(report.destination, sql) == ["int64(1)"])
  }

  @Test(
    "A required value may come late; whether it came is looked at when the step has written all",
    arguments: [
      [:], ["forgets": "value 4"], ["forgets": "object 5"], ["clears": "6"],
    ])
  func late(info: [String: String]) throws {
    var item = StoreModels.entity(
      "Item", [("number", .integer64), ("title", .string)], [StoreModels.link("owner", "Item", nil)])
    item.attributes[1].isOptional = false
    item.relationships[0].isOptional = false
    let (folder, store) = try Self.folder(item, info, LateValuePolicy.self)
    var request = folder.request(store, output: try folder.place("out"))
    request.consent = LossConsent(all: true)
    guard let wish = info.values.first else {
      #expect(try folder.migrate(request).isVerified)
      return
    }
    let error = #expect(throws: BatchError.self) { try folder.migrate(request) }
    let property = wish.hasPrefix("object") ? "Item.owner" : "Item.title"
    #expect(error?.message.contains("\(property) is required") == true, "\(error as Any)")
    #expect(error?.key == Int64(wish.filter(\.isNumber)) && error?.entity == "Item", "\(error as Any)")
    request.output = try folder.place("again")
    request.validation = .none
    #expect(try folder.migrate(request).isVerified)
  }
}
