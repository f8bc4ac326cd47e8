/// A column of an index.
public struct SortColumn: Sendable, Equatable {
  /// Position in the row.
  public let column: Int
  /// Largest first.
  public let isDescending: Bool
  /// How texts compare.
  public let collation: Collation
  /// What it mostly holds. A wrong guess costs time, and nothing else.
  public let holds: Holding

  /// Kinds of values that are sorted in different ways.
  public enum Holding: Sendable {
    /// Integers, as keys of other rows.
    case integers
    /// Reals, as dates.
    case reals
    /// Texts and blobs.
    case others
  }

  /// Makes a column.
  public init(
    _ column: Int, isDescending: Bool = false, collation: Collation = .binary, holds: Holding = .integers
  ) {
    self.column = column
    self.isDescending = isDescending
    self.collation = collation
    self.holds = holds
  }

  /// Whether the collation decides the order of a value of that type.
  func collates(_ type: UInt64) -> Bool { collation != .binary && SerialType.isText(type) }
}

/// SQLite's three collations of its own. Source of the rule: SQLite, "Datatypes In SQLite", section 7.
public enum Collation: String, Sendable, CaseIterable {
  /// The bytes as they are.
  case binary = "BINARY"
  /// A to Z as a to z. Ends at the first NUL; of texts that are equal up to there, the shorter one comes first.
  case foldingCase = "NOCASE"
  /// Without spaces at the end.
  case trimmingRight = "RTRIM"

  /// Appends bytes whose plain order is this collation's order of texts. They end with 00 00, or for NOCASE at a NUL
  /// with 00 FF and the text's length in eight bytes.
  func append(_ text: UnsafeRawBufferPointer, to key: inout KeyBytes) {
    var count = text.count
    if self == .trimmingRight { while count > 0, text[count - 1] == 0x20 { count -= 1 } }
    for byte in text[0..<count] {
      if byte == 0, self == .foldingCase {
        key.appendBigEndian(UInt16(0xff))
        key.appendBigEndian(UInt64(count))
        return
      }
      key.append(self == .foldingCase && byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte)
      if byte == 0 { key.append(0xff) }
    }
    key.appendBigEndian(UInt16(0))
  }

  /// Moves after such bytes; false when they do not end.
  func skip(_ key: UnsafeRawBufferPointer, _ offset: inout Int, mask: UInt8) -> Bool {
    while offset + 1 < key.count {
      let byte = key[offset] ^ mask
      offset += 1
      guard byte == 0 else { continue }
      let mark = key[offset] ^ mask
      offset += 1
      if mark == 0 { return true }
      if self == .foldingCase {
        offset += 8
        return offset <= key.count
      }
    }
    return false
  }
}
