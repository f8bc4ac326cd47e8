import Streams

/// Changes to objects that are written already, in the order in which they were made. Kept in a file; a checkpoint
/// names its length. Layout: FORMAT.md, "Patch log".
final class PatchLog {
  static let headLength = 32
  /// Stands for a column where the row goes as a whole.
  static let removal = Int(UInt32.max)

  private let file: any File
  private(set) var length: UInt64
  private(set) var count: UInt64
  private var pending: [UInt8] = []
  private let encoder = RecordEncoder()

  /// Makes an empty log, or continues one whose length and count a checkpoint names.
  init(path: String, fileSystem: any FileSystem, restoring state: (length: UInt64, count: UInt64)?) throws {
    file = try fileSystem.open(path, state == nil ? .create : .updateOrCreate)
    length = state?.length ?? 0
    count = state?.count ?? 0
    guard try file.size() >= length else {
      throw StreamsError(.damagedCheckpoint, "the patch log is shorter than its checkpoint says", path: path)
    }
    try file.truncate(to: length)
  }

  deinit { file.close() }

  /// Adds a change of one column.
  func add(table: Int, key: Int64, column: Int, _ value: Value) throws {
    encoder.reset()
    encoder.append(value)
    let start = pending.count
    pending.append(contentsOf: repeatElement(0, count: Self.headLength + encoder.length))
    pending.withUnsafeMutableBytes { bytes in
      let head = bytes.baseAddress! + start
      head.storeBytes(of: UInt32(encoder.length).littleEndian, as: UInt32.self)
      head.storeBytes(of: UInt32(table).littleEndian, toByteOffset: 4, as: UInt32.self)
      head.storeBytes(of: key.littleEndian, toByteOffset: 8, as: Int64.self)
      head.storeBytes(of: count.littleEndian, toByteOffset: 16, as: UInt64.self)
      head.storeBytes(of: UInt64(column).littleEndian, toByteOffset: 24, as: UInt64.self)
      encoder.write(to: head + Self.headLength)
    }
    RecordLog.seal(&pending, from: start)
    count += 1
    if pending.count > 1 << 16 { try flush() }
  }

  /// Adds the removal of a row.
  func remove(table: Int, key: Int64) throws { try add(table: table, key: key, column: Self.removal, .null) }

  private func flush() throws {
    guard !pending.isEmpty else { return }
    try pending.withUnsafeBytes { try file.write($0, at: length) }
    length += UInt64(pending.count)
    pending.removeAll(keepingCapacity: true)
  }

  /// Writes what is pending; the length may be published once the file is synced.
  func checkpoint() throws -> (length: UInt64, count: UInt64, toSync: any File) {
    try flush()
    return (length, count, file)
  }

  /// A change as it is read back.
  struct Patch {
    var table: Int
    var key: Int64
    var sequence: UInt64
    var column: Int
    var record: [UInt8]
  }

  /// Calls `body` with every change, in the order in which they were made.
  func forEach(_ body: (Patch) throws -> Void) throws {
    try flush()
    let reader = RecordLogReader(file: file, length: length)
    while let record = try reader.next(headLength: Self.headLength, lengthAt: 0) {
      let patch = record.withUnsafeBytes { bytes in
        Patch(
          table: Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self))),
          key: Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: Int64.self)),
          sequence: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)),
          column: Int(
            truncatingIfNeeded: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 24, as: UInt64.self))),
          record: Array(bytes[Self.headLength...]))
      }
      try body(patch)
    }
  }
}
