import Foundation
import GRDB
import Testing

@testable import Streams

/// The second decoder against SQLite, and on damaged files.
@Suite("The independent decoder") struct ProofTests {
  @Test("A digest names the one row or the two rows in which it differs from another")
  func located() {
    var random = SeededGenerator(seed: 11)
    for _ in 0..<300 {
      let keys = (0..<50).map { _ in Int64(1 + random.below(2_000_000)) }
      let hashes = keys.map { _ in (low: random.next(), high: random.next()) }
      var (whole, one, two) = (ProofDigest(), ProofDigest(), ProofDigest())
      for (index, (key, hash)) in zip(keys, hashes).enumerated() {
        whole.add(key, hash)
        if index != 7 { one.add(key, hash) }
        two.add(key, index == 3 ? hashes[4] : index == 4 ? (random.next(), random.next()) : hash)
      }
      #expect(one.rows(differingFrom: whole, largest: 2_000_000) == [keys[7]])
      guard keys[3] != keys[4] else { continue }
      #expect(two.rows(differingFrom: whole, largest: 2_000_000) == [keys[3], keys[4]].sorted())
    }
  }

  @Test("A hash is the same whatever pieces its bytes come in")
  func pieces() {
    var random = SeededGenerator(seed: 12)
    for length in 0..<200 {
      let bytes = (0..<length + 1).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      bytes.withUnsafeBytes { all in
        let base = all.baseAddress!
        let expected = ProofHash.of(5, bytes: base, count: length)
        var (hash, position) = (ProofHash(rowid: 5, length: length), 0)
        while position < length {
          let count = min(length - position, 1 + random.below(length < 100 ? 40 : 120))
          hash.add(base + position, count: count)
          position += count
        }
        let found = hash.finish()
        #expect(found == expected, "\(length) bytes")
      }
    }
  }

  @Test("Every bit of a row counts, whatever its length")
  func bits() {
    for length in [0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 100] {
      var bytes = (0..<length + 1).map { UInt8($0 & 1) }
      var sums = Set(
        (0..<2).map { row in bytes.withUnsafeBytes { ProofHash.of(row, bytes: $0.baseAddress!, count: length).low } })
      for bit in 0..<8 * length {
        bytes[bit / 8] ^= 1 << UInt8(bit % 8)
        bytes.withUnsafeBytes { _ = sums.insert(ProofHash.of(0, bytes: $0.baseAddress!, count: length).low) }
        bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      }
      #expect(sums.count == 2 + 8 * length, "\(length) bytes")
    }
  }

  @Test("Every word of a long row counts, also where all its bytes are the same")
  func repeated() {
    for (byte, length) in [(UInt8(0), 1000), (0, 70_000), (0x61, 700), (0x61, 9000), (0xFF, 3001)] {
      var bytes = Array(repeating: byte, count: length)
      func hash() -> UInt64 { bytes.withUnsafeBytes { ProofHash.of(1, bytes: $0.baseAddress!, count: length).low } }
      var sums: Set = [hash()]
      let places = stride(from: 0, to: length, by: length / 100)
      for place in places {
        bytes[place] ^= 0x10
        sums.insert(hash())
        bytes[place] ^= 0x10
      }
      #expect(sums.count == 1 + Array(places).count, "\(length) bytes of \(byte)")
    }
  }

  /// A random table with indexes in every comparison, aged, made by SQLite.
  private func database(_ path: String, _ random: inout SeededGenerator) throws -> (
    rows: UInt64, roots: [String: UInt32]
  ) {
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }
    return try queue.inDatabase { db in
      try db.execute(sql: "PRAGMA page_size = \(512 << random.below(5)); PRAGMA auto_vacuum = \(random.below(3))")
      try db.execute(
        sql: """
          CREATE TABLE t (a, b TEXT, c REAL, d BLOB); CREATE INDEX i ON t (a, b DESC); CREATE INDEX n ON t (b COLLATE NOCASE);
          CREATE INDEX r ON t (b COLLATE RTRIM DESC, c); CREATE TABLE w (k, v, PRIMARY KEY (k)) WITHOUT ROWID
          """)
      try db.execute(sql: "BEGIN")
      for _ in 0..<[0, 1, 40, 400][random.below(4)] {
        let values = (0..<4).map { _ in random.value(longest: random.below(20) == 0 ? 3000 : 20) }
        try db.execute(
          sql: "INSERT OR IGNORE INTO t (rowid, a, b, c, d) VALUES (?, ?, ?, ?, ?)",
          arguments: StatementArguments([Int64(random.below(100_000)).databaseValue] + values.map(\.databaseValue)))
        try db.execute(sql: "INSERT OR IGNORE INTO w VALUES (?, ?)", arguments: [random.below(1000), "v"])
      }
      try db.execute(sql: "DELETE FROM t WHERE rowid % 5 = 1; ALTER TABLE t ADD COLUMN e DEFAULT 7; COMMIT")
      let rows = try Int.fetchOne(db, sql: "SELECT count(*) FROM t") ?? 0
      let found = try Row.fetchAll(db, sql: "SELECT name, rootpage FROM sqlite_schema")
      return (UInt64(rows), Dictionary(found.map { ($0["name"] as String, UInt32($0["rootpage"] as Int)) }) { $1 })
    }
  }

  private func proof(_ path: String, _ roots: [String: UInt32]) throws -> Proof {
    let file = try ProofFile(path: path, fileSystem: LocalFileSystem(), isDense: false)
    var table = ProofTable(name: "t", root: roots["t"] ?? 0)
    table.columnCount = 5
    table.indexes = [
      ProofIndex(
        name: "i", root: roots["i"] ?? 0, columns: [.init(column: 0), .init(column: 1, isDescending: true)],
        isUnique: false),
      ProofIndex(name: "n", root: roots["n"] ?? 0, columns: [.init(column: 1, collation: .noCase)], isUnique: false),
      ProofIndex(
        name: "r", root: roots["r"] ?? 0,
        columns: [.init(column: 1, isDescending: true, collation: .rightTrim), .init(column: 2)], isUnique: false),
    ]
    return Proof(
      file, tables: [ProofTable(name: "sqlite_schema", root: 1), table],
      trees: [ProofIndex(name: "w", root: roots["w"] ?? 0, columns: nil, isUnique: false)], largestKeys: [],
      window: 0..<64,
      limit: 1 << 20)
  }

  private func run(_ proof: Proof) throws -> Proof.Findings {
    for job in try proof.jobs() { try proof.run(job) }
    return try proof.finish()
  }

  @Test("Random databases of SQLite have every page owned, every index in order and equal to its table")
  func random() throws {
    let directory = try TemporaryDirectory()
    for seed in UInt64(0)..<40 {
      var random = SeededGenerator(seed: seed)
      let path = directory.file("\(seed).sqlite")
      let (rows, roots) = try database(path, &random)
      let found = try run(try proof(path, roots))
      #expect(found.damage.map { "\($0.name): \($0.error)" } == [], "seed \(seed)")
      #expect(found.rows[1]?.digest.count == rows, "seed \(seed)")
      for index in 0..<3 {
        #expect(found.rows[1]?.entries[index] == found.entries[index]?.digest, "seed \(seed), index \(index)")
        #expect(found.entries[index]?.disordered.count == 0, "seed \(seed), index \(index)")
      }
    }
  }

  @Test("A damaged database is a finding or an error, never a crash")
  func damaged() throws {
    let directory = try TemporaryDirectory()
    var random = SeededGenerator(seed: 99)
    let path = directory.file("damaged.sqlite")
    var roots: [String: UInt32] = [:]
    var rows: UInt64 = 0
    while rows < 100 {
      try? FileManager.default.removeItem(atPath: path)
      (rows, roots) = try database(path, &random)
    }
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    var noticed = 0
    for _ in 0..<300 {
      var bytes = whole
      for _ in 0..<1 + random.below(4) { bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next()) }
      if random.below(8) == 0 { bytes = bytes.prefix(random.below(bytes.count)) }
      try bytes.write(to: URL(fileURLWithPath: path))
      do {
        let found = try run(try proof(path, roots))
        if !found.damage.isEmpty { noticed += 1 }
      } catch is StreamsError {
        noticed += 1
      }
    }
    print("proof: \(noticed) of 300 damaged files noticed by their structure (seed 99)")
    #expect(noticed > 50)
  }

  @Test("Jobs weigh as many pages as they read, about, so that threads begin with the largest indexes")
  func weights() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("weights.sqlite")
    let roots = try DatabaseQueue(path: path).writeWithoutTransaction { db in
      try db.execute(
        sql: """
          PRAGMA page_size = 1024; CREATE TABLE t (a, b, c, d); CREATE INDEX i ON t (a, b DESC); CREATE INDEX n ON t (b);
          CREATE INDEX r ON t (b, c); CREATE TABLE w (k, v, PRIMARY KEY (k)) WITHOUT ROWID;
          WITH RECURSIVE n(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM n WHERE n < 20000)
          INSERT INTO t SELECT n * 7919 % 20011, 'text ' || n, n, NULL FROM n
          """)
      let found = try Row.fetchAll(db, sql: "SELECT name, rootpage FROM sqlite_schema")
      return Dictionary(found.map { ($0["name"] as String, UInt32($0["rootpage"] as Int)) }) { $1 }
    }
    let pages = Double(try Data(contentsOf: URL(fileURLWithPath: path)).count) / 1024
    let jobs = try proof(path, roots).jobs()
    let weight = jobs.reduce(0) { $0 + $1.weight }
    #expect(weight > 0.7 * pages && weight < 1.4 * pages, "\(weight) for \(pages) pages")
    let index = jobs.first { $0.name == "i" }?.weight ?? 0
    #expect(index > 0.1 * pages, "\(index) for the index")
  }
}
