import Synchronization

/// A map from bytes to object keys that may grow beyond memory and survives a crash: what look-ups are kept in.
///
/// New entries live in a table of bounded size and in a log. A full table becomes a *run*: an immutable file sorted by
/// hash with a filter that knows most absent keys. Runs are merged as a number of base 4 is counted: four of a size
/// become one. A checkpoint names the number of tables that became runs, from which the runs follow, and the log's
/// length; what lies after is not trusted. A resume reads indexes and filters of a few runs and at most one table's
/// worth of log, whatever the number of keys. Of several entries of a key the newest counts.
public final class SpillingMap {
  /// What a key stands for.
  public typealias Entry = SpillingEntry

  /// A file that newer ones replace: states with so many runs or more do not name it.
  private typealias Replaced = (path: String, runs: UInt64)

  private let path: String
  private let fileSystem: any FileSystem
  let table: HashTable
  private let memory = RunMemory()
  private let filterBytes: Int
  /// Runs from the oldest to the newest, with the tables that they were made of.
  @exclusivity(unchecked) private var runs: [(tables: Range<UInt64>, run: SpilledRun)] = []
  private(set) var spilled: UInt64 = 0
  private var log: any File
  private var logLength: UInt64 = 0
  @exclusivity(unchecked) private var pending: [UInt8] = []
  private var replaced: [Replaced] = []
  @exclusivity(unchecked) private var clock = SampledClock()
  private let published = PublishedRuns()

  /// Makes an empty map. Its files begin with `path`; `memoryBytes` bounds the table, and once more the filters in
  /// memory. Beyond both are eight bytes for every KiB of runs.
  /// - Throws: ``StreamsError``.
  public init(path: String, fileSystem: any FileSystem, memoryBytes: Int) throws {
    (self.path, self.fileSystem, filterBytes) = (path, fileSystem, memoryBytes)
    table = HashTable(byteLimit: memoryBytes)
    log = try fileSystem.open("\(path).0.log", .create)
  }

  /// Finds what a key stands for.
  /// - Throws: ``StreamsError``.
  public func find(_ key: TaggedKey) throws -> SpillingEntry? {
    let hash = key.hash
    if let found = table.find(key, hash: hash, word: table.word(hash)) { return found }
    return hasRuns ? try findAlone(key, hash: hash) : nil
  }

  /// Looks for one key in runs.
  func findAlone(_ key: TaggedKey, hash: UInt64) throws -> SpillingEntry? {
    try clock.sample { try findInRuns(key, hash: hash) }
  }

  /// Seconds that runs took so far, to be written and to be looked into one key after the other, about.
  public var secondsOfRuns: Double { clock.seconds }

  /// Whether some entries are no longer in memory.
  public var hasRuns: Bool { !runs.isEmpty }
  /// Entries in memory.
  public var tableCount: Int { table.count }

  /// Whether memory for entries is nearly used up, or larger than caches.
  public var isFilling: Bool { table.isFilling }

  func findInRuns(_ key: TaggedKey, hash: UInt64, _ memory: RunMemory? = nil) throws -> SpillingEntry? {
    let memory = memory ?? self.memory
    for place in runs.indices.reversed() {
      if let entry = try runs[place].run.find(key, hash: hash, memory) { return entry }
    }
    return nil
  }

  /// Adds an entry; a later find of the key gives it. Durable after ``checkpoint()`` and its files' sync.
  /// - Throws: ``StreamsError``.
  public func insert(_ key: TaggedKey, _ entry: SpillingEntry) throws {
    append(key, entry)
    if pending.count > 1 << 16 { try flushLog() }
    table.insert(key, hash: key.hash, entry)
    if table.isFull { try clock.time { try spill() } }
  }

  private func append(_ key: TaggedKey, _ entry: SpillingEntry) {
    let start = pending.count
    withUnsafeBytes(of: UInt32(truncatingIfNeeded: key.count).littleEndian) { pending.append(contentsOf: $0) }
    withUnsafeBytes(of: entry.entity.littleEndian) { pending.append(contentsOf: $0) }
    withUnsafeBytes(of: entry.key.littleEndian) { pending.append(contentsOf: $0) }
    if let tag = key.tag { pending.append(tag) }
    pending.append(contentsOf: key.body)
    RecordLog.seal(&pending, from: start)
  }

  private func flushLog() throws {
    guard !pending.isEmpty else { return }
    try pending.withUnsafeBytes { try log.write($0, at: logLength) }
    logLength += UInt64(pending.count)
    pending.removeAll(keepingCapacity: true)
  }

  private func spill() throws {
    try removeReplaced()
    let tables = spilled..<(spilled + 1)
    let writer = try SpilledRunWriter(
      path: Self.runPath(path, tables), fileSystem: fileSystem, largestCount: UInt64(table.count))
    try table.drain { try writer.append(hash: $0.hash, $0.entry, $0.key) }
    try writer.finish()
    table.removeAll()
    runs.append((tables, try SpilledRun(path: Self.runPath(path, tables), fileSystem: fileSystem)))
    spilled += 1
    replaced.append((log.path, spilled))
    // Not closed here: a checkpoint that is on its way may still have to sync this log. It closes with its last holder.
    pending.removeAll(keepingCapacity: true)
    log = try fileSystem.open("\(path).\(spilled).log", .create)
    logLength = 0
    try merge()
    try shareFilters()
  }

  /// Makes one run of those that the newest one completes, all at once.
  private func merge() throws {
    guard let tables = RunNumbers.ranges(spilled).last, tables.count > 1 else { return }
    let first = runs.firstIndex { $0.tables.lowerBound >= tables.lowerBound } ?? 0
    let merged = Self.runPath(path, tables)
    try RunMerge(runs[first...].map(\.run)).write(to: merged, fileSystem: fileSystem)
    for old in runs[first...] { replaced.append((old.run.file.path, spilled)) }
    runs.removeSubrange(first...)
    runs.append((tables, try SpilledRun(path: merged, fileSystem: fileSystem)))
  }

  /// Keeps the filters of the smallest runs in memory: they cost least and are looked at as often.
  private func shareFilters() throws {
    var rest = filterBytes
    for (_, run) in runs.sorted(by: { $0.run.filterBytes < $1.run.filterBytes }) {
      try run.keepFilter(run.filterBytes <= rest)
      rest -= run.filterBytes
    }
  }

  /// Removes files that neither of the two newest checkpoints names: a resume may use either.
  private func removeReplaced() throws {
    guard let oldest = published.oldest else { return }
    for file in replaced where file.runs <= oldest { try fileSystem.remove(file.path) }
    replaced.removeAll { $0.runs <= oldest }
  }

  private static func runPath(_ path: String, _ tables: Range<UInt64>) -> String {
    tables.count == 1 ? "\(path).\(tables.lowerBound).run" : "\(path).\(tables.lowerBound)-\(tables.upperBound).run"
  }

  /// What a checkpoint has to remember: the number of tables that became runs and the length of the newest log.
  public struct State: Sendable, Equatable {
    /// Tables that became runs; the files of those are durable.
    public var runs: UInt64
    /// Bytes of the newest log that count.
    public var logLength: UInt64
    /// Makes a state.
    public init(runs: UInt64, logLength: UInt64) {
      self.runs = runs
      self.logLength = logLength
    }
  }

  /// A state on its way into a checkpoint.
  public struct Mark: Sendable {
    /// What the checkpoint has to remember.
    public let state: State
    /// The file to sync before the state may be published.
    public let toSync: any File
    fileprivate let published: PublishedRuns

    /// To be called, on any thread, when the checkpoint is published: from the second one on, files that older ones
    /// named can go.
    public func finish() { published.add(state.runs) }
  }

  /// Writes what is pending and returns the state.
  /// - Throws: ``StreamsError``.
  public func checkpoint() throws -> Mark {
    try flushLog()
    return Mark(state: State(runs: spilled, logLength: logLength), toSync: log, published: published)
  }

  /// Continues from a state that a checkpoint names.
  /// - Throws: ``StreamsError``: `damagedCheckpoint` when a file it names is missing or too short.
  public init(path: String, fileSystem: any FileSystem, memoryBytes: Int, restoring state: State) throws {
    (self.path, self.fileSystem, filterBytes) = (path, fileSystem, memoryBytes)
    table = HashTable(byteLimit: memoryBytes)
    guard state.runs < 1 << 32 else {
      throw StreamsError(.damagedCheckpoint, "a look-up names \(state.runs) runs", path: path)
    }
    for tables in RunNumbers.ranges(state.runs) {
      runs.append((tables, try SpilledRun(path: Self.runPath(path, tables), fileSystem: fileSystem)))
    }
    spilled = state.runs
    log = try fileSystem.open("\(path).\(state.runs).log", .update)
    guard try log.size() >= state.logLength else {
      throw StreamsError(.damagedCheckpoint, "the log of a look-up is shorter than its checkpoint says", path: log.path)
    }
    try log.truncate(to: state.logLength)
    try shareFilters()
    try replay(log, length: state.logLength)
  }

  private func replay(_ old: any File, length: UInt64) throws {
    logLength = length
    let reader = RecordLogReader(file: old, length: length)
    while let record = try reader.next(headLength: 16, lengthAt: 0) {
      try record.withUnsafeBytes { bytes in
        let entry = SpillingEntry(
          key: Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: Int64.self)),
          entity: UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
        let key = TaggedKey(UnsafeRawBufferPointer(rebasing: bytes[16...]))
        // With less memory than before, the table may be full before the log ends: the rest goes into the next log.
        if log !== old { return try insert(key, entry) }
        table.insert(key, hash: key.hash, entry)
        if table.isFull { try clock.time { try spill() } }
      }
    }
  }
}

/// Which runs there are after so many tables, by counting in base 4.
enum RunNumbers {
  /// Runs of a size that become one.
  static let fanIn: UInt64 = 4

  /// The tables of every run, the oldest first.
  static func ranges(_ tables: UInt64) -> [Range<UInt64>] {
    var size: UInt64 = 1
    while size <= tables / fanIn { size *= fanIn }
    var (ranges, start): ([Range<UInt64>], UInt64) = ([], 0)
    while size > 0 {
      while tables - start >= size {
        ranges.append(start..<(start + size))
        start += size
      }
      size /= fanIn
    }
    return ranges
  }
}

/// How many runs the two newest checkpoints name.
private final class PublishedRuns: Sendable {
  private let state = Mutex<(newest: UInt64?, before: UInt64?)>((nil, nil))

  func add(_ runs: UInt64) { state.withLock { $0 = (runs, $0.newest) } }

  /// The smaller number; nil before there are two of this process.
  var oldest: UInt64? { state.withLock { $0.before } }
}
