import LoadTables
import MappingModels
import RunSupport
import Streams

/// Reads tables back from the server and compares what they hold with what was sent: counts and digests. A value that
/// is too long to come whole comes as its SHA-256. Keeps I14.
struct LoadProof {
  let book: LoadBook
  /// Each reads a part of a large table.
  let sessions: [any PostgresSession]
  let monitor: RunMonitor

  private var schema: LoadSchema { book.schema }

  /// Tables of fewer blocks are read by one session.
  var leastBlocks = Self.standardBlocks
  static let standardBlocks: UInt64 = 1000
  /// The first server that finds a range of rows by their places.
  private static let rangeVersion = 140_000

  /// Throws `mismatch`, naming table and, if one or two rows differ, their keys. `told` hears how many more rows were
  /// read, on several threads.
  func prove(_ unit: LoadBook.Unit, _ told: @escaping @Sendable (UInt64) -> Void) throws {
    let table = unit.table
    let queries = try parts(of: table).map { query(table, unit) + $0 }
    let parts = zip(sessions, queries).map {
      ProofPart(session: $0, query: $1, table: schema.tables[table].name, monitor: monitor)
    }
    let workers = try Worker.startAll(parts.dropFirst().map { part in { try part.read(told) } })
    let failures = [Result { try parts[0].read(told) }].map { result -> (any Error)? in
      if case .failure(let error) = result { error } else { nil }
    }
    for error in failures + workers.map({ $0.join() }) { if let error { throw error } }
    var digest = ProofDigest()
    for part in parts { digest.add(part.digest) }
    guard digest != unit.digest else { return }
    throw mismatch(table, unit: unit, found: digest, largest: parts.reduce(0) { max($0, $1.largest) })
  }

  /// Conditions that part a table's rows.
  private func parts(of table: Int) throws -> [String] {
    let name = PostgresNames.literal(PostgresStatements(schema: schema).name(table))
    let found = try book.session.rows(
      "SELECT pg_relation_size(\(name)) / current_setting('block_size')::bigint, current_setting('server_version_num')")
    guard let row = found.first, row.count == 2, let blocks = row[0].flatMap({ UInt64($0) }), blocks >= leastBlocks,
      let version = row[1].flatMap({ Int($0) }), version >= Self.rangeVersion
    else { return [""] }
    let share = blocks / UInt64(sessions.count)
    return sessions.indices.map { part in
      let from = " WHERE ctid >= '(\(UInt64(part) * share),0)'::tid"
      return part == sessions.count - 1 ? from : from + " AND ctid < '(\(UInt64(part + 1) * share),0)'::tid"
    }
  }

  private func query(_ table: Int, _ unit: LoadBook.Unit) -> String {
    let columns = schema.tables[table].columns.enumerated().map { place, column -> String in
      let name = PostgresNames.quoted(column.name)
      guard unit.remarks.long.contains(place) else { return name }
      let bytes = column.type == .text ? "convert_to(\(name), 'UTF8')" : name
      return "CASE WHEN octet_length(\(name)) >= \(OutsideValue.threshold) THEN sha256(\(bytes)) ELSE \(bytes) END"
    }
    return "SELECT \(columns.joined(separator: ", ")) FROM \(PostgresStatements(schema: schema).name(table))"
  }

  private func mismatch(_ table: Int, unit: LoadBook.Unit, found: ProofDigest, largest: Int64) -> BatchError {
    let described = schema.tables[table]
    let name = "\(schema.namespace).\(described.name)"
    guard found.count == unit.rows else {
      return BatchError(
        .mismatch, "the table \(name) has \(found.count.counted("row")) in the place of \(unit.rows.grouped)",
        hint: "Did others write to it?", entity: described.subject)
    }
    let keys = unit.digest.rows(differingFrom: found, largest: largest)
    return BatchError(
      .mismatch,
      "rows of the table \(name) are not what was sent\(keys.isEmpty ? "" : ": \(keys.map(String.init).joined(separator: ", "))")",
      hint: "Did others write to it?", entity: described.subject, key: keys.first)
  }
}

/// What one session reads of a table.
private final class ProofPart: @unchecked Sendable {
  // Sendable by discipline: one thread reads, and another one looks when that has ended.
  private let session: any PostgresSession
  private let query: String
  private let table: String
  private let monitor: RunMonitor
  private(set) var digest = ProofDigest()
  private(set) var largest: Int64 = 0

  init(session: any PostgresSession, query: String, table: String, monitor: RunMonitor) {
    (self.session, self.query, self.table, self.monitor) = (session, query, table, monitor)
  }

  func read(_ told: (UInt64) -> Void) throws {
    var isBegun = false
    var (digest, largest, untold): (ProofDigest, Int64, UInt64) = (ProofDigest(), 0, 0)
    try session.copyOut("COPY (\(query)) TO STDOUT (FORMAT binary)") { message in
      var rest = message
      if !isBegun {
        rest = try CopyReader.afterHeader(rest, table)
        isBegun = true
      }
      while let row = try CopyReader.nextRow(&rest, table) {
        let key = CopyRow.key(row)
        largest = max(largest, key)
        digest.add(key, row)
        untold &+= 1
      }
      guard untold >= 1 << 14 else { return }
      try monitor.throwIfStopRequested()
      told(untold)
      untold = 0
    }
    told(untold)
    (self.digest, self.largest) = (digest, largest)
  }
}

/// Takes the data of COPY … TO STDOUT apart.
enum CopyReader {
  /// What follows the header, which comes with the first message.
  static func afterHeader(_ message: UnsafeRawBufferPointer, _ table: String) throws -> UnsafeRawBufferPointer {
    guard message.count >= CopyFormat.header.count, message.starts(with: CopyFormat.signature) else {
      throw broken(table)
    }
    let extra = Int32(bigEndian: message.loadUnaligned(fromByteOffset: 15, as: Int32.self))
    guard extra >= 0, Int(extra) <= message.count - CopyFormat.header.count else { throw broken(table) }
    return UnsafeRawBufferPointer(rebasing: message[(CopyFormat.header.count + Int(extra))...])
  }

  /// The bytes of the next row, nil at the end of a message or of the data.
  @inline(__always)
  static func nextRow(_ rest: inout UnsafeRawBufferPointer, _ table: String) throws -> UnsafeRawBufferPointer? {
    guard !rest.isEmpty else { return nil }
    guard rest.count >= 2 else { throw broken(table) }
    let fields = Int16(bigEndian: rest.loadUnaligned(as: Int16.self))
    guard fields >= 0 else { return nil }
    var place = 2
    for _ in 0..<fields {
      guard place + 4 <= rest.count else { throw broken(table) }
      let length = Int32(bigEndian: rest.loadUnaligned(fromByteOffset: place, as: Int32.self))
      place += 4 + max(0, Int(length))
    }
    guard place <= rest.count else { throw broken(table) }
    defer { rest = UnsafeRawBufferPointer(rebasing: rest[place...]) }
    return UnsafeRawBufferPointer(rebasing: rest[..<place])
  }

  private static func broken(_ table: String) -> BatchError {
    BatchError(
      .mismatch, "what the server sends of the table \(table) is not what COPY sends",
      hint: "Is there a program between that changes it?", entity: table)
  }
}
