import Streams

/// Values of an object's columns, as a record holds them: a serial type a column, with the integer's or double's bits
/// or the place of its bytes. Setting and writing them copies bytes and counts no references.
struct ColumnValues: ~Copyable {
  private struct Slot {
    /// The serial type; ``unset`` where the column has no value of its own.
    var type: UInt64
    /// An integer, a double's bits, or where the bytes begin.
    var bits: UInt64
  }

  private static let unset = UInt64.max
  private static let keptBytes = 4 * 1024
  private let count: Int
  private let slots: UnsafeMutablePointer<Slot>
  private var bytes: UnsafeMutableRawPointer?
  private var capacity = 0
  private var used = 0
  /// Whether no column has a value.
  private(set) var isEmpty = true
  /// A bit for each of the first 64 columns that has a value; nil when a later one has.
  private(set) var changed: UInt64? = 0

  /// Makes room for that many columns, none of which has a value.
  init(count: Int) {
    self.count = count
    slots = .allocate(capacity: count)
    slots.initialize(repeating: Slot(type: Self.unset, bits: 0), count: count)
  }

  deinit {
    slots.deallocate()
    bytes?.deallocate()
  }

  /// Takes all values away.
  mutating func removeAll() {
    guard !isEmpty else { return }
    slots.update(repeating: Slot(type: Self.unset, bits: 0), count: count)
    (isEmpty, used, changed) = (true, 0, 0)
    guard capacity > Self.keptBytes else { return }
    bytes?.deallocate()
    (bytes, capacity) = (nil, 0)
  }

  /// Takes all values away where they take much memory.
  mutating func trim() { if capacity > Self.keptBytes { removeAll() } }

  /// Gives a column a value.
  mutating func set(_ column: Int, _ value: Value) {
    switch value {
    case .null: set(column, type: SerialType.null, bits: 0)
    case .integer(let integer): set(column, integer)
    case .real(let double): set(column, type: SerialType.real, bits: double.bitPattern)
    case .text(var text):
      text.withUTF8 { set(column, type: SerialType.text(length: $0.count), body: UnsafeRawBufferPointer($0)) }
    case .blob(let blob): blob.withUnsafeBytes { set(column, type: SerialType.blob(length: $0.count), body: $0) }
    }
  }

  /// Gives a column an integer.
  mutating func set(_ column: Int, _ integer: Int64) {
    set(column, type: SerialType.integer(integer), bits: UInt64(bitPattern: integer))
  }

  private mutating func set(_ column: Int, type: UInt64, bits: UInt64) {
    precondition(column >= 0 && column < count)
    slots[column] = Slot(type: type, bits: bits)
    isEmpty = false
    changed = column < 64 ? changed.map { $0 | 1 << UInt64(column) } : nil
  }

  /// Gives a column the value of a column of the source's row, as it lies there.
  mutating func set(_ column: Int, row: RecordDecoder, position: Int) {
    let type = row.type(position)
    switch type {
    case SerialType.real:
      set(column, type: type, bits: UInt64(bigEndian: row.body(position).loadUnaligned(as: UInt64.self)))
    case SerialType.null: set(column, type: type, bits: 0)
    case _ where SerialType.isInteger(type): set(column, row.integer(position) ?? 0)
    default: set(column, type: type, body: row.body(position))
    }
  }

  private mutating func set(_ column: Int, type: UInt64, body: UnsafeRawBufferPointer) {
    // A value that is set again and again takes its place again, if it was the last.
    let old = slots[column]
    if old.type != Self.unset, Self.hasBytes(old.type), Int(old.bits) + Self.length(old.type) == used {
      used = Int(old.bits)
    }
    let needed = used + body.count
    if needed > capacity { grow(to: needed) }
    if let base = body.baseAddress, let bytes { (bytes + used).copyMemory(from: base, byteCount: body.count) }
    set(column, type: type, bits: UInt64(used))
    used = needed
  }

  private mutating func grow(to needed: Int) {
    let larger = max(256, capacity * 2, needed)
    let moved = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 8)
    if let bytes { moved.copyMemory(from: bytes, byteCount: used) }
    bytes?.deallocate()
    (bytes, capacity) = (moved, larger)
  }

  private func body(_ slot: Slot) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: bytes.map { $0 + Int(slot.bits) }, count: Self.length(slot.type))
  }

  private static func hasBytes(_ type: UInt64) -> Bool { type >= 12 || type == LongValue.serialType }

  private static func length(_ type: UInt64) -> Int { SerialType.length(type) ?? LongValue.length }

  /// The value of a column; nil if it has none. Throws for a long value that `row` cannot read.
  func value(_ column: Int, _ row: RecordDecoder) throws -> Value? {
    let slot = slots[column]
    switch slot.type {
    case Self.unset: return nil
    case LongValue.serialType: return try row.long(LongValue(body(slot)))
    case SerialType.null: return .null
    case SerialType.real: return .real(Double(bitPattern: slot.bits))
    case ..<LongValue.serialType: return .integer(Int64(bitPattern: slot.bits))
    case _ where SerialType.isText(slot.type): return .text(String(decoding: body(slot), as: UTF8.self))
    default: return .blob([UInt8](body(slot)))
    }
  }

  /// Whether the column's value is NULL. Nil if it has none.
  func isNull(_ column: Int) -> Bool? { isUnset(column) ? nil : slots[column].type == SerialType.null }

  /// Whether the column has no value.
  func isUnset(_ column: Int) -> Bool { slots[column].type == Self.unset }

  /// The serial type of a column's text or blob, and its bytes; nil for everything else. Valid until the next change.
  func bytes(_ column: Int) -> (type: UInt64, body: UnsafeRawBufferPointer)? {
    let slot = slots[column]
    return slot.type != Self.unset && slot.type >= 12 ? (slot.type, body(slot)) : nil
  }

  /// Appends a column's value to a record; false where it has none.
  @inline(__always)
  func append(_ column: Int, to encoder: RecordEncoder) -> Bool {
    let slot = slots[column]
    switch slot.type {
    case Self.unset: return false
    case SerialType.null: encoder.appendNull()
    case SerialType.real: encoder.append(Double(bitPattern: slot.bits))
    case ..<LongValue.serialType: encoder.append(Int64(bitPattern: slot.bits))
    default: encoder.append(type: slot.type, body: body(slot))
    }
    return true
  }
}
