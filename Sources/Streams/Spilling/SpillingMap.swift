/// A map from bytes to object keys that may grow beyond memory and survives a crash: what look-ups are kept in.
///
/// New entries live in a table of bounded size and in a log. A full table becomes a *run*: an immutable file sorted by hash
/// with a filter that tells most absent keys. A checkpoint names the runs and the log's length; what lies behind is not
/// trusted. A resume reads the filters and at most one table's worth of log, whatever the number of keys.
/// Of several entries of a key the newest counts.
public final class SpillingMap {
  /// What a key stands for: an object.
  public struct Entry: Sendable, Equatable {
    /// The object's primary key.
    public var key: Int64
    /// The object's entity number, or any small number of the caller's.
    public var entity: UInt32
    /// Makes an entry.
    public init(key: Int64, entity: UInt32) {
      self.key = key
      self.entity = entity
    }
  }

  private let path: String
  private let fileSystem: any FileSystem
  private let table: HashTable
  @exclusivity(unchecked) private var runs: [SpilledRun] = []
  private var log: any File
  private var logLength: UInt64 = 0
  @exclusivity(unchecked) private var pending: [UInt8] = []
  private let tableBytes: Int

  /// Makes an empty map. Its files begin with `path`; `memoryBytes` bounds the table, not the filters of spilled runs,
  /// which take ten bits a key.
  public init(path: String, fileSystem: any FileSystem, memoryBytes: Int) throws {
    self.path = path
    self.fileSystem = fileSystem
    tableBytes = memoryBytes
    table = HashTable(byteLimit: memoryBytes)
    log = try fileSystem.open("\(path).0.log", .create)
  }

  /// Finds what a key stands for.
  public func find(_ key: UnsafeRawBufferPointer) throws -> Entry? {
    let hash = hashBytes(key)
    if let entry = table.find(key, hash: hash) { return entry }
    for run in runs.reversed() {
      if let entry = try run.find(key, hash: hash) { return entry }
    }
    return nil
  }

  /// Adds an entry; a later find of the key gives it. Durable after ``checkpoint()`` and its files' sync.
  public func insert(_ key: UnsafeRawBufferPointer, _ entry: Entry) throws {
    append(key, entry)
    if pending.count > 1 << 16 { try flushLog() }
    table.insert(key, hash: hashBytes(key), entry)
    if table.isFull { try spill() }
  }

  private func append(_ key: UnsafeRawBufferPointer, _ entry: Entry) {
    withUnsafeBytes(of: UInt32(truncatingIfNeeded: key.count).littleEndian) { pending.append(contentsOf: $0) }
    withUnsafeBytes(of: entry.entity.littleEndian) { pending.append(contentsOf: $0) }
    withUnsafeBytes(of: entry.key.littleEndian) { pending.append(contentsOf: $0) }
    pending.append(contentsOf: key)
  }

  private func flushLog() throws {
    guard !pending.isEmpty else { return }
    try pending.withUnsafeBytes { try log.write($0, at: logLength) }
    logLength += UInt64(pending.count)
    pending.removeAll(keepingCapacity: true)
  }

  private func spill() throws {
    let run = try SpilledRun.write(table, path: "\(path).\(runs.count).run", fileSystem: fileSystem)
    runs.append(run)
    table.removeAll()
    // Not closed here: a checkpoint that is on its way may still have to sync this log. It closes with its last holder.
    pending.removeAll(keepingCapacity: true)
    log = try fileSystem.open("\(path).\(runs.count).log", .create)
    logLength = 0
  }

  /// What a checkpoint has to remember: the number of runs and the length of the newest log.
  public struct State: Sendable, Equatable {
    /// Runs written so far; their files are durable.
    public var runs: UInt64
    /// Bytes of the newest log that count.
    public var logLength: UInt64
    /// Makes a state.
    public init(runs: UInt64, logLength: UInt64) {
      self.runs = runs
      self.logLength = logLength
    }
  }

  /// Writes what is pending and returns the state, with the file to sync before the state may be published.
  public func checkpoint() throws -> (state: State, toSync: any File) {
    try flushLog()
    return (State(runs: UInt64(runs.count), logLength: logLength), log)
  }

  /// Goes on from a state that a checkpoint tells. Throws `damagedCheckpoint` when a file it names is missing or too short.
  public init(path: String, fileSystem: any FileSystem, memoryBytes: Int, restoring state: State) throws {
    self.path = path
    self.fileSystem = fileSystem
    tableBytes = memoryBytes
    table = HashTable(byteLimit: memoryBytes)
    guard state.runs < 1 << 20 else {
      throw StreamsError(.damagedCheckpoint, "a look-up names \(state.runs) runs", path: path)
    }
    for index in 0..<state.runs {
      runs.append(try SpilledRun(path: "\(path).\(index).run", fileSystem: fileSystem))
    }
    log = try fileSystem.open("\(path).\(state.runs).log", .update)
    logLength = state.logLength
    guard try log.size() >= logLength else {
      throw StreamsError(.damagedCheckpoint, "the log of a look-up is shorter than its checkpoint says", path: log.path)
    }
    try log.truncate(to: logLength)
    try replay()
  }

  private func replay() throws {
    let reader = RecordLogReader(file: log, length: logLength)
    while let record = try reader.next(headLength: 16, lengthAt: 0) {
      record.withUnsafeBytes { bytes in
        let entry = Entry(
          key: Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: Int64.self)),
          entity: UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
        let key = UnsafeRawBufferPointer(rebasing: bytes[16...])
        table.insert(key, hash: hashBytes(key), entry)
      }
    }
  }
}

/// A fast 64-bit hash of bytes; part of the format of runs, so it never changes.
func hashBytes(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
  var hash: UInt64 = 0xcbf2_9ce4_8422_2325 ^ UInt64(bytes.count)
  var offset = 0
  while offset + 8 <= bytes.count {
    hash = (hash ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian) &* 0x9E37_79B9_7F4A_7C15
    hash ^= hash >> 32
    offset += 8
  }
  while offset < bytes.count {
    hash = (hash ^ UInt64(bytes[offset])) &* 0x0000_0100_0000_01b3
    offset += 1
  }
  hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
  return hash ^ (hash >> 31)
}
