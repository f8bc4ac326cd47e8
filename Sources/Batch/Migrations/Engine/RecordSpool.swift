import Streams

/// Finished records that wait until the rows before them are written: objects with new keys of a table whose other rows
/// keep theirs. They come in key order. Layout: FORMAT.md, "Record spool".
final class RecordSpool {
  /// What a checkpoint has to remember.
  struct State: Equatable {
    var length: UInt64
    var count: UInt64
  }

  private static let headLength = 12
  let file: any File
  private var state: State
  private var pending: [UInt8] = []

  init(path: String, fileSystem: any FileSystem, restoring state: State?) throws {
    file = try fileSystem.open(path, state == nil ? .create : .updateOrCreate)
    self.state = state ?? State(length: 0, count: 0)
    guard try file.size() >= self.state.length else {
      throw StreamsError(.damagedCheckpoint, "a record spool is shorter than its checkpoint says", path: path)
    }
    try file.truncate(to: self.state.length)
  }

  deinit { file.close() }

  var isEmpty: Bool { state.count == 0 }

  func append(rowid: Int64, record: UnsafeRawBufferPointer) throws {
    let start = pending.count
    withUnsafeBytes(of: UInt32(record.count).littleEndian) { pending.append(contentsOf: $0) }
    withUnsafeBytes(of: rowid.littleEndian) { pending.append(contentsOf: $0) }
    pending.append(contentsOf: record)
    RecordLog.seal(&pending, from: start)
    state.count += 1
    if pending.count > 1 << 16 { try flush() }
  }

  private func flush() throws {
    guard !pending.isEmpty else { return }
    try pending.withUnsafeBytes { try file.write($0, at: state.length) }
    state.length += UInt64(pending.count)
    pending.removeAll(keepingCapacity: true)
  }

  /// Writes what is pending; the state may be published once the file is synced.
  func checkpoint() throws -> State {
    try flush()
    return state
  }

  /// Appends all records to the table; long values that they refer to are read through `longValues`.
  func drain(into builder: TableBuilder, _ longValues: LongValueReader) throws {
    try flush()
    let reader = RecordLogReader(file: file, length: state.length)
    while let bytes = try reader.next(headLength: Self.headLength, lengthAt: 0) {
      try bytes.withUnsafeBytes {
        try builder.append(
          rowid: Int64(littleEndian: $0.loadUnaligned(fromByteOffset: 4, as: Int64.self)),
          record: UnsafeRawBufferPointer(rebasing: $0[Self.headLength...]), longValues: longValues)
      }
    }
  }
}
