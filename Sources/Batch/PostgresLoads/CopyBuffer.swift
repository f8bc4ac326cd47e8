import LoadTables
import Streams

/// Rows in PostgreSQL's binary COPY format (PostgreSQL, "COPY", File Formats), in one piece of memory that is used
/// again.
///
/// A row is the number of its fields, 16 bits, and for each field its length, 32 bits, or -1 for NULL, and its bytes;
/// all big-endian.
final class CopyBuffer: @unchecked Sendable {
  // Sendable by discipline: the pipeline hands a buffer from one thread to the next and never shares it.
  @exclusivity(unchecked) private var memory: UnsafeMutableRawPointer
  @exclusivity(unchecked) private var capacity: Int
  /// Bytes written.
  @exclusivity(unchecked) private(set) var count = 0
  /// What is too long for the buffer, and where it goes.
  @exclusivity(unchecked) private(set) var insertions: [Insertion] = []
  /// The rows that have such values.
  @exclusivity(unchecked) private(set) var outsideRows: [OutsideRow] = []
  /// Rows whose bytes are all in the buffer.
  @exclusivity(unchecked) private(set) var digest = ProofDigest()
  /// Rows in the buffer.
  @exclusivity(unchecked) private(set) var rows: UInt64 = 0
  /// The rowid of the last one.
  var lastRow: Int64 = 0
  /// What is after the rows: columns in which one had no value, and the like.
  var remarks = LoadRemarks()
  /// Bytes of the source's pages that were read up to here.
  var bytesRead: UInt64 = 0

  /// A value that is sent from where it lies, after so many bytes of the buffer.
  struct Insertion {
    var offset: Int
    var value: OutsideValue
    /// Whether it must still be checked if PostgreSQL takes it for text.
    var isText: Bool
  }

  /// A row with such values.
  struct OutsideRow {
    /// What a message says of it.
    struct Name {
      var entity: String
      var key: Int64
    }

    var bytes: Range<Int>
    var insertions: Range<Int>
    var name: Name
  }

  init() {
    capacity = 512 << 10
    memory = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit { memory.deallocate() }

  /// The bytes written.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory, count: count) }

  /// Whether the field that begins there is NULL.
  func isNull(at place: Int) -> Bool { memory.loadUnaligned(fromByteOffset: place, as: Int32.self) == -1 }

  func reset() {
    (count, rows, lastRow, bytesRead) = (0, 0, 0, 0)
    (digest, insertions, outsideRows, remarks) = (ProofDigest(), [], [], LoadRemarks())
    guard capacity > 4 << 20 else { return }
    memory.deallocate()
    capacity = 512 << 10
    memory = .allocate(byteCount: capacity, alignment: 16)
  }

  /// Makes room for so many more bytes and returns where they go.
  @inline(__always)
  private func room(_ more: Int) -> UnsafeMutableRawPointer {
    if count &+ more > capacity { grow(more) }
    defer { count &+= more }
    return memory + count
  }

  private func grow(_ more: Int) {
    let larger = max(capacity * 2, count + more)
    memory.grow(count, to: larger)
    capacity = larger
  }

  /// Begins a row.
  @inline(__always)
  func beginRow(_ fields: Int) { append(Int16(truncatingIfNeeded: fields)) }

  /// Appends a number without a length.
  @inline(__always)
  func append(_ value: some FixedWidthInteger) {
    let size = value.bitWidth / 8
    room(size).storeBytes(of: value.bigEndian, as: type(of: value))
  }

  @inline(__always)
  func appendNull() { append(Int32(-1)) }

  /// Appends a field that holds a number.
  @inline(__always)
  func appendField<Number: FixedWidthInteger>(_ value: Number) {
    let target = room(4 &+ Number.bitWidth / 8)
    target.storeBytes(of: Int32(Number.bitWidth / 8).bigEndian, as: Int32.self)
    target.storeBytes(of: value.bigEndian, toByteOffset: 4, as: Number.self)
  }

  /// Appends a field of bytes.
  @inline(__always)
  func appendField(_ bytes: UnsafeRawBufferPointer) {
    let target = room(4 &+ bytes.count)
    target.storeBytes(of: Int32(truncatingIfNeeded: bytes.count).bigEndian, as: Int32.self)
    if let base = bytes.baseAddress { (target + 4).copyMemory(from: base, byteCount: bytes.count) }
  }

  /// Appends a field whose bytes come from elsewhere.
  func appendField(_ value: OutsideValue, isText: Bool) {
    append(Int32(truncatingIfNeeded: value.byteCount))
    insertions.append(Insertion(offset: count, value: value, isText: isText))
  }

  /// Ends a row. One that has all its bytes in the buffer goes into the digest; of another one its place is kept.
  @inline(__always)
  func endRow(from start: Int, firstInsertion: Int, _ name: @autoclosure () -> OutsideRow.Name) {
    rows &+= 1
    guard insertions.count == firstInsertion else {
      return outsideRows.append(
        OutsideRow(bytes: start..<count, insertions: firstInsertion..<insertions.count, name: name()))
    }
    let row = UnsafeRawBufferPointer(start: memory + start, count: count &- start)
    digest.add(CopyRow.key(row), row)
  }
}

extension OutsideValue {
  /// The longest value that PostgreSQL takes in a row.
  static let maximum = (1 << 30) - (1 << 16)
}

/// What a table's rows have that those who make its constraints, or the proof, must know.
struct LoadRemarks: Equatable, Codable {
  /// Columns that the model requires and in which a row has no value, and how many.
  var missing: [Int: UInt64] = [:]
  /// Columns of times, and how many of them PostgreSQL does not hold to the last bit.
  var rounded: [Int: UInt64] = [:]
  /// Columns with values of which the proof reads the SHA-256 alone.
  var long: Set<Int> = []
  /// Files beside the store that were not there.
  var lostFiles: UInt64 = 0

  mutating func add(_ other: LoadRemarks) {
    missing.merge(other.missing, uniquingKeysWith: +)
    rounded.merge(other.rounded, uniquingKeysWith: +)
    long.formUnion(other.long)
    lostFiles += other.lostFiles
  }
}

/// A row of binary COPY as digests know it.
enum CopyRow {
  /// The key by which a row is named: its first field, where that is a number of 64 bits.
  @inline(__always)
  static func key(_ row: UnsafeRawBufferPointer) -> Int64 {
    guard row.count >= 14 else { return 0 }
    return Int64(bigEndian: row.loadUnaligned(fromByteOffset: 6, as: Int64.self))
  }
}
