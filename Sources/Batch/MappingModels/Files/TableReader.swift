import Codecs
import RunSupport

/// Reads a table from a CSV file (RFC 4180): a line of headings, then a key and a value from each line.
enum TableReader {
  /// Reads the columns of these headings; the first and second without. Throws `badMapping`, also for a key that stands
  /// twice.
  static func read(_ path: String, name: String, key: String?, value: String?) throws -> MappingTable {
    let text = try MappingDocument.text(path)
    var rows = try rows(Array(text.utf8), path: path)
    guard let headings = rows.first else {
      throw BatchError(
        .badMapping, "the table has no line of headings", hint: "Begin it with names of columns", path: path)
    }
    rows.removeFirst()
    let columns = try [(key, 0), (value, 1)].map { heading, place in
      guard let found = heading.map({ headings.firstIndex(of: $0) }) ?? place, found < headings.count else {
        throw BatchError(
          .badMapping, "the table has no column \(heading ?? "for values")",
          hint: "It has \(headings.joined(separator: ", "))", path: path)
      }
      return found
    }
    var entries: [[UInt8]: String] = [:]
    for (index, row) in rows.enumerated() where row != [""] {
      guard row.count == headings.count else {
        throw BatchError(
          .badMapping, "row \(index + 2) has \(row.count.counted("column")) instead of \(headings.count)", path: path)
      }
      guard entries.updateValue(row[columns[1]], forKey: Array(row[columns[0]].utf8)) == nil else {
        throw BatchError(.badMapping, "row \(index + 2) has a key that another row has", path: path)
      }
    }
    return MappingTable(name: name, entries: entries, digest: SHA256.hash(Array(text.utf8)))
  }

  private static func rows(_ bytes: [UInt8], path: String) throws -> [[String]] {
    var table = TableText()
    // A byte order mark is no part of the first heading.
    var index = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    while index < bytes.count {
      index += table.read(bytes[index], before: index + 1 < bytes.count ? bytes[index + 1] : nil)
    }
    guard let rows = table.finish() else {
      throw BatchError(.badMapping, "a quotation mark of the table is left open", path: path)
    }
    return rows
  }
}

/// The rows of a CSV text while it is read byte by byte.
private struct TableText {
  private var rows: [[String]] = []
  private var row: [String] = []
  private var field: [UInt8] = []
  private var isQuoted = false

  /// Takes a byte, and the one after it where both belong together; returns how many were taken.
  mutating func read(_ byte: UInt8, before next: UInt8?) -> Int {
    switch byte {
    case UInt8(ascii: "\"") where isQuoted && next == byte:
      field.append(byte)
      return 2
    case UInt8(ascii: "\"") where isQuoted || field.isEmpty: isQuoted.toggle()
    case UInt8(ascii: ",") where !isQuoted: endField()
    case UInt8(ascii: "\r") where !isQuoted && next == UInt8(ascii: "\n"): break
    case UInt8(ascii: "\n") where !isQuoted: endRow()
    default: field.append(byte)
    }
    return 1
  }

  private mutating func endField() {
    row.append(String(decoding: field, as: UTF8.self))
    field = []
  }

  private mutating func endRow() {
    endField()
    rows.append(row)
    row = []
  }

  /// All rows; nil if a quotation mark is left open.
  mutating func finish() -> [[String]]? {
    if !field.isEmpty || !row.isEmpty { endRow() }
    return isQuoted ? nil : rows
  }
}
