import CProcessor
import Glibc

/// Sorts byte strings in plain order within a bound of memory: what does not fit goes to a file as sorted runs.
///
/// The scratch file has no name and needs no sync: a crashed sort begins again. A sorter that keeps its file can be
/// continued from what ``encode(into:)`` wrote, once ``sync()`` has made the runs durable.
public final class ExternalSorter: SortMember {
  private static let entryBytes = 16
  private static let longestShared = 1 << 16

  private let memory: SortMemory
  private let path: String
  private let fileSystem: any FileSystem
  private let keepsFile: Bool
  private var file: RunFile?
  private var runs: [KeyRun] = []
  /// The last key of the last run, if this process wrote it.
  private var last: [UInt8]?
  private var space: KeySpace?
  @exclusivity(unchecked) private var keys: UnsafeMutableRawPointer
  @exclusivity(unchecked) private var entries: UnsafeMutablePointer<KeyEntry>
  @exclusivity(unchecked) private var used = 0
  @exclusivity(unchecked) private var count = 0
  @exclusivity(unchecked) private var longest = 0
  @exclusivity(unchecked) private var isOrdered = true
  var grantedBytes = 0 { didSet { memory.note(grantedBytes - oldValue) } }
  var lastExtension = 0
  var heldBytes: Int { max(grantedBytes, used + count * 2 * Self.entryBytes + (space?.kept(beside: used, count) ?? 0)) }
  /// Runs that were written.
  var runCount: Int { runs.count }

  /// Makes a sorter with memory of its own. `path` is the scratch file, made only when needed.
  public convenience init(memoryBytes: Int, path: String, fileSystem: any FileSystem, keepsFile: Bool = false) {
    self.init(
      memory: SortMemory(byteCount: memoryBytes), path: path, fileSystem: fileSystem, keepsFile: keepsFile)
  }

  /// Makes a sorter that shares memory with others.
  init(memory: SortMemory, path: String, fileSystem: any FileSystem, keepsFile: Bool = false) {
    (self.memory, self.path, self.fileSystem, self.keepsFile) = (memory, path, fileSystem, keepsFile)
    // Addresses of nothing: there is no memory yet, and so no entry that is looked at.
    entries = UnsafeMutablePointer(bitPattern: 16)!
    keys = UnsafeMutableRawPointer(entries)
    memory.join(self)
  }

  deinit { memory.leave(self) }

  /// Adds a key of at most a third of the memory.
  ///
  /// - Throws: ``StreamsError``.
  public func add(_ key: UnsafeRawBufferPointer) throws {
    let target = try room(key.count)
    if let base = key.baseAddress { target.copyMemory(from: base, byteCount: key.count) }
    finish(key.count)
  }

  /// Room for a key of `length` bytes at most, of which ``finish(_:)`` adds what was written.
  @inline(__always)
  func room(_ length: Int) throws -> UnsafeMutableRawPointer {
    let needed = length + 2 * Self.entryBytes
    if used + count * 2 * Self.entryBytes + needed > grantedBytes { try extend(by: needed, for: length) }
    return keys + used
  }

  @inline(__always)
  func finish(_ length: Int) {
    let entry = KeyEntry(offset: used, length: length)
    if isOrdered, count > 0 { isOrdered = compareKeys(key(entries[count - 1]), key(entry)) <= 0 }
    entries[count] = entry
    used += length
    longest = max(longest, length)
    count += 1
  }

  private func extend(by needed: Int, for length: Int) throws {
    guard length <= memory.largestKey else {
      throw StreamsError.tooLarge("an index key", needed: length, allowed: memory.largestKey)
    }
    if space == nil {
      let made = try KeySpace(memory: memory, path: path)
      (space, keys, entries) = (made, made.keys, made.entries)
    }
    try memory.extend(self, by: needed)
    guard count > 0, let space else { return }
    // What is beyond the first piece is filled, by keys and entries as long as those before; a long key is not.
    let usual = used / count
    let more = max(0, memory.piece - needed) / (usual + 2 * Self.entryBytes)
    space.prepare(bytes: more * usual, behind: used, entries: more, behind: count)
  }

  @inline(__always)
  private func key(_ entry: KeyEntry) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: keys + entry.offset, count: entry.length)
  }

  /// Room to sort in; nil where all is in order.
  private func scratch() throws -> UnsafeMutablePointer<KeyEntry>? { isOrdered ? nil : try space?.scratch(count) }

  /// Sorts what is in memory, or a part of it, unless it is in order.
  private func sort(_ part: Range<Int>, in scratch: UnsafeMutablePointer<KeyEntry>?) {
    guard let scratch else { return }
    KeySort.sort(
      UnsafeMutableBufferPointer(start: entries + part.lowerBound, count: part.count), keys: keys,
      scratch: scratch + part.lowerBound)
  }

  func spill() throws {
    guard count > 0 else { return empty() }
    let file = try file ?? RunFile(path: path, fileSystem: fileSystem, keepsName: keepsFile)
    self.file = file
    let parts = isShared ? parts() : [0..<count]
    let outputs = parts.count == 1 ? [file.begin()] : parts.map { file.begin(room: room(of: $0)) }
    let scratch = try scratch()
    let made = try memory.spill(Array(zip(parts, outputs))) { [self] part, output in
      sort(part, in: scratch)
      let writer = KeyRunWriter(output)
      try forEachKey(of: part, writer.append)
      return try writer.finish()
    }
    for (run, part) in zip(made, parts) {
      add(run, from: key(entries[part.lowerBound]), to: key(entries[part.upperBound - 1]))
    }
    empty()
  }

  /// What is in order is one run, and so is what a checkpoint continues. Long keys take memory to be written.
  private var isShared: Bool { !isOrdered && !keepsFile && longest <= Self.longestShared }

  private func parts() -> [Range<Int>] {
    memory.parts(of: count, runs: runs.count, block: largestBlock(with: longest)) {
      compareKeys(key(entries[$0]), key(entries[$1])) <= 0
    }
  }

  /// What merging holds of a run, at most: a block, and the key before it. There may be a run with keys of that length.
  private func largestBlock(with longest: Int = 0) -> Int {
    runs.reduce(max(RunFile.blockBytes, longest) + longest) { max($0, $1.run.largestBlock + $1.largestKey) }
  }

  /// Bytes of a part in the file, at most.
  private func room(of part: Range<Int>) -> Int {
    KeyRunWriter.room(keys: part.count, bytes: part.reduce(0) { $0 + entries[$1].length })
  }

  /// Adds a run. One whose keys all come behind those of the run before continues that: what is added in order is one
  /// run, and needs no merging.
  private func add(_ run: KeyRun, from first: UnsafeRawBufferPointer, to end: UnsafeRawBufferPointer) {
    let ascends = last?.withUnsafeBytes { compareKeys($0, first) <= 0 } ?? false
    if ascends, let before = runs.last, before.run.end == run.run.start {
      runs[runs.count - 1] = before.continued(by: run)
    } else {
      runs.append(run)
    }
    last = Array(end)
  }

  /// Calls `body` with the keys of a part in order.
  @inline(__always)
  private func forEachKey(of part: Range<Int>, _ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
    for index in part {
      let next = index + KeySort.ahead
      if next < part.upperBound { godwit_prefetch(keys + entries[next].offset) }
      try body(key(entries[index]))
    }
  }

  func giveBack() { space?.giveBack(behind: used, count) }

  private func empty() {
    space?.leave(used, count)
    (used, longest, count, isOrdered, grantedBytes) = (0, 0, 0, true, 0)
  }

  /// Calls `body` with every key in order, then forgets all keys and removes the scratch file.
  ///
  /// - Throws: ``StreamsError``.
  public func drain(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    defer { forget() }
    if runs.isEmpty {
      sort(0..<count, in: try scratch())
      return try forEachKey(of: 0..<count, body)
    }
    try spill()
    giveBack()
    guard let file else { return }
    let fanIn = memory.fanIn(largestBlock())
    try memory.makeRoom(min(runs.count, fanIn) * largestBlock())
    while runs.count > fanIn {
      let (writer, merged) = (KeyRunWriter(file.begin()), SortMemory.merged(of: runs.count, fanIn: fanIn))
      try KeyMerge(file, Array(runs[merged])).merge { try writer.append($0) }
      runs.removeSubrange(merged)
      runs.append(try writer.finish())
    }
    try KeyMerge(file, runs).merge(body)
  }

  private func forget() {
    let used = runs.isEmpty ? used + count * 2 * Self.entryBytes : .max
    empty()
    space?.end(used: used)
    (space, file, runs, last) = (nil, nil, [], nil)
  }
}

extension ExternalSorter {
  /// Whether nothing is on the disk.
  public var isInMemory: Bool { runs.isEmpty }

  /// Writes what is in memory as a run, and what a checkpoint needs to continue with the runs. Takes no memory then.
  ///
  /// - Throws: ``StreamsError``.
  public func encode(into state: inout ByteWriter) throws {
    try spill()
    giveBack()
    state.writeArray(runs) { state, run in
      for place in [run.run.start, run.run.end] { state.writeUInt64(place) }
      for length in [run.run.largestBlock, run.largestKey, 0] { state.writeInt(length) }
    }
  }

  /// Makes the runs durable.
  ///
  /// - Throws: ``StreamsError``.
  public func sync() throws { try file?.sync() }

  /// Removes the file that a drained sorter has kept.
  ///
  /// - Throws: ``StreamsError``.
  public func removeFile() throws { if keepsFile { try fileSystem.remove(path) } }

  /// Continues from what ``encode(into:)`` wrote, before any key is added.
  ///
  /// - Throws: ``StreamsError``: `damagedCheckpoint`, and `inputOutput` if the file does not have the runs.
  public func restore(from state: inout ByteReader) throws {
    runs = try state.readArray(elementSize: 40) { state in
      let run = RunFile.Run(
        start: try state.readUInt64(), end: try state.readUInt64(), largestBlock: try state.readInt())
      let largestKey = try state.readInt()
      // Older versions wrote here what all keys of a run have in common.
      _ = try state.readInt()
      return KeyRun(run: run, largestKey: largestKey)
    }
    guard runs.allSatisfy(\.isPossible) else { throw state.damaged("a sorted run") }
    last = nil
    guard let end = runs.map(\.run.end).max() else { return }
    file = try RunFile(path: path, fileSystem: fileSystem, after: end)
  }
}
