import Streams

/// Rows of one entity from lines that follow each other. Each is what its key adds to that of the row before, where keys
/// are given, and the length of its record, both as varints, and the record.
struct ImportStretch {
  let table: Int
  /// Z_ENT.
  let entity: Int
  /// Whether the rows have keys. If not, they get numbers that follow each other.
  let isKeyed: Bool
  let firstKey: Int64
  private(set) var lastKey: Int64
  /// Whether the keys ascend.
  private(set) var isOrdered = true
  private(set) var largestKey: Int64
  let firstLine: Int
  private(set) var count = 0
  /// Where its rows begin and end.
  private(set) var range: Range<Int>
  private(set) var longestRecord = 0

  /// A stretch without rows; the first one will have this key.
  init(_ table: Int, _ entity: Int, key: Int64?, line: Int, at start: Int) {
    (self.table, self.entity, isKeyed, firstLine) = (table, entity, key != nil, line)
    (firstKey, lastKey, largestKey, range) = (key ?? 0, 0, 0, start..<start)
  }

  /// Whether a row may follow.
  @inline(__always)
  func goesOn(_ entity: Int, key: Int64?, line: Int) -> Bool {
    line == firstLine + count && self.entity == entity && (key != nil) == isKeyed
  }

  /// Adds a row, whose bytes are written behind those before.
  @inline(__always)
  mutating func add(_ key: Int64?, _ row: ImportRow, to rows: ByteRoom) {
    let length = row.recordLength
    let room = rows.room(length + 2 * Varint.maximumLength)
    let head = note(key, length, to: room)
    row.write(to: room + head)
    rows.add(head + length)
    range = range.lowerBound..<(range.upperBound + head + length)
  }

  /// Adds a row that was read before.
  mutating func add(_ key: Int64?, _ record: UnsafeRawBufferPointer, to rows: ByteRoom) {
    let room = rows.room(record.count + 2 * Varint.maximumLength)
    let head = note(key, record.count, to: room)
    UnsafeMutableRawBufferPointer(start: room + head, count: record.count).copyMemory(from: record)
    rows.add(head + record.count)
    range = range.lowerBound..<(range.upperBound + head + record.count)
  }

  /// Notes a row, and writes what stands before its record: at most two varints, whose length it returns.
  @inline(__always)
  private mutating func note(_ key: Int64?, _ length: Int, to room: UnsafeMutableRawPointer) -> Int {
    var head = 0
    if let key {
      head = Varint.write(UInt64(bitPattern: key &- lastKey), to: room)
      if key <= lastKey { isOrdered = false }
      (lastKey, largestKey) = (key, max(key, largestKey))
    }
    head += Varint.write(UInt64(length), to: room + head)
    count += 1
    longestRecord = max(longestRecord, length)
    return head
  }
}

/// Goes through the rows of a stretch.
struct ImportStretchRows {
  private let bytes: UnsafeRawBufferPointer
  private let isKeyed: Bool
  private var place = 0
  /// The key, or the number, of the row at hand.
  private(set) var number: Int64

  /// Rows without keys have numbers behind this one.
  init(_ bytes: UnsafeRawBufferPointer, isKeyed: Bool, after number: Int64 = 0) {
    (self.bytes, self.isKeyed, self.number) = (bytes, isKeyed, isKeyed ? 0 : number)
  }

  /// The record of the next row; nil where the bytes are none, as at their end.
  @inline(__always)
  mutating func next() -> UnsafeRawBufferPointer? {
    var step: UInt64 = 1
    if isKeyed {
      guard let read = Varint.read(bytes, at: &place) else { return nil }
      step = read
    }
    guard let length = Varint.read(bytes, at: &place), length <= UInt64(bytes.count - place) else { return nil }
    number &+= Int64(bitPattern: step)
    defer { place += Int(length) }
    return UnsafeRawBufferPointer(rebasing: bytes[place..<(place + Int(length))])
  }
}
