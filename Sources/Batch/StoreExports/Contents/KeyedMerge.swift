import Codecs
import CoreDataStore
import RunSupport
import Streams

/// Pairs the rows of two states by the values of a column, as a UUID: both are sorted by it, in temporary files if they
/// are many, and the rows of a pair are looked up.
struct KeyedMerge {
  private enum State: UInt8 {
    case old = 0
    case new = 1
  }

  /// Begins rows without a key, which no other kind of value does.
  private static let noKey: UInt8 = 0x10
  /// Longer values are compared by their hash.
  private static let mostBytes = 64

  let pair: ContentsPair
  let key: String
  let memory: MemoryBudget
  let fileSystem: any FileSystem

  func run(
    from old: ContentsSide, to new: ContentsSide, _ body: (ContentsChange) throws -> Void, meter: ContentsMeter
  ) throws {
    let (sorter, rows) = try keys(of: old, and: new, meter: meter)
    let (left, right) = (lookup(old), lookup(new))
    var (group, value, done): ([Int64], [UInt8], UInt64) = ([], [], 0)
    func change(_ oldKey: Int64?, _ newKey: Int64?) throws {
      done += 1
      if done & 0xFFF == 0 { show(done, of: rows, meter: meter) }
      let found = try withRow(left, oldKey) { first in
        try withRow(right, newKey) { second in try pair.change(first, second) }
      }
      if let found { try body(found) }
    }
    // Keys that stand there twice are paired in their order.
    func leave() throws {
      for key in group { try change(key, nil) }
      group.removeAll()
    }
    try sorter.drain { bytes in
      let end = bytes.count - 9
      let rowid = bytes.ordered(at: bytes.count - 8)
      if !value.elementsEqual(bytes[..<end]) {
        try leave()
        value = Array(bytes[..<end])
      }
      if bytes[end] == State.old.rawValue { return group.append(rowid) }
      if group.isEmpty { try change(nil, rowid) } else { try change(group.removeFirst(), rowid) }
    }
    try leave()
  }

  /// What makes rows of both states the same, to be sorted, and how many they are.
  private func keys(
    of old: ContentsSide, and new: ContentsSide, meter: ContentsMeter
  ) throws -> (ExternalSorter, UInt64) {
    let path = UnfinishedFiles.temporaryPath("contents")
    let sorter = ExternalSorter(memoryBytes: memory.sortBytes, path: path, fileSystem: fileSystem)
    let rows = try add(old, .old, to: sorter, meter: meter, from: 0)
    return (sorter, try rows + add(new, .new, to: sorter, meter: meter, from: pair.bytes / 2))
  }

  /// Keys are read first, and make a third of the work; most rows of one state have one of the other.
  private func show(_ done: UInt64, of rows: UInt64, meter: ContentsMeter) {
    let part = min(1, 2 * Double(done) / Double(max(1, rows)))
    meter.show(rows: done, bytes: pair.bytes * (1 + part * ContentsMeter.lookupWeight))
  }

  private func lookup(_ side: ContentsSide) -> RowLookup {
    RowLookup(
      snapshot: side.reader.snapshot, root: side.schema.rootPage, cacheBytes: memory.lookupCacheBytes,
      rowLimit: memory.rowLimit / 2)
  }

  private func withRow(
    _ lookup: RowLookup, _ key: Int64?,
    _ body: ((key: Int64, bytes: UnsafeRawBufferPointer)?) throws -> ContentsChange?
  ) throws -> ContentsChange? {
    guard let key else { return try body(nil) }
    return try lookup.withRecord(key) { try body((key, $0)) } ?? nil
  }

  /// Returns the rows.
  private func add(
    _ side: ContentsSide, _ state: State, to sorter: ExternalSorter, meter: ContentsMeter, from start: Double
  ) throws -> UInt64 {
    guard let column = side.find(key) else { return 0 }
    var rows: UInt64 = 0
    let cursor = RowCursor(side, rowLimit: memory.rowLimit / 2)
    let row = RecordDecoder()
    while let (rowid, record) = try cursor.current() {
      guard row.decode(record) else {
        throw BatchError(.badStore, "a row of \(side.schema.name) is damaged", path: side.reader.path, key: rowid)
      }
      var bytes = try self.bytes(column, of: side, row, key: rowid, in: state)
      bytes.append(state.rawValue)
      bytes.append(ordered: rowid)
      try bytes.withUnsafeBytes { try sorter.add($0) }
      cursor.advance()
      rows += 1
      if rows & 0xFFF == 0 { meter.show(rows: 0, bytes: start + Double(cursor.bytesRead)) }
    }
    return rows
  }

  /// What makes two rows the same: in several tables their entity, too, and nothing if they have no key.
  private func bytes(
    _ column: ContentsSide.Column, of side: ContentsSide, _ row: RecordDecoder, key rowid: Int64, in state: State
  ) throws -> [UInt8] {
    let value = try side.value(column, row)
    guard pair.pairing == .apart else { return Self.bytes(value, rowid) }
    var bytes: [UInt8] = []
    bytes.append(ordered: Int64(pair.entities.firstIndex(of: side.entity(row)) ?? pair.entities.count))
    guard case .null = value else { return bytes + Self.bytes(value, rowid) }
    bytes.append(Self.noKey + state.rawValue)
    bytes.append(ordered: rowid)
    return bytes
  }

  /// What makes two keys the same. Rows without one are the same by Z_PK.
  private static func bytes(_ value: Value, _ rowid: Int64) -> [UInt8] {
    func number(_ tag: UInt8, _ word: UInt64) -> [UInt8] { [tag] + withUnsafeBytes(of: word.bigEndian) { Array($0) } }
    // No value may be the beginning of another one and its state: those that could be are known by their hash.
    func long(_ tag: UInt8, _ bytes: [UInt8]) -> [UInt8] {
      bytes.count <= mostBytes && !bytes.contains { $0 <= State.new.rawValue }
        ? [tag] + bytes : [tag + 2] + SHA256.hash(bytes)
    }
    return switch value {
    case .null: number(0, UInt64(bitPattern: rowid))
    case .integer(let integer): number(1, UInt64(bitPattern: integer))
    case .real(let double):
      Int64(exactly: double).map { number(1, UInt64(bitPattern: $0)) } ?? number(2, double.bitPattern)
    case .text(let text): long(3, Array(text.utf8))
    case .blob(let bytes): long(4, bytes)
    }
  }
}
