import Glibc

/// One column of an index, as its table's program addresses it.
public struct ProofIndexColumn: Sendable, Equatable {
  /// How texts are compared.
  public enum Comparison: Sendable {
    case binary
    case noCase
    case rightTrim
  }

  /// The column's place in the table's record.
  public var column: Int
  /// Largest first.
  public var isDescending: Bool
  /// How texts are compared.
  public var collation: Comparison

  /// Makes a column.
  public init(column: Int, isDescending: Bool = false, collation: Comparison = .binary) {
    (self.column, self.isDescending, self.collation) = (column, isDescending, collation)
  }
}

extension ProofRecord {
  /// Mixes a value into the hash of an index entry. A whole number is the same, stored as integer or as real.
  @inline(__always)
  func mix(_ column: Int, into state: inout (UInt64, UInt64)) {
    let type = types[column]
    if type >= 12 {
      let length = length(column)
      let hash = ProofHash.of(Int64(type & 1), bytes: body(column), count: length)
      return ProofHash.turn(&state, left: hash.low, right: hash.high)
    }
    if type == 0 { return ProofHash.turn(&state, left: 0, right: 3) }
    if type == 7 {
      let value = real(column)
      guard let whole = Int64(exactly: value) else { return ProofHash.turn(&state, left: value.bitPattern, right: 2) }
      return ProofHash.turn(&state, left: UInt64(bitPattern: whole), right: 1)
    }
    ProofHash.turn(&state, left: UInt64(bitPattern: integer(column) ?? 0), right: 1)
  }

  /// How a value stands to the same column of the entry before: negative when it comes first, 0 when both are equal.
  @inline(__always)
  func order(_ column: Int, after other: ProofRecord, _ collation: ProofIndexColumn.Comparison) -> Int {
    if let mine = integer(column), let others = other.integer(column) {
      return mine < others ? -1 : mine > others ? 1 : 0
    }
    return slowOrder(column, other: other, collation: collation)
  }

  @inline(never)
  private func slowOrder(_ column: Int, other: ProofRecord, collation: ProofIndexColumn.Comparison) -> Int {
    let (mine, others) = (rank(column), other.rank(column))
    guard mine == others else { return mine - others }
    switch mine {
    case 0: return 0
    case 1: return numberOrder(column, other)
    default: return textOrder(column, other: other, collation: mine == 2 ? collation : .binary)
    }
  }

  /// NULL, numbers, texts, blobs: the order of kinds.
  private func rank(_ column: Int) -> Int {
    let type = types[column]
    return type == 0 ? 0 : type < 12 ? 1 : type & 1 == 1 ? 2 : 3
  }

  private func numberOrder(_ column: Int, _ other: ProofRecord) -> Int {
    switch (integer(column), other.integer(column)) {
    case (nil, nil):
      let (mine, others) = (real(column), other.real(column))
      return mine < others ? -1 : mine > others ? 1 : 0
    case (nil, let integer?): return Self.order(real(column), integer)
    case (let integer?, nil): return -Self.order(other.real(column), integer)
    default: return 0
    }
  }

  /// How a real stands to an integer, without rounding either.
  static func order(_ real: Double, _ integer: Int64) -> Int {
    if real >= 0x1p63 { return 1 }
    if real < -0x1p63 { return -1 }
    let whole = Int64(real.rounded(.down))
    return whole < integer ? -1 : whole > integer ? 1 : real > real.rounded(.down) ? 1 : 0
  }

  private func textOrder(_ column: Int, other: ProofRecord, collation: ProofIndexColumn.Comparison) -> Int {
    var (left, right) = (body(column), other.body(column))
    var (mine, others) = (length(column), other.length(column))
    if collation == .rightTrim {
      while mine > 0, left.proofByte(mine - 1) == 0x20 { mine -= 1 }
      while others > 0, right.proofByte(others - 1) == 0x20 { others -= 1 }
    }
    guard collation == .noCase else {
      let order = memcmp(left, right, min(mine, others))
      return order == 0 ? mine - others : Int(order)
    }
    func folded(_ byte: UInt8) -> UInt8 { byte >= 0x41 && byte <= 0x5A ? byte + 32 : byte }
    for _ in 0..<min(mine, others) {
      let (one, two) = (folded(left.proofByte(0)), folded(right.proofByte(0)))
      if one != two { return one < two ? -1 : 1 }
      // SQLite's comparison without case ends at a NUL.
      if one == 0 { break }
      (left, right) = (left + 1, right + 1)
    }
    return mine - others
  }
}
