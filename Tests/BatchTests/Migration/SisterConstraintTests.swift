import Testing

@testable import CoreDataModel
@testable import RunSupport

@Suite("Uniqueness constraints of one of several entities in a table")
struct SisterConstraintTests {
  private static func entities(isUnique: Bool, _ declarer: String) -> [EntityDescription] {
    var (parent, first, second) = (
      EntityDescription(name: "Parent"), EntityDescription(name: "First"), EntityDescription(name: "Second")
    )
    (first.superentity, second.superentity) = ("Parent", "Parent")
    let code = AttributeDescription(name: "code", type: .string)
    if declarer == "Parent" {
      parent.attributes = [code]
    } else {
      (first.attributes, second.attributes) = ([code], [code])
    }
    if isUnique { first.uniquenessConstraints = [["code"]] }
    return [parent, first, second]
  }

  /// Two objects, one of each entity; the second one's value is in a column of its own or in the common one.
  private static func store(_ declarer: String, column: String) throws -> RuleStore {
    let store = try RuleStore(entities(isUnique: false, declarer), entities(isUnique: true, declarer), [])
    for (key, entity, column) in [(1, "First", "ZCODE"), (2, "Second", column)] {
      try MigrationFolder.execute(
        store.store,
        "INSERT INTO ZPARENT (Z_PK, Z_ENT, Z_OPT, \(column)) "
          + "SELECT \(key), Z_ENT, 1, 'x' FROM Z_PRIMARYKEY WHERE Z_NAME = '\(entity)'")
    }
    return store
  }

  @Test("An index is over the whole table: an equal value of a sister is refused before anything is written")
  func shared() throws {
    let store = try Self.store("Parent", column: "ZCODE")
    let error = #expect(throws: BatchError.self) { _ = try store.inferred() }
    #expect(
      error?.code == .refused && error?.message.contains("1 object has the same code as another one (2 as 1)") == true)
  }

  @Test("A sister's own attribute of that name has another column, and may have the value")
  func apart() throws {
    let store = try Self.store("First", column: "ZCODE1")
    #expect(try MigrationFolder.rows(store.inferred(), "SELECT Z_PK FROM ZPARENT").count == 2)
  }
}
