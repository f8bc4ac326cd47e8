import Testing

@testable import CoreDataModel
@testable import CoreDataStore
@testable import Migrations

/// Passes over several versions in stores that have more than their model.
@Suite("History and other tables in one pass")
struct FusedStrangerTests {
  @Test("History, other tables with indexes, and views are carried by one mapping, with the bytes of step by step")
  func strangers() throws {
    let number = try #require(try StoreLayout(model: MigrationModels.first).entityNumbers["Chapter"])
    let plan = try FusedMigrationTests.passes(MigrationModels.all) { store in
      try CarriedStore.addHistory(store, entity: number, hasBitmaps: true)
      try CarriedStore.write(store) {
        try $0.execute(
          sql: """
            CREATE TABLE Extra (a, b TEXT COLLATE NOCASE); INSERT INTO Extra VALUES (1, 'x'), (NULL, 'Y');
            CREATE INDEX ExtraB ON Extra (b); CREATE VIEW Names AS SELECT b FROM Extra;
            CREATE TABLE Pairs (k TEXT PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO Pairs VALUES ('k', 2);
            """)
      }
    }
    #expect(plan.steps.count == 1, "\(plan.notes)")
  }

  @Test("Steps that one mapping cannot make alike are passes of their own where a store has more than its model")
  func strangersApart() throws {
    let ordered = [true, false, true].map { isOrdered in
      [
        MigrationModels.entity("Book", [], [StoreModels.link("pages", "Page", "book", many: true, ordered: isOrdered)]),
        MigrationModels.entity(
          "Page", [MigrationModels.attribute("text")], [StoreModels.link("book", "Book", "pages")]),
      ]
    }
    let plan = try FusedMigrationTests.passes(
      FusedMigrationTests.versions(ordered[0..<2] + [ordered[2] + [MigrationModels.entity("New", [])]])
    ) { store in
      try CarriedStore.write(store) { try $0.execute(sql: "CREATE TABLE Extra (a); INSERT INTO Extra VALUES (1)") }
    }
    #expect(plan.steps.count == 2 && plan.notes.contains { $0.contains("the table Extra") }, "\(plan.notes)")
  }

  @Test("A store with triggers is migrated step by step, as every version decides about them")
  func triggers() throws {
    let plan = try FusedMigrationTests.passes(MigrationModels.all) { store in
      try CarriedStore.write(store) {
        try $0.execute(sql: "CREATE TRIGGER Own AFTER INSERT ON ZBOOK BEGIN SELECT 1; END")
      }
    }
    #expect(plan.steps.count == 2 && plan.notes.contains { $0.contains("the trigger Own") }, "\(plan.notes)")
  }
}
