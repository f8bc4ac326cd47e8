/// A hash of 128 bits over one row: its rowid and the bytes of its record. The same whatever pieces the bytes come in.
///
/// Sixteen bytes a turn are mixed by one multiplication of 64 by 64 bits. It finds faults, not forgeries.
public struct ProofHash {
  private var state: (UInt64, UInt64)
  private var pending: (UInt64, UInt64) = (0, 0)
  private var pendingCount = 0

  /// Begins a row whose record has `length` bytes in all.
  public init(rowid: Int64, length: Int) { state = Self.start(UInt64(bitPattern: rowid), length) }

  /// Adds the next bytes.
  public mutating func add(_ bytes: UnsafeRawPointer, count: Int) {
    var (bytes, count) = (bytes, count)
    if pendingCount > 0 {
      let taken = min(count, 16 - pendingCount)
      let place = pendingCount
      withUnsafeMutableBytes(of: &pending) { ($0.baseAddress! + place).copyMemory(from: bytes, byteCount: taken) }
      pendingCount += taken
      (bytes, count) = (bytes + taken, count - taken)
      guard pendingCount == 16 else { return }
      Self.turn(&state, pending.0, pending.1)
      (pending, pendingCount) = ((0, 0), 0)
    }
    let whole = count & ~15
    Self.turns(&state, bytes, whole)
    pendingCount = count - whole
    if pendingCount > 0 { pending = Self.tail(bytes + whole, pendingCount) }
  }

  /// The hash, when all bytes were added.
  public mutating func finish() -> (low: UInt64, high: UInt64) {
    if pendingCount > 0 { Self.turn(&state, pending.0, pending.1) }
    return Self.end(state)
  }

  /// The hash of a row whose record lies in one piece.
  @inline(__always)
  static func of(_ rowid: Int64, _ bytes: UnsafeRawPointer, _ count: Int) -> (low: UInt64, high: UInt64) {
    var state = start(UInt64(bitPattern: rowid), count)
    let whole = count & ~15
    turns(&state, bytes, whole)
    if whole < count {
      let last = whole == 0 ? tail(bytes, count) : tail(endingAt: bytes + count, count - whole)
      turn(&state, last.0, last.1)
    }
    return end(state)
  }

  @inline(__always)
  static func start(_ first: UInt64, _ length: Int) -> (UInt64, UInt64) {
    (first ^ 0xA076_1D64_78BD_642F, UInt64(truncatingIfNeeded: length) ^ 0xE703_7ED1_A0B4_28DB)
  }

  /// No bit of either word is lost, not even where one factor is 0.
  @inline(__always)
  static func turn(_ state: inout (UInt64, UInt64), _ left: UInt64, _ right: UInt64) {
    let product = (state.0 ^ left).multipliedFullWidth(by: state.1 ^ right)
    state = (product.low &+ right, product.high ^ left)
  }

  @inline(__always)
  private static func turns(_ state: inout (UInt64, UInt64), _ bytes: UnsafeRawPointer, _ count: Int) {
    var position = 0
    while position < count {
      turn(
        &state, bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self),
        bytes.loadUnaligned(fromByteOffset: position + 8, as: UInt64.self))
      position += 16
    }
  }

  @inline(__always)
  static func end(_ state: (UInt64, UInt64)) -> (low: UInt64, high: UInt64) {
    let first = (state.0 ^ 0x8EBC_6AF0_9C88_C6E3).multipliedFullWidth(by: state.1 ^ 0x5896_36E7_8C69_29A1)
    let second = (first.low ^ 0x1D8E_4E27_C47D_124F).multipliedFullWidth(by: first.high ^ 0xEB44_ACCA_B455_D165)
    return (second.low ^ first.high, second.high ^ first.low)
  }

  /// 1 to 15 bytes as two words, with zeros behind them.
  @inline(__always)
  private static func tail(_ bytes: UnsafeRawPointer, _ count: Int) -> (UInt64, UInt64) {
    if count < 8 { return (part(bytes, count), 0) }
    return (bytes.loadUnaligned(as: UInt64.self), count == 8 ? 0 : part(bytes + 8, count - 8))
  }

  /// The same behind 16 other bytes: one load for every count.
  @inline(__always)
  private static func tail(endingAt end: UnsafeRawPointer, _ count: Int) -> (UInt64, UInt64) {
    let bytes = (end - 16).loadUnaligned(as: UInt128.self) &>> UInt128(truncatingIfNeeded: 8 * (16 - count))
    return (UInt64(truncatingIfNeeded: bytes), UInt64(truncatingIfNeeded: bytes &>> 64))
  }

  /// 1 to 7 bytes, read by loads that may overlap but never leave them.
  @inline(__always)
  private static func part(_ bytes: UnsafeRawPointer, _ count: Int) -> UInt64 {
    if count >= 4 {
      let first = UInt64(bytes.loadUnaligned(as: UInt32.self))
      let last = UInt64(bytes.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self))
      return first | last << UInt64(8 * (count - 4))
    }
    func byte(_ offset: Int) -> UInt64 { UInt64(bytes.load(fromByteOffset: offset, as: UInt8.self)) << UInt64(8 * offset) }
    return byte(0) | byte(count >> 1) | byte(count - 1)
  }
}
