import Streams

/// Reads tables back from the server and compares what they hold with what was sent: counts and digests. A value that is too long to
/// come whole comes as its SHA-256.
struct LoadProof {
  let book: LoadBook
  let monitor: RunMonitor

  private var schema: PostgresSchema { book.schema }

  /// Throws `mismatch`, naming table and, where one or two rows differ, their keys.
  func prove(_ table: Int, _ unit: LoadBook.Unit, _ told: (UInt64) -> Void) throws {
    var (digest, rows, isBegun): (ProofDigest, UInt64, Bool) = (ProofDigest(), 0, false)
    var largest: Int64 = 0
    try book.session.copyOut("COPY (\(query(table, unit))) TO STDOUT (FORMAT binary)") { message in
      var rest = message
      if !isBegun {
        rest = try CopyReader.afterHeader(rest, schema.tables[table].name)
        isBegun = true
      }
      while let row = try CopyReader.nextRow(&rest, schema.tables[table].name) {
        let key = CopyRow.key(row)
        largest = max(largest, key)
        digest.add(key, row)
        rows += 1
        guard rows & 0x3FFF == 0 else { continue }
        try monitor.throwIfStopRequested()
        told(rows)
      }
    }
    guard digest != unit.digest else { return }
    throw mismatch(table, unit, digest, largest)
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

  private func mismatch(_ table: Int, _ unit: LoadBook.Unit, _ found: ProofDigest, _ largest: Int64) -> BatchError {
    let described = schema.tables[table]
    let name = "\(schema.options.schema).\(described.name)"
    guard found.count == unit.rows else {
      return BatchError(
        .mismatch, "the table \(name) has \(found.count) rows, and \(unit.rows) were sent",
        hint: "Did others write to it? The tables stay as they are; drop them and load again", entity: described.subject)
    }
    let keys = unit.digest.rows(differingFrom: found, largest: largest)
    return BatchError(
      .mismatch, "rows of the table \(name) are not what was sent\(keys.isEmpty ? "" : ": \(keys.map(String.init).joined(separator: ", "))")",
      hint: "Did others write to it? The tables stay as they are; drop them and load again", entity: described.subject,
      key: keys.first)
  }
}

/// Takes the data of COPY … TO STDOUT apart.
enum CopyReader {
  /// What follows the header, which comes with the first message.
  static func afterHeader(_ message: UnsafeRawBufferPointer, _ table: String) throws -> UnsafeRawBufferPointer {
    guard message.count >= CopyFormat.header.count, message.starts(with: CopyFormat.signature) else { throw broken(table) }
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
      hint: "Is there a program between that changes it? The tables stay as they are", entity: table)
  }
}
