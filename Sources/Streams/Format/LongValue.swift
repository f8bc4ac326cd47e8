/// A long text or blob that stays in its database's file; stands for the value in a record in memory.
///
/// A record that holds such references begins with a mark, a byte that begins no record of a file: readers refuse one
/// that has it. So the serial type of a reference, which is reserved on disk, counts after a mark alone. References are
/// never written to a database: ``TableBuilder`` writes the values themselves.
public struct LongValue: Sendable {
  /// The first byte of a record that may hold references. In a file it would be the length of a header without a byte.
  static let mark: UInt8 = 0
  /// The serial type of a reference, reserved in files.
  public static let serialType: UInt64 = 10
  /// Bytes of a reference.
  public static let length = 32

  /// The value's own serial type, of a text or a blob.
  public var type: UInt64
  /// The page on which the value begins, when `count` is not 0.
  var page: UInt32
  /// Where on that page.
  var offset: UInt16
  /// Bytes of the value on that page.
  var count: UInt32
  /// The overflow page on which the value continues, after the first `count` bytes.
  var next: UInt32
  /// Bytes of the row's payload that follow the value. Where none do, the chain must end with the value.
  var rest: UInt32
  /// The page and the cell of the row, for messages.
  var home: (page: UInt32, cell: UInt16)

  /// Bytes of the value.
  public var byteCount: Int { SerialType.length(type) ?? 0 }
}

extension LongValue {
  /// Reads a reference; nil when it refers to no text and no blob.
  public init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count == Self.length, let base = bytes.baseAddress else { return nil }
    func four(_ offset: Int) -> UInt32 { base.loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
    func two(_ offset: Int) -> UInt16 { base.loadUnaligned(fromByteOffset: offset, as: UInt16.self) }
    self.init(
      type: base.loadUnaligned(as: UInt64.self), page: four(8), offset: two(28), count: four(12), next: four(16),
      rest: four(20),
      home: (four(24), two(30)))
    guard type >= 12, SerialType.length(type) != nil, Int(count) <= byteCount else { return nil }
  }

  func write(to target: UnsafeMutableRawPointer) {
    target.storeBytes(of: type, as: UInt64.self)
    for (index, number) in [page, count, next, rest, home.page].enumerated() {
      target.storeBytes(of: number, toByteOffset: 8 + 4 * index, as: UInt32.self)
    }
    target.storeBytes(of: offset, toByteOffset: 28, as: UInt16.self)
    target.storeBytes(of: home.cell, toByteOffset: 30, as: UInt16.self)
  }
}

/// Reads long values that records refer to.
public protocol LongValues: AnyObject {
  /// A value's bytes, whole. Throws `tooLarge` for one that is larger than may be put together, `damagedDatabase`.
  func bytes(of value: LongValue) throws -> [UInt8]
}
