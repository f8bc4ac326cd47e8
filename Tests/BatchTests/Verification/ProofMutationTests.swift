import Foundation
import GRDB
import Streams
import Testing

@testable import CoreDataStore
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport
@testable import StoreVerification

/// Single faults in finished stores of which it is known what was written. `GODWIT_FAULTS=N` makes N of them,
/// `GODWIT_FAULT_SEED` the first seed; scripts/mutate-proof does both.
@Suite("Mutations of finished stores") struct ProofMutationTests {
  static func setting(_ name: String, _ standard: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? standard
  }

  @Test("Every single fault that is put into a finished store is found, with its entity and key")
  func faults() throws {
    let (count, first) = (Self.setting("GODWIT_FAULTS", 120), Self.setting("GODWIT_FAULT_SEED", 1))
    let store = try MutatedStore(seed: UInt64(first))
    #expect(try store.verify(isDense: true).violations == [])
    var made: [String: Int] = [:]
    var missed = 0
    for seed in first..<first + count {
      var random = SeededRandom(UInt64(seed))
      let fault = try store.mutate(&random)
      let violations = try store.verify(isDense: fault.isRaw).violations
      let keys = Set(
        violations.flatMap { violation in
          violation.examples.compactMap { violation.entity == fault.entity || fault.entity == nil ? $0.key : nil }
        })
      let isNamed = fault.entity == nil || violations.contains { $0.entity == fault.entity }
      if violations.isEmpty || !isNamed || !keys.isSuperset(of: fault.keys) {
        missed += 1
        Issue.record("seed \(seed), \(fault.name), keys \(fault.keys): \(violations.map(\.description))")
      }
      made[fault.name, default: 0] += 1
    }
    print(
      "proof: \(count - missed) of \(count) single faults found (first seed \(first)): \(made.sorted { $0.key < $1.key })"
    )
  }
}

/// A store that the engine has written, with the digests of what it wrote, and a copy of it that is changed.
final class MutatedStore {
  struct Fault {
    var name: String
    /// Nil where no entity is concerned.
    var entity: String?
    var keys: Set<Int64> = []
    /// Was the file changed byte by byte, and not by SQLite, which leaves traces of its own?
    var isRaw = false
  }

  private let folder: MigrationFolder
  private let source: VerificationStore
  private let whole: Data
  let path: String
  private var digests: [String: ProofDigest] = [:]

  init(seed: UInt64) throws {
    folder = try MigrationFolder([VerificationStore.model()])
    source = try VerificationStore(seed: seed)
    path = try folder.place("finished")
    var request = folder.request(source.path, output: path)
    request.target = .identity
    // What was written is what the proof found: the run's own comparison has shown it.
    #expect(try folder.migrate(request).isVerified)
    whole = try MigrationFolder.bytes(path)
    digests = try Self.digests(path, source.layout)
  }

  /// What the proof finds the tables of a store to hold.
  static func digests(_ path: String, _ layout: StoreLayout) throws -> [String: ProofDigest] {
    let connection = try StoreConnection(path: path)
    let reader = try StoreReader(path: path, fileSystem: LocalFileSystem(), locking: .none)
    defer { reader.close() }
    let binding = try StoreBinding(layout: layout, schema: reader.schema, modelName: "Verified", path: path)
    let file = try ProofFile(path: path, fileSystem: LocalFileSystem(), isDense: true)
    let plan = try ProofPlan(try CheckPlan(binding: binding, schema: reader.schema, on: connection), in: file)
    let found = try ProofPasses(path: path, file: file, plan: plan, memory: .standard, monitor: nil).run { _, _ in }
    return Dictionary(zip(plan.tables, found.rows).map { ($0.name, $1?.digest ?? ProofDigest()) }) { $1 }
  }

  func verify(isDense: Bool, mode: VerificationMode = .fast) throws -> VerificationReport {
    do {
      return try StoreVerifier(path: path, model: source.layout.model).verify(
        .init(uuid: VerificationStore.uuid, rows: source.expectedRows, digests: digests, isDense: isDense), mode: mode,
        external: ExternalDataPlaces(store: path, source: source.path))
    } catch let error as BatchError where error.code == .badStore {
      let violation = Violation(kind: .damaged, message: error.message)
      return VerificationReport(
        path: path, tables: [], entities: [], external: nil, violations: [violation], warnings: [], seconds: 0)
    }
  }

  /// Puts one fault into a fresh copy.
  func mutate(_ random: inout SeededRandom) throws -> Fault {
    try whole.write(to: URL(fileURLWithPath: path))
    try ExternalDataCopy(fileSystem: LocalFileSystem()).remove(from: path)
    try ExternalDataCopy(fileSystem: LocalFileSystem()).take(from: source.path, to: path)
    let book = Int64.random(in: 1...Int64(VerificationStore.books), using: &random)
    let other = book % Int64(VerificationStore.books) + 1
    let author = Int64.random(in: 1...Int64(VerificationStore.authors), using: &random)
    let new = Int64.random(in: 61...140, using: &random)
    switch Int.random(in: 0..<14, using: &random) {
    case 0: return try flip(&random)
    case 1: return try sql("value", [book], "UPDATE ZBOOK SET ZPAGES = ifnull(ZPAGES, 0) + 1 WHERE Z_PK = \(book)")
    case 2: return try sql("text", [book], "UPDATE ZBOOK SET ZISBN = ZISBN || 'x' WHERE Z_PK = \(book)")
    case 3: return try sql("lost row", [book], "DELETE FROM ZBOOK WHERE Z_PK = \(book)")
    case 4:
      let columns =
        source.layout.table(ofEntity: "Book")?.columns.map(\.name).filter { $0 != "Z_PK" && $0 != "ZISBN" } ?? []
      let list = columns.joined(separator: ", ")
      return try sql(
        "doubled row", [new], "INSERT INTO ZBOOK (Z_PK, \(list)) SELECT \(new), \(list) FROM ZBOOK WHERE Z_PK = \(book)"
      )
    case 5:
      return try sql(
        "swapped keys", [book, other],
        "UPDATE ZBOOK SET Z_PK = 999 WHERE Z_PK = \(book); UPDATE ZBOOK SET Z_PK = \(book) WHERE Z_PK = \(other);"
          + "UPDATE ZBOOK SET Z_PK = \(other) WHERE Z_PK = 999")
    case 6: return try sql("order", [book], "UPDATE ZBOOK SET Z_FOK_SHELF = Z_FOK_SHELF + 1 WHERE Z_PK = \(book)")
    case 7: return try staleEntry(book)
    case 8:
      try change("UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX - 1 WHERE Z_NAME = 'Book'")
      return Fault(name: "Z_MAX", entity: "Book", keys: [Int64(VerificationStore.books)])
    case 9:
      let join = source.layout.joinTables[0]
      try change(
        "DELETE FROM \(join.name) WHERE rowid = (SELECT rowid FROM \(join.name) WHERE \(join.sourceColumn) = \(author))"
      )
      return Fault(name: "lost link", entity: join.relationship.entity)
    case 10:
      let join = source.layout.joinTables[0]
      let place = "rowid = (SELECT rowid FROM \(join.name) WHERE \(join.sourceColumn) = \(author))"
      try change("UPDATE \(join.name) SET \(join.destinationColumn) = \(new) WHERE \(place)")
      return Fault(name: "dangling link", entity: join.relationship.entity, keys: [author])
    case 11: return try external(book) { try LocalFileSystem().remove($0) }
    case 12:
      return try external(book) { file in
        // A file of its own: the link's bytes are the source's, too.
        var bytes = try MigrationFolder.bytes(file)
        bytes[0] ^= 1
        try LocalFileSystem().remove(file)
        try bytes.write(to: URL(fileURLWithPath: file))
      }
    default: return try sql("one side", [book], "UPDATE ZBOOK SET ZFILE = NULL WHERE Z_PK = \(book)")
    }
  }

  private func sql(_ name: String, _ keys: Set<Int64>, _ sql: String) throws -> Fault {
    try change(sql)
    return Fault(name: name, entity: "Book", keys: keys)
  }

  private func external(_ key: Int64, _ body: (String) throws -> Void) throws -> Fault {
    let key = key % VerificationStore.outside + 1
    try body(ExternalDataFolder(store: path).files + "/" + VerificationStore.file(key))
    return Fault(name: "file outside", entity: "File", keys: [key])
  }

  private func change(_ sql: String) throws {
    let queue = try DatabaseQueue(path: path)
    try queue.inDatabase { try $0.execute(sql: "PRAGMA synchronous = OFF; \(sql)") }
    try queue.close()
  }

  /// A bit anywhere behind the file's header: of a dense file every one of them means something.
  private func flip(_ random: inout SeededRandom) throws -> Fault {
    var bytes = whole
    bytes[Int.random(in: 100..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    try bytes.write(to: URL(fileURLWithPath: path))
    return Fault(name: "bit", isRaw: true)
  }

  /// The row changes and comes back, but one index never hears of the way back.
  private func staleEntry(_ book: Int64) throws -> Fault {
    let name = "ZBOOK_ZSHELF_INDEX"
    var hidden: Row?
    let queue = try DatabaseQueue(path: path)
    try queue.inDatabase { database in
      try database.execute(sql: "PRAGMA synchronous = OFF; PRAGMA writable_schema = ON")
      try database.execute(sql: "CREATE TABLE old AS SELECT ZSHELF v FROM ZBOOK WHERE Z_PK = \(book)")
      try database.execute(sql: "UPDATE ZBOOK SET ZSHELF = ifnull(ZSHELF, 0) % 5 + 1 WHERE Z_PK = \(book)")
      hidden = try Row.fetchOne(database, sql: "SELECT * FROM sqlite_master WHERE name = ?", arguments: [name])
      try database.execute(sql: "DELETE FROM sqlite_master WHERE name = '\(name)'; PRAGMA writable_schema = RESET")
      try database.execute(sql: "UPDATE ZBOOK SET ZSHELF = (SELECT v FROM old) WHERE Z_PK = \(book); DROP TABLE old")
      guard let hidden else { return }
      try database.execute(sql: "PRAGMA writable_schema = ON")
      try database.execute(
        sql: "INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql) VALUES ('index', ?, ?, ?, ?)",
        arguments: [name, hidden["tbl_name"] as String, hidden["rootpage"] as Int, hidden["sql"] as String])
    }
    try queue.close()
    return Fault(name: "stale entry", entity: "Book", keys: [book])
  }
}
