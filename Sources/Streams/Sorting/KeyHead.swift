/// How a key differs from an earlier one, as a number (offset-value coding). Of two keys with numbers against the same
/// earlier key the one with the smaller number comes first, and the number of the other then holds against that key, too.
/// Where numbers are equal, what follows in the keys decides.
///
/// Keys are compared in pieces of six bytes, with zeros behind the end of a key. The number has how many pieces are
/// before the first one that differs, the fewer the larger, and that piece.
enum KeyHead {
  private static let pieceBytes = 6
  /// Pieces that are counted; what differs behind them is said to differ there.
  private static let most = 0xfffe
  /// The same key, but for zeros at its end.
  private static let equal: UInt64 = 0
  private static let far: UInt64 = 1
  /// Comes behind all keys.
  static let none = UInt64.max
  /// Bytes behind a key that may be read, whatever they are.
  static let readAhead = 8

  /// The head of a key that shares so many bytes with a key before it, and no more, which had `before` bytes.
  @inline(__always)
  static func of(_ key: UnsafeRawBufferPointer, sharing same: Int, of before: Int) -> UInt64 {
    same < before ? of(key, piece: same / pieceBytes) : ofLonger(key, before)
  }

  /// The head of a key that begins with all of the one before it: that has zeros where it ended.
  private static func ofLonger(_ key: UnsafeRawBufferPointer, _ before: Int) -> UInt64 {
    guard let place = key[before...].firstIndex(where: { $0 != 0 }) else { return equal }
    return of(key, piece: place / pieceBytes)
  }

  /// The head of a key that differs in a piece for the first time.
  @inline(__always)
  static func of(_ key: UnsafeRawBufferPointer, piece: Int) -> UInt64 {
    guard piece < most, let base = key.baseAddress else { return far }
    let start = piece * pieceBytes
    let missing = max(0, start + pieceBytes - key.count)
    guard missing < pieceBytes else { return UInt64(most - piece) << 48 }
    let bytes = base.bigEndian64(start) >> 16
    return UInt64(most - piece) << 48 | (bytes >> UInt64(8 * missing)) << UInt64(8 * missing)
  }

  /// Bytes at their beginning in which two keys with this head do not differ, or only by their ends.
  static func known(_ head: UInt64) -> Int {
    switch head {
    case equal: .max
    case far: most * pieceBytes
    default: (most - Int(head >> 48) + 1) * pieceBytes
    }
  }
}
