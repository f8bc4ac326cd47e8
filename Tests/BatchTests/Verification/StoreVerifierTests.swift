import Foundation
import GRDB
import Testing

@testable import CoreDataModel
@testable import CoreDataStore
@testable import RunSupport
@testable import StoreVerification

@Suite("Verification of finished stores")
struct StoreVerifierTests {
  @Test("A clean store passes, and the report counts its tables and entities")
  func clean() throws {
    let store = try VerificationStore(seed: 1)
    var shown: [Double] = []
    let report = try StoreVerifier(path: store.path, model: store.layout.model).verify(
      .init(uuid: VerificationStore.uuid, rows: store.expectedRows)
    ) { fraction, _ in shown.append(fraction) }
    #expect(report.violations == [])
    #expect(report.warnings == [])
    #expect(shown == shown.sorted())
    #expect(shown.last.map { abs($0 - 1) < 0.001 } == true)
    let counted = Dictionary(uniqueKeysWithValues: report.tables.map { ($0.name, $0.rows) })
    #expect(counted == store.expectedRows)
    #expect(report.entities.map(\.name) == ["Book", "File", "Author", "Reader", "She\"lf"])
    #expect(report.entities.map(\.rows) == [60, 60, 20, 10, 5])
    try report.throwIfViolated()
  }

  @Test(
    "Every single fault is found, with its entity, property and key",
    arguments: [VerificationMode.full, .fast, .sqlite])
  func faults(mode: VerificationMode) throws {
    var made = 0
    for seed in UInt64(1)...3 {
      var random = SeededRandom(seed)
      let layout = try StoreLayout(model: VerificationStore.model())
      for fault in VerificationFault.all(layout, &random) {
        let store = try VerificationStore(seed: seed)
        // What is remembered of a sound store must not hide what is wrong with one of the same tables.
        if mode == .full { #expect(try store.verify(mode: mode).violations == []) }
        try fault.make(store)
        let report = try store.verify(mode: mode)
        let found = report.violations.filter { $0.kind == fault.kind && $0.entity == fault.entity }
        let place: Comment = "\(mode), seed \(seed), \(fault.name): \(report.violations.map(\.description))"
        #expect(found.contains { fault.property == nil || $0.property == fault.property }, place)
        if let key = fault.key {
          #expect(found.contains { $0.examples.contains { $0.key == Int64(key) } }, place)
        }
        #expect(throws: BatchError.self) { try report.throwIfViolated() }
        made += 1
      }
    }
    print("verification, \(mode): \(made) single faults found (seeds 1 to 3)")
    #expect(made == 135)
  }

  @Test(
    "Required values that are NULL and places that are missing are warnings with counts",
    arguments: [VerificationMode.full, .fast, .sqlite])
  func warnings(mode: VerificationMode) throws {
    let store = try VerificationStore(seed: 2)
    var file = 0
    try store.change { file = try Int.fetchOne($0, sql: "SELECT ZFILE FROM ZBOOK WHERE Z_PK = 8") ?? 0 }
    try store.change(
      """
      UPDATE ZPERSON SET ZNAME = NULL WHERE Z_PK IN (3, 4, 25);
      UPDATE ZBOOK SET Z_FOK_SHELF = NULL WHERE Z_PK IN (6, 7);
      UPDATE ZFILE SET ZBOOK = NULL WHERE ZBOOK = 8;
      """)
    let report = try store.verify(mode: mode)
    #expect(report.violations == [])
    #expect(report.warnings.map(\.kind) == [.missingOrder, .requiredNull, .oneSided])
    #expect(report.warnings.map(\.count) == [1, 3, 1])
    #expect(
      report.warnings.map(\.description) == [
        "Book 7, shelf: an object of an ordered relationship has no place in it",
        "Author 3, name: a required value is NULL, 3 times",
        "Book 8, file: the other side of the one-to-one relationship is NULL (key \(file))",
      ])
  }

  /// The model with limits on to-many relationships of every kind; every shelf has 10 books, every reader wishes 2,
  /// every author has 4.
  private static func limited() -> ManagedObjectModel {
    var model = VerificationStore.model()
    func limit(_ entity: String, _ name: String, _ change: (inout RelationshipDescription) -> Void) {
      for place in model.entities.indices where model.entities[place].name == entity {
        for link in model.entities[place].relationships.indices
        where model.entities[place].relationships[link].name == name {
          change(&model.entities[place].relationships[link])
        }
      }
    }
    limit("She\"lf", "books") { ($0.minCount, $0.maxCount) = (2, 10) }
    limit("Reader", "wishes") { ($0.isOptional, $0.minCount, $0.maxCount) = (false, 1, 2) }
    limit("Author", "books") { ($0.minCount, $0.isOptional) = (4, false) }
    limit("Book", "authors") { ($0.isOptional, $0.maxCount) = (false, 1000) }
    return model
  }

  @Test(
    "To-many relationships with fewer or more objects than their model says are warnings with the owner's key, as required values are",
    arguments: [VerificationMode.full, .fast, .sqlite])
  func counts(mode: VerificationMode) throws {
    let store = try VerificationStore(seed: 6)
    func warnings() throws -> [String] {
      try StoreVerifier(path: store.path, model: Self.limited()).verify(mode: mode).warnings
        .filter { $0.kind == .objectCount }.map(\.description)
    }
    #expect(try warnings() == [])
    let join = try #require(store.layout.joinTable(for: "books", entity: "Author"))
    let wishes = "Z\(store.layout.entityNumbers["Reader"] ?? 0)WISHES"
    // An optional relationship may be empty, whatever its least number is; so may one without least number.
    try store.change(
      """
      UPDATE ZBOOK SET ZSHELF = 3 WHERE ZSHELF = 1;
      UPDATE ZBOOK SET ZSHELF = 4 WHERE ZSHELF = 2 AND Z_PK > (SELECT min(Z_PK) FROM ZBOOK WHERE ZSHELF = 2);
      UPDATE ZBOOK SET \(wishes) = NULL WHERE \(wishes) = 23;
      DELETE FROM \(join.name) WHERE \(join.sourceColumn) = 7;
      DELETE FROM \(join.name) WHERE \(join.sourceColumn) = 9
        AND \(join.destinationColumn) = (SELECT min(\(join.destinationColumn)) FROM \(join.name) WHERE \(join.sourceColumn) = 9);
      """)
    #expect(
      try warnings() == [
        "Author 7, books: there are fewer objects than the model wants, 2 times",
        "Reader 23, wishes: there are fewer objects than the model wants",
        "She\"lf 2, books: there are fewer objects than the model wants",
        "She\"lf 3, books: there are more objects than the model allows, 2 times",
      ])
  }

  @Test("The error names the first entity and key; the report survives JSON")
  func reports() throws {
    let store = try VerificationStore(seed: 3)
    try store.change("UPDATE ZBOOK SET ZSHELF = 77 WHERE Z_PK > 50")
    let report = try store.verify()
    let error = try #require(throws: BatchError.self) { try report.throwIfViolated() }
    #expect(error.code == .mismatch)
    #expect(error.entity == "Book")
    #expect(error.key == 51)
    #expect(error.message.contains("Book 51, shelf: the key leads to no row (key 77), 10 times"))
    #expect(report.violations.first?.examples.map(\.key) == [51, 52, 53, 54, 55])
    try report.throwIfViolated(accepting: [.dangling])
    let copy = try JSONDecoder().decode(VerificationReport.self, from: JSONEncoder().encode(report))
    #expect(copy == report)
  }

  @Test("The folder stays as it was, even for a file marked as WAL")
  func untouched() throws {
    let store = try VerificationStore(seed: 4)
    try store.change("PRAGMA journal_mode = WAL")
    let before = try FileManager.default.contentsOfDirectory(atPath: store.folder.path).sorted()
    let bytes = try Data(contentsOf: URL(fileURLWithPath: store.path))
    #expect(bytes[18] == 2)
    #expect(try store.verify().violations == [])
    #expect(try FileManager.default.contentsOfDirectory(atPath: store.folder.path).sorted() == before)
    #expect(try Data(contentsOf: URL(fileURLWithPath: store.path)) == bytes)
  }

  @Test("A -wal without a commit and a finished journal beside a store change nothing; a missing store is refused")
  func unfinished() throws {
    let store = try VerificationStore(seed: 5)
    for suffix in ["-wal", "-journal"] {
      try Data([1]).write(to: URL(fileURLWithPath: store.path + suffix))
      let report = try store.verify()
      #expect(report.violations == [] && report.note == nil && report.path == store.path)
      try Data().write(to: URL(fileURLWithPath: store.path + suffix))
    }
    let missing = StoreVerifier(path: store.path + "2", model: store.layout.model)
    let error = #expect(throws: BatchError.self) { try missing.verify() }
    #expect(error?.code == .noSuchFile)
  }

  @Test("Damage anywhere is a finding or harmless, never a crash")
  func damage() throws {
    let store = try VerificationStore(seed: 6)
    let url = URL(fileURLWithPath: store.path)
    let whole = try Data(contentsOf: url)
    var random = SeededRandom(6)
    var found = 0
    for round in 0..<150 {
      var bytes = whole
      if round % 10 == 0 {
        bytes = bytes.prefix(Int.random(in: 0..<whole.count, using: &random))
      } else {
        for _ in 0..<3 {
          bytes[Int.random(in: 0..<whole.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
      }
      try bytes.write(to: url)
      do {
        if try !store.verify().violations.isEmpty { found += 1 }
      } catch let error as BatchError {
        // A header that claims UTF-16, or a schema beyond all bounds.
        #expect(error.code == .badStore, "round \(round): \(error)")
        found += 1
      }
    }
    print("verification: \(found) of 150 damaged files noticed (seed 6)")
    #expect(found > 60)
  }

  @Test("Indexes beyond the walk, with predicates, expressions or other collations, are judged by SQLite")
  func unwalkable() throws {
    for (sql, isFound) in [
      ("CREATE INDEX more ON ZBOOK (ZISBN COLLATE NOCASE)", true), ("CREATE INDEX more ON ZBOOK (ZSHELF + 1)", true),
      ("CREATE INDEX more ON ZBOOK (ZSHELF) WHERE ZSHELF > 0", true),
    ] {
      let store = try VerificationStore(seed: 7)
      try store.change(sql)
      #expect(try store.verify().violations == [])
      try store.withoutIndex("more") {
        try store.change("UPDATE ZBOOK SET ZSHELF = 1 + ZSHELF % 5, ZISBN = 'new' WHERE Z_PK = 5")
      }
      let kinds = try store.verify().violations.map(\.kind)
      #expect(kinds.contains(.index) == isFound, "\(sql)")
    }
  }

  @Test("An index over a column that SQLite would read from the table is judged by SQLite too")
  func wideTable() throws {
    let store = try VerificationStore(seed: 8)
    let columns = (1...70).map { "C\($0) INTEGER" }.joined(separator: ", ")
    try store.change(
      """
      CREATE TABLE WIDE (Z_PK INTEGER PRIMARY KEY, \(columns));
      INSERT INTO WIDE (C70) VALUES (1), (2), (3);
      CREATE INDEX last ON WIDE (C70);
      """)
    let verifier = StoreVerifier(path: store.path, model: store.layout.model)
    #expect(try verifier.verify().violations == [])
    try store.withoutIndex("last") { try store.change("UPDATE WIDE SET C70 = 9 WHERE Z_PK = 2") }
    let violations = try verifier.verify().violations
    #expect(violations.contains { $0.kind == .index && $0.table == "WIDE" })
  }
}
