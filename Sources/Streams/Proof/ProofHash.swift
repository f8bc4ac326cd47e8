/// A hash of 128 bits over one row: its rowid and the bytes of its record. The same whatever pieces the bytes come in.
///
/// Sixteen bytes a turn are mixed by one multiplication of 64 by 64 bits, two turns a block. A record's last block ends
/// with it, and may begin within the one before: the length, which goes in first, says how far. It finds faults, not
/// forgeries.
public struct ProofHash {
  private static let block = 32
  private var state: (UInt64, UInt64)
  /// The block that was mixed last, and after it up to one that was not.
  private var window: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0, 0)
  private var pendingCount = 0
  private let isShort: Bool

  /// Begins a row whose record has `length` bytes in all.
  public init(rowid: Int64, length: Int) {
    (state, isShort) = (Self.start(UInt64(bitPattern: rowid), length), length < Self.block)
  }

  /// Adds the next bytes.
  public mutating func add(_ bytes: UnsafeRawPointer, count: Int) {
    var (bytes, count) = (bytes, count)
    while count > 0 {
      if pendingCount == Self.block { mixPending() }
      var taken = min(count, Self.block - pendingCount)
      if pendingCount == 0, count > Self.block {
        // The last byte is left: only a block with something after it is not the last one.
        taken = (count - 1) / Self.block * Self.block
        Self.blocks(&state, bytes: bytes, count: taken)
        hold(bytes + taken - Self.block, Self.block, at: 0)
      } else {
        hold(bytes, taken, at: Self.block + pendingCount)
        pendingCount += taken
      }
      (bytes, count) = (bytes + taken, count - taken)
    }
  }

  private mutating func hold(_ bytes: UnsafeRawPointer, _ count: Int, at place: Int) {
    withUnsafeMutableBytes(of: &window) { ($0.baseAddress! + place).copyMemory(from: bytes, byteCount: count) }
  }

  private mutating func mixPending() {
    withUnsafeMutableBytes(of: &window) { window in
      Self.blocks(&state, bytes: UnsafeRawPointer(window.baseAddress! + Self.block), count: Self.block)
      window.baseAddress!.copyMemory(from: window.baseAddress! + Self.block, byteCount: Self.block)
    }
    pendingCount = 0
  }

  /// The hash, when all bytes were added.
  public mutating func finish() -> (low: UInt64, high: UInt64) {
    withUnsafeMutableBytes(of: &window) { window in
      let end = UnsafeRawPointer(window.baseAddress! + Self.block + pendingCount)
      if isShort {
        Self.short(&state, bytes: end - pendingCount, count: pendingCount)
      } else {
        Self.blocks(&state, bytes: end - Self.block, count: Self.block)
      }
    }
    return Self.end(state)
  }

  /// The hash of a row whose record lies in one piece.
  @inline(__always)
  static func of(_ rowid: Int64, bytes: UnsafeRawPointer, count: Int) -> (low: UInt64, high: UInt64) {
    var state = start(UInt64(bitPattern: rowid), count)
    if count < block {
      short(&state, bytes: bytes, count: count)
    } else {
      let last = count &- block
      blocks(&state, bytes: bytes, count: last)
      blocks(&state, bytes: bytes + last, count: block)
    }
    return end(state)
  }

  @inline(__always)
  static func start(_ first: UInt64, _ length: Int) -> (UInt64, UInt64) {
    (first ^ 0xA076_1D64_78BD_642F, UInt64(truncatingIfNeeded: length) ^ 0xE703_7ED1_A0B4_28DB)
  }

  /// The hash of two numbers, whose order counts.
  @inline(__always)
  static func pair(_ first: Int64, _ second: Int64) -> UInt64 {
    var state = start(UInt64(bitPattern: first), 0)
    turn(&state, left: UInt64(bitPattern: second), right: 0)
    return end(state).low
  }

  /// Neither factor may become small by itself. Without the constants both do where words repeat: after half a kilobyte
  /// of zeros or of one letter they are 0, and what came before is forgotten. They meet the words before these meet the
  /// state, so that no turn waits longer for the one before it.
  @inline(__always)
  static func turn(_ state: inout (UInt64, UInt64), left: UInt64, right: UInt64) {
    let product = (state.0 ^ left).multipliedFullWidth(by: state.1 ^ right)
    state = (product.low &+ (right ^ 0x2D35_8DCC_AA6C_78A5), product.high ^ (left &+ 0x8BB8_4B93_962E_ACC9))
  }

  /// Mixes blocks until `count` bytes are in: whole ones, the last may reach beyond them.
  @inline(__always)
  private static func blocks(_ state: inout (UInt64, UInt64), bytes: UnsafeRawPointer, count: Int) {
    func word(_ place: Int) -> UInt64 { bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self) }
    var place = 0
    while place < count {
      turn(&state, left: word(place), right: word(place &+ 8))
      turn(&state, left: word(place &+ 16), right: word(place &+ 24))
      place &+= block
    }
  }

  /// Mixes all of a record that is shorter than a block.
  @inline(__always)
  private static func short(_ state: inout (UInt64, UInt64), bytes: UnsafeRawPointer, count: Int) {
    if count >= 16 {
      turn(
        &state, left: bytes.loadUnaligned(as: UInt64.self),
        right: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }
    if count & 15 != 0 {
      let last = count < 16 ? tail(bytes, count) : tail(endingAt: bytes + count, count - 16)
      turn(&state, left: last.0, right: last.1)
    }
  }

  @inline(__always)
  static func end(_ state: (UInt64, UInt64)) -> (low: UInt64, high: UInt64) {
    let first = (state.0 ^ 0x8EBC_6AF0_9C88_C6E3).multipliedFullWidth(by: state.1 ^ 0x5896_36E7_8C69_29A1)
    let second = (first.low ^ 0x1D8E_4E27_C47D_124F).multipliedFullWidth(by: first.high ^ 0xEB44_ACCA_B455_D165)
    return (second.low ^ first.high, second.high ^ first.low)
  }

  /// 1 to 15 bytes as two words, with zeros after them.
  @inline(__always)
  private static func tail(_ bytes: UnsafeRawPointer, _ count: Int) -> (UInt64, UInt64) {
    if count < 8 { return (part(bytes, count), 0) }
    return (bytes.loadUnaligned(as: UInt64.self), count == 8 ? 0 : part(bytes + 8, count - 8))
  }

  /// The same after 16 other bytes: one load for every count.
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
    func byte(_ offset: Int) -> UInt64 {
      UInt64(bytes.load(fromByteOffset: offset, as: UInt8.self)) << UInt64(8 * offset)
    }
    return byte(0) | byte(count >> 1) | byte(count - 1)
  }
}
