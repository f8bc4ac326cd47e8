import Foundation
import Testing

@testable import Streams

/// What is proved while a file is written counts for the finished file, and only for that.
@Suite("Proof while writing")
struct EarlyProofTests {
  /// A table with an index of numbers and one of texts on small pages, so that it has many parts.
  private struct Build {
    let path: String
    let tables: [ProofTable]
    let early: EarlyProof
    let looked: Int
    let wanted: ProofDigest?
  }

  private static let window: Int64 = 1 << 17

  private func table(_ roots: [UInt32]) -> ProofTable {
    var table = ProofTable(name: "t", root: roots[0])
    table.columnCount = 3
    table.rowidColumn = 0
    table.kindColumn = 1
    table.kinds = [.init(number: 1, required: [], sets: [0]), .init(number: 2, required: [], sets: [0])]
    table.references = [.init(column: 1, isNeeded: true, set: 0)]
    table.indexes = [
      ProofIndex(name: "n", root: roots[1], columns: [.init(column: 1)], isUnique: false),
      ProofIndex(name: "x", root: roots[2], columns: [.init(column: 2)], isUnique: false),
    ]
    return table
  }

  private func text(_ key: Int64) -> String {
    String(format: "%07d", key) + String(repeating: "x", count: Int(key % 97))
  }

  private func record(_ values: [Value]) -> [UInt8] {
    let encoder = RecordEncoder()
    for value in values { encoder.append(value) }
    var bytes = [UInt8](repeating: 0, count: encoder.length)
    bytes.withUnsafeMutableBytes { if let base = $0.baseAddress { encoder.write(to: base) } }
    return bytes
  }

  /// Builds the file; everything that is announced is looked at, at once.
  private func build(_ path: String, rows: Int64, autoVacuum: Bool) throws -> Build {
    let header = DatabaseHeader(pageSize: 512, autoVacuum: autoVacuum ? 2 : 0, version: .rollback)
    let file = try LocalFileSystem().open(path, .create)
    defer { file.close() }
    let names = ["t", "n", "x"]
    let database = try DatabaseBuilder(
      file: file, header: header,
      schema: names.map {
        .init(
          type: $0 == "t" ? "table" : "index", name: $0, tableName: "t",
          sql: $0 == "t" ? "CREATE TABLE t(a,b,c)" : "CREATE INDEX \($0) ON t(b)")
      })
    let table = table(names.compactMap(database.root))
    let growing = try ProofFile(
      beingWritten: path, fileSystem: LocalFileSystem(), pageSize: 512, hasPointerMap: autoVacuum)
    let early = EarlyProof(
      growing, tables: [ProofTable(name: "sqlite_schema", root: 1), table], trees: [], sets: 1, window: Self.window,
      limit: 1 << 20)
    var (parts, looked): ([ProofPart], Int) = ([], 0)
    database.writer.onFinished = { parts += $0 }
    func look() throws {
      for part in parts.dropFirst(looked) { try early.look(at: part) }
      looked = parts.count
    }
    let builder = TableBuilder(root: table.root, writer: database.writer, keepsDigest: true)
    for key in 1...rows {
      let bytes = record([.null, .integer(1 + key % 2), .text(text(key))])
      try bytes.withUnsafeBytes { try builder.append(rowid: key, record: $0) }
      if key % 1000 == 0 { try look() }
    }
    try builder.finish()
    for (index, root) in table.indexes.map(\.root).enumerated() {
      let keys = IndexBuilder(root: root, writer: database.writer)
      let order =
        index == 0
        ? Array(stride(from: 2, through: rows, by: 2)) + Array(stride(from: 1, through: rows, by: 2)) : Array(1...rows)
      for key in order {
        try record([index == 0 ? .integer(1 + key % 2) : .text(text(key)), .integer(key)]).withUnsafeBytes {
          try keys.append($0)
        }
      }
      try keys.finish()
      try look()
    }
    try database.finish()
    return Build(path: path, tables: early.tables, early: early, looked: looked, wanted: builder.digest)
  }

  private func find(_ build: Build, early: EarlyProof?) throws -> Proof.Findings {
    let file = try ProofFile(path: build.path, fileSystem: LocalFileSystem(), isDense: true)
    let proof = Proof(
      file, tables: build.tables, trees: [], largestKeys: [30_000], window: 0..<Self.window, limit: 1 << 20,
      early: early)
    for job in try proof.jobs() { try proof.run(job) }
    return try proof.finish()
  }

  private func equal(_ left: Proof.Findings, _ right: Proof.Findings) -> Bool {
    left.rows.map { $0?.digest } == right.rows.map { $0?.digest }
      && left.rows.map { $0?.entries } == right.rows.map { $0?.entries }
      && left.rows.map { $0?.kinds } == right.rows.map { $0?.kinds }
      && left.entries.map { $0?.digest } == right.entries.map { $0?.digest } && left.dangling == right.dangling
  }

  @Test(
    "Parts proved while a file is written, and the rest of it, give what the whole file gives",
    arguments: [false, true])
  func sameFindings(autoVacuum: Bool) throws {
    let directory = try TemporaryDirectory()
    let build = try build(directory.file("early.sqlite"), rows: 30_000, autoVacuum: autoVacuum)
    #expect(build.looked > 20)
    let (with, without) = (try find(build, early: build.early), try find(build, early: nil))
    #expect(with.damage.map { "\($0.name): \($0.error)" } == [])
    #expect(without.damage.map { "\($0.name): \($0.error)" } == [])
    #expect(equal(with, without))
    #expect(with.rows[1]?.digest == build.wanted)
    #expect(with.entries.map { $0?.disordered.count } == [0, 0])
    #expect(zip(with.rows[1]?.entries ?? [], with.entries).allSatisfy { $0 == $1?.digest })
  }

  @Test("Damage of what was not looked at early is found, and so are parts that do not belong to the finished file")
  func damage() throws {
    let directory = try TemporaryDirectory()
    let build = try build(directory.file("early.sqlite"), rows: 30_000, autoVacuum: true)
    let whole = try Data(contentsOf: URL(fileURLWithPath: build.path))
    var random = SeededGenerator(seed: 5)
    // The roots and the pages above parts are read at the end; a change there leads elsewhere, or out of order.
    for page in [2, 3, 4] {
      var bytes = whole
      let place = (page - 1) * 512 + 512 - 40 + random.below(40)
      bytes[place] ^= 1 << UInt8(random.below(8))
      try bytes.write(to: URL(fileURLWithPath: build.path))
      let found = try find(build, early: build.early)
      #expect(!found.damage.isEmpty, "page \(page)")
    }
    try whole.write(to: URL(fileURLWithPath: build.path))
    let other = try self.build(directory.file("other.sqlite"), rows: 20_000, autoVacuum: true)
    let found = try find(other, early: build.early)
    #expect(!found.damage.isEmpty)
  }

  @Test("What was looked for otherwise is not used")
  func otherTables() throws {
    let directory = try TemporaryDirectory()
    let build = try build(directory.file("early.sqlite"), rows: 3000, autoVacuum: false)
    var tables = build.tables
    tables[1].required = [2]
    let file = try ProofFile(path: build.path, fileSystem: LocalFileSystem(), isDense: true)
    let proof = Proof(
      file, tables: tables, trees: [], largestKeys: [3000], window: 0..<Self.window, limit: 1 << 20, early: build.early)
    for job in try proof.jobs() { try proof.run(job) }
    let found = try proof.finish()
    #expect(found.damage.isEmpty)
    #expect(found.rows[1]?.digest == build.wanted)
  }
}
