import Glibc

/// A value of the current row of a statement. Bytes are SQLite's and live until its next step.
package enum StoreCell {
  case null
  case integer(Int64)
  case real(Double)
  case text(UnsafeRawBufferPointer)
  case blob(UnsafeRawBufferPointer)

  /// A whole number is the same value as an integer: tables and indexes may store it either way.
  init(real: Double) { self = Int64(exactly: real).map { .integer($0) } ?? .real(real) }

  /// A number that equal values share and others hardly ever do.
  var hash: UInt64 {
    switch self {
    case .null: 0x9E37_79B9_7F4A_7C15
    case .integer(let value): Self.mix(1, UInt64(bitPattern: value))
    case .real(let value): Self.mix(2, value.bitPattern)
    case .text(let bytes): Self.mix(3, Self.hash(bytes))
    case .blob(let bytes): Self.mix(4, Self.hash(bytes))
    }
  }

  /// Folds a product of 128 bits, which every bit of both numbers reaches.
  @inline(__always)
  static func mix(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let product = (left ^ 0xA076_1D64_78BD_642F).multipliedFullWidth(by: right ^ 0xE703_7ED1_A0B4_28DB)
    return product.high ^ product.low ^ right &* 0x8EBC_6AF0_9C88_C6E3
  }

  private static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var hash = UInt64(bytes.count)
    var offset = 0
    while offset + 8 <= bytes.count {
      hash = mix(hash, bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      offset += 8
    }
    var rest: UInt64 = 0
    for position in offset..<bytes.count { rest = rest << 8 | UInt64(bytes[position]) }
    return mix(hash, rest)
  }
}

/// The entries of an index, or what a table says they should be: how many, and a sum that does not depend on their
/// order.
struct EntrySum: Equatable {
  var count: UInt64 = 0
  var sum: UInt64 = 0

  /// Adds an entry, given the hash over its columns.
  mutating func add(_ hash: UInt64, rowid: Int64) {
    count &+= 1
    sum &+= StoreCell.mix(hash, UInt64(bitPattern: rowid))
  }
}

/// A value that outlives its row: one column of the entry before, when an index is walked.
package struct KeptCell {

  package init() {

  }
  private enum Kind: Int { case null, number, text, blob }

  private var kind = Kind.null
  private var integer: Int64?
  private var real = 0.0
  private var bytes: [UInt8] = []

  package mutating func keep(_ cell: StoreCell) {
    switch cell {
    case .null: kind = .null
    case .integer(let value): (kind, integer, real) = (.number, value, Double(value))
    case .real(let value): (kind, integer, real) = (.number, nil, value)
    case .text(let value): keep(value, .text)
    case .blob(let value): keep(value, .blob)
    }
  }

  private mutating func keep(_ value: UnsafeRawBufferPointer, _ kind: Kind) {
    self.kind = kind
    bytes.removeAll(keepingCapacity: true)
    bytes.append(contentsOf: value)
  }

  /// How the next value stands to this one, in SQLite's order with BINARY: negative when it comes before, 0 when equal.
  package func order(of next: StoreCell) -> Int {
    switch next {
    case .null: Kind.null.rawValue - kind.rawValue
    case .integer(let value): kind == .number ? compare(value) : Kind.number.rawValue - kind.rawValue
    case .real(let value): kind == .number ? compare(value) : Kind.number.rawValue - kind.rawValue
    case .text(let value): kind == .text ? compare(value) : Kind.text.rawValue - kind.rawValue
    case .blob(let value): kind == .blob ? compare(value) : Kind.blob.rawValue - kind.rawValue
    }
  }

  private func compare(_ value: Int64) -> Int {
    if let integer { return value < integer ? -1 : value > integer ? 1 : 0 }
    // Equal only when the integer was rounded up to a real beyond all integers.
    return Double(value) <= real ? -1 : 1
  }

  /// A real here is never whole (or beyond all integers), so it never equals an integer.
  private func compare(_ value: Double) -> Int {
    if integer != nil { return value < real ? -1 : 1 }
    return value < real ? -1 : value > real ? 1 : 0
  }

  private func compare(_ value: UnsafeRawBufferPointer) -> Int {
    bytes.withUnsafeBytes { old in
      let common = min(old.count, value.count)
      let order = common == 0 ? 0 : Int(memcmp(value.baseAddress!, old.baseAddress!, common))
      return order == 0 ? value.count - old.count : order
    }
  }
}
