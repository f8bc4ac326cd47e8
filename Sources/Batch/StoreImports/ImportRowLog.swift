import RunSupport
import Streams

/// Rows that come in the order of their keys: they need no sorting, and stand one after the other in a file.
///
/// A block: its bytes, rows, and first line; table, Z_ENT, whether the rows have keys, the first key or the number before
/// the first row, the last one of either kind; then the rows of an ``ImportStretch``. Numbers are in the machine's order.
final class ImportRowLog {
  /// Blocks of one table that follow each other.
  struct Extent {
    let table: Int
    let start: UInt64
    var end: UInt64
  }

  /// What stands before the rows of a block.
  struct Head {
    static let length = 48

    let byteCount: Int
    let count: Int
    let firstLine: Int
    let table: Int
    let entity: Int
    let isKeyed: Bool
    let first: Int64
    let last: Int64

    func write(to room: UnsafeMutableRawPointer) {
      room.storeBytes(of: UInt32(truncatingIfNeeded: byteCount), as: UInt32.self)
      room.storeBytes(of: UInt32(truncatingIfNeeded: count), toByteOffset: 4, as: UInt32.self)
      room.storeBytes(of: UInt16(truncatingIfNeeded: table), toByteOffset: 8, as: UInt16.self)
      room.storeBytes(of: UInt16(isKeyed ? 1 : 0), toByteOffset: 10, as: UInt16.self)
      room.storeBytes(of: UInt32(truncatingIfNeeded: entity), toByteOffset: 12, as: UInt32.self)
      for (place, number) in [Int64(firstLine), first, last, 0].enumerated() {
        room.storeBytes(of: number, toByteOffset: 16 + 8 * place, as: Int64.self)
      }
    }

    init(_ room: UnsafeRawPointer) {
      byteCount = Int(room.loadUnaligned(as: UInt32.self))
      count = Int(room.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
      table = Int(room.loadUnaligned(fromByteOffset: 8, as: UInt16.self))
      isKeyed = room.loadUnaligned(fromByteOffset: 10, as: UInt16.self) == 1
      entity = Int(room.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
      firstLine = Int(room.loadUnaligned(fromByteOffset: 16, as: Int64.self))
      first = room.loadUnaligned(fromByteOffset: 24, as: Int64.self)
      last = room.loadUnaligned(fromByteOffset: 32, as: Int64.self)
    }

    init(_ stretch: ImportStretch, after number: Int64, _ line: Int) {
      (byteCount, count, firstLine) = (stretch.range.count, stretch.count, line)
      (table, entity, isKeyed) = (stretch.table, stretch.entity, stretch.isKeyed)
      first = stretch.isKeyed ? stretch.firstKey : number
      last = stretch.isKeyed ? stretch.lastKey : number + Int64(stretch.count)
    }
  }

  private static let bufferBytes = 1 << 18
  /// So many changes from table to table are followed; what comes then is sorted.
  private static let mostExtents = 1 << 10

  private let path: String
  private let fileSystem: any FileSystem
  private let keepsFile: Bool
  private var file: (any File)?
  private var extents: [Extent] = []
  private var end: UInt64 = 0
  private var largestBlock = 0
  /// The last address of each table.
  private var last: [ImportAddress]
  /// Blocks on their way to the file.
  private let buffer = ByteRoom(ImportRowLog.bufferBytes)

  init(_ path: String, tables: Int, _ fileSystem: any FileSystem, keepsFile: Bool) {
    (self.path, self.fileSystem, self.keepsFile) = (path, fileSystem, keepsFile)
    last = Array(repeating: ImportAddress(key: 0), count: tables)
  }

  deinit { file?.close() }

  var isInMemory: Bool { file == nil }

  /// Whether a row at this address may follow.
  func takes(_ table: Int, _ address: ImportAddress) -> Bool {
    guard last[table].precedes(address) else { return false }
    return extents.last?.table == table || extents.count < Self.mostExtents
  }

  /// Adds rows in order, the first of which it takes.
  func add(_ head: Head, _ rows: UnsafeRawBufferPointer) throws {
    let length = Head.length + rows.count
    if buffer.count + length > Self.bufferBytes { try flush() }
    let room = buffer.room(length)
    head.write(to: room)
    UnsafeMutableRawBufferPointer(start: room + Head.length, count: rows.count).copyMemory(from: rows)
    buffer.add(length)
    largestBlock = max(largestBlock, length)
    let place = end + UInt64(buffer.count)
    if extents.last?.table == head.table {
      extents[extents.count - 1].end = place
    } else {
      extents.append(Extent(table: head.table, start: place - UInt64(length), end: place))
    }
    last[head.table] = head.isKeyed ? ImportAddress(key: head.last) : ImportAddress(new: head.last)
  }

  private func flush() throws {
    guard buffer.count > 0 else { return }
    let file = try file ?? (keepsFile ? fileSystem.open(path, .create) : fileSystem.openScratch(path))
    self.file = file
    try file.write(buffer.bytes(0..<buffer.count), at: end)
    end += UInt64(buffer.count)
    buffer.removeAll()
  }

  /// Calls `body` with each block of a table in order, and of those after it, until it says that it wants no more for now;
  /// it gets the same block again then.
  func reader() throws -> Reader {
    if file != nil { try flush() }
    // What never went to a file is read from memory.
    return Reader(
      file: file, memory: buffer, path: path,
      extents: extents.enumerated().sorted { ($0.element.table, $0.offset) < ($1.element.table, $1.offset) }
        .map(\.element), largestBlock: largestBlock)
  }
}

extension ImportAddress {
  func precedes(_ other: ImportAddress) -> Bool {
    isNew == other.isNew ? number < other.number : !isNew
  }
}

extension ImportRowLog {
  /// Goes through all blocks, table by table.
  final class Reader {
    private static let pieceBytes = 1 << 18

    private let file: (any File)?
    private let path: String
    private let memory: ByteRoom
    private let extents: [Extent]
    private var extent = 0
    private var position: UInt64
    /// What was read of the file, and where that begins.
    private let piece = ByteRoom()
    private let pieceBytes: Int
    private var pieceStart: UInt64 = 0

    init(file: (any File)?, memory: ByteRoom, path: String, extents: [Extent], largestBlock: Int) {
      (self.file, self.memory, self.path, self.extents) = (file, memory, path, extents)
      position = extents.first?.start ?? 0
      pieceBytes = max(Self.pieceBytes, largestBlock)
    }

    /// The next block with its rows, which are valid until the next call; nil at the end.
    func next() throws -> (head: Head, rows: UnsafeRawBufferPointer)? {
      while extent < extents.count, position >= extents[extent].end {
        extent += 1
        if extent < extents.count { position = extents[extent].start }
      }
      guard extent < extents.count else { return nil }
      let start = try bytes(Head.length)
      guard let base = start.baseAddress else { throw damaged }
      let head = Head(base)
      guard head.table == extents[extent].table, head.count > 0, head.byteCount > 0 else { throw damaged }
      let block = try bytes(Head.length + head.byteCount)
      position += UInt64(block.count)
      return (head, UnsafeRawBufferPointer(rebasing: block[Head.length...]))
    }

    var damaged: StreamsError { StreamsError(.damagedCheckpoint, "the rows in order are damaged", path: path) }

    /// Bytes at the position.
    private func bytes(_ count: Int) throws -> UnsafeRawBufferPointer {
      guard UInt64(count) <= extents[extent].end - position else { throw damaged }
      guard let file else {
        let start = Int(position)
        guard start + count <= memory.count else { throw damaged }
        return memory.bytes(start..<(start + count))
      }
      if position < pieceStart || position + UInt64(count) > pieceStart + UInt64(piece.count) {
        guard count <= pieceBytes else { throw damaged }
        piece.removeAll()
        pieceStart = position
        piece.add(
          try file.read(
            into: UnsafeMutableRawBufferPointer(start: piece.room(pieceBytes), count: pieceBytes), at: position))
        guard count <= piece.count else { throw damaged }
      }
      let start = Int(position - pieceStart)
      return piece.bytes(start..<(start + count))
    }
  }
}

// What a checkpoint continues.
extension ImportRowLog {
  func encode(into state: inout ByteWriter) throws {
    try flush()
    state.writeInt(largestBlock)
    state.writeArray(extents) { state, extent in
      state.writeInt(extent.table)
      for place in [extent.start, extent.end] { state.writeUInt64(place) }
    }
    state.writeArray(last) { state, address in
      state.writeBool(address.isNew)
      state.writeInt64(address.number)
    }
  }

  /// All rows were taken: checkpoints that follow do not need them.
  func forget() {
    extents = []
    buffer.removeAll()
  }

  func sync() throws { try file?.sync() }

  func remove() throws { if keepsFile { try fileSystem.remove(path) } }

  func restore(from state: inout ByteReader) throws {
    largestBlock = try state.readInt()
    extents = try state.readArray(elementSize: 24) {
      Extent(table: try $0.readInt(), start: try $0.readUInt64(), end: try $0.readUInt64())
    }
    let found = try state.readArray(elementSize: 9) { state in
      let isNew = try state.readBool()
      return isNew ? ImportAddress(new: try state.readInt64()) : ImportAddress(key: try state.readInt64())
    }
    guard found.count == last.count, 0...(1 << 31) ~= largestBlock,
      extents.allSatisfy({ last.indices.contains($0.table) && $0.start < $0.end })
    else { throw state.damaged("rows in order") }
    (last, end) = (found, extents.map(\.end).max() ?? 0)
    guard end > 0 else { return }
    let file = try fileSystem.open(path, .update)
    guard try file.size() >= end else {
      throw StreamsError(.damagedCheckpoint, "the file of rows in order is shorter than it was", path: path)
    }
    try file.truncate(to: end)
    self.file = file
  }
}
