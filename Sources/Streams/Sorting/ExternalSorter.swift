import Glibc

/// Sorts byte strings in plain order within a bound of memory: what does not fit goes to a file as sorted runs.
///
/// The scratch file is written under a name of its own and needs no sync: a crashed sort begins again.
public final class ExternalSorter {
  private struct Entry {
    /// The first eight bytes, big-endian: decides most comparisons without a look at the key.
    var prefix: UInt64
    var offset: UInt32
    var length: UInt32
  }

  private let memory: UnsafeMutableRawBufferPointer
  private let entryLimit: Int
  @exclusivity(unchecked) private var used = 0
  @exclusivity(unchecked) private var entries: [Entry] = []
  private let fileSystem: any FileSystem
  private let path: String
  private var spill: (any File)?
  private var spillEnd: UInt64 = 0
  private var runs: [(start: UInt64, end: UInt64)] = []

  /// Makes a sorter. `memoryBytes` bounds keys and bookkeeping together; `path` is the scratch file, made only when needed.
  public init(memoryBytes: Int, path: String, fileSystem: any FileSystem) {
    // Offsets take 32 bits, so more memory than that is left alone.
    let keyBytes = min(max(1 << 16, memoryBytes / 3 * 2), 1 << 31)
    memory = .allocate(byteCount: keyBytes, alignment: 8)
    entryLimit = max(1024, memoryBytes / 3 / MemoryLayout<Entry>.stride)
    self.path = path
    self.fileSystem = fileSystem
  }

  deinit { memory.deallocate() }

  /// Adds a key of at most half the memory.
  public func add(_ key: UnsafeRawBufferPointer) throws {
    if used + key.count > memory.count || entries.count >= entryLimit { try spillRun() }
    guard key.count <= memory.count / 2, let base = key.baseAddress else {
      throw StreamsError(
        .tooLarge, "an index key takes \(key.count) bytes, the memory budget allows \(memory.count / 2)",
        hint: "Run again with a larger --memory")
    }
    memory.baseAddress!.advanced(by: used).copyMemory(from: base, byteCount: key.count)
    entries.append(Entry(prefix: Self.prefix(key), offset: UInt32(used), length: UInt32(key.count)))
    used += key.count
  }

  private static func prefix(_ key: UnsafeRawBufferPointer) -> UInt64 {
    if key.count >= 8 { return UnsafeRawPointer(key.baseAddress!).bigEndian64(0) }
    var prefix: UInt64 = 0
    for index in 0..<8 { prefix = prefix << 8 | (index < key.count ? UInt64(key[index]) : 0) }
    return prefix
  }

  private func key(_ entry: Entry) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: memory.baseAddress! + Int(entry.offset), count: Int(entry.length))
  }

  private func sortEntries() {
    let base = UnsafeRawPointer(memory.baseAddress!)
    entries.sort { left, right in
      if left.prefix != right.prefix { return left.prefix < right.prefix }
      return compareKeys(
        UnsafeRawBufferPointer(start: base + Int(left.offset), count: Int(left.length)),
        UnsafeRawBufferPointer(start: base + Int(right.offset), count: Int(right.length))) < 0
    }
  }

  private func spillRun() throws {
    sortEntries()
    let file = try spill ?? fileSystem.open(path, .create)
    spill = file
    let start = spillEnd
    var buffer: [UInt8] = []
    buffer.reserveCapacity(1 << 17)
    for entry in entries {
      withUnsafeBytes(of: entry.length) { buffer.append(contentsOf: $0) }
      buffer.append(contentsOf: key(entry))
      if buffer.count >= 1 << 17 { try writeOut(&buffer, to: file) }
    }
    try writeOut(&buffer, to: file)
    runs.append((start, spillEnd))
    entries.removeAll(keepingCapacity: true)
    used = 0
  }

  private func writeOut(_ buffer: inout [UInt8], to file: any File) throws {
    try buffer.withUnsafeBytes { try file.write($0, at: spillEnd) }
    spillEnd += UInt64(buffer.count)
    buffer.removeAll(keepingCapacity: true)
  }

  /// Calls `body` with every key in order, then forgets all keys and removes the scratch file.
  public func drain(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    defer { forget() }
    guard let file = spill else {
      sortEntries()
      for entry in entries { try body(key(entry)) }
      return
    }
    if !entries.isEmpty { try spillRun() }
    // The runs' buffers take the place of the keys' memory.
    let share = max(8192, memory.count / 2 / runs.count)
    let readers = runs.map { RunReader(file: file, start: $0.start, end: $0.end, bufferBytes: share) }
    var heap = MergeHeap(readers)
    try heap.drain(body)
  }

  private func forget() {
    entries = []
    used = 0
    runs = []
    spillEnd = 0
    spill?.close()
    if spill != nil { try? fileSystem.remove(path) }
    spill = nil
  }
}

/// Plain order of bytes; a prefix comes first.
@inline(__always)
func compareKeys(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
  let count = min(left.count, right.count)
  if count > 0 {
    let order = memcmp(left.baseAddress!, right.baseAddress!, count)
    if order != 0 { return Int(order) }
  }
  return left.count - right.count
}
