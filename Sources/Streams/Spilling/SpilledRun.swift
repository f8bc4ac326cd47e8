/// An immutable file of entries sorted by hash. Layout: FORMAT.md, "Look-up runs".
final class SpilledRun {
  private typealias Format = SpilledRunFormat

  let file: any File
  let format: SpilledRunFormat
  /// For every block of entries the upper half of its first hash, and its number; both ascend.
  private let index: UnsafeMutablePointer<(hash: UInt32, block: UInt32)>
  private var filter: UnsafeMutableRawPointer?

  /// Opens a run and reads its index. Throws `damagedCheckpoint`.
  init(path: String, fileSystem: any FileSystem) throws {
    let file = try fileSystem.open(path, .read)
    self.file = file
    var header = [UInt8](repeating: 0, count: Format.headerBytes)
    let read = try header.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
    let size = try file.size()
    let found = header.withUnsafeBytes { SpilledRunFormat($0, fileLength: size) }
    guard read == Format.headerBytes, let format = found else {
      throw StreamsError(.damagedCheckpoint, "a run of a look-up is damaged", path: path, hint: Self.damageHint)
    }
    self.format = format
    index = .allocate(capacity: Int(format.indexEntries) + 1)
    try readIndex()
  }

  deinit {
    index.deallocate()
    filter?.deallocate()
    file.close()
  }

  func damaged() -> StreamsError {
    StreamsError(.damagedCheckpoint, "a run of a look-up is damaged", path: file.path, hint: Self.damageHint)
  }

  /// What to do about a damaged file of a run, this one or another.
  static let damageHint = "Check the disk; then give the run up and start it again. The source is untouched"

  private func readIndex() throws {
    let bytes = UnsafeMutableRawBufferPointer(start: index, count: Int(format.indexEntries) * Format.indexEntryBytes)
    guard try file.read(into: bytes, at: format.indexStart) == bytes.count,
      hashBytes(UnsafeRawBufferPointer(bytes)) == format.indexCheck
    else { throw damaged() }
    for place in 0..<Int(format.indexEntries) {
      let (hash, number) = (UInt32(littleEndian: index[place].hash), UInt32(littleEndian: index[place].block))
      guard UInt64(number) < format.blocks,
        place == 0 || (index[place - 1].hash <= hash && index[place - 1].block < number)
      else { throw damaged() }
      index[place] = (hash, number)
    }
  }

  /// The number of blocks with entries, and the number of one of them in the file.
  var blockCount: Int { Int(format.indexEntries) }
  func number(of place: Int) -> UInt64 { UInt64(index[place].block) }

  var filterBytes: Int { Int(format.filterBlocks) * RunFilter.blockBytes }

  /// Keeps the filter in memory, or gives that back; without it a block of the filter is read for every look.
  func keepFilter(_ isKept: Bool) throws {
    guard isKept != (filter != nil) else { return }
    filter?.deallocate()
    filter = nil
    guard isKept else { return }
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: filterBytes, alignment: 64)
    filter = bytes.baseAddress
    guard try file.read(into: bytes, at: Format.filterStart) == bytes.count, let start = bytes.baseAddress else {
      throw damaged()
    }
    for offset in stride(from: 0, to: bytes.count, by: RunFilter.blockBytes) where !RunFilter.isSound(start + offset) {
      throw damaged()
    }
  }

  private func mayContain(_ hash: UInt64, _ memory: RunMemory) throws -> Bool {
    let offset = RunFilter.block(hash, of: format.filterBlocks) * UInt64(RunFilter.blockBytes)
    if let filter { return RunFilter.mayContain(hash, in: filter + Int(offset)) }
    let bytes = UnsafeMutableRawBufferPointer(start: memory.filterBlock, count: RunFilter.blockBytes)
    guard try file.read(into: bytes, at: Format.filterStart + offset) == bytes.count,
      RunFilter.isSound(memory.filterBlock)
    else {
      throw damaged()
    }
    return RunFilter.mayContain(hash, in: memory.filterBlock)
  }

  /// Finds a key in the block where its hash belongs.
  func find(_ key: TaggedKey, hash: UInt64, _ memory: RunMemory) throws -> SpillingEntry? {
    guard blockCount > 0, try mayContain(hash, memory) else { return nil }
    let block = memory.block
    let upper = UInt32(truncatingIfNeeded: hash >> 32)
    var place = self.place(before: upper)
    while place < blockCount, index[place].hash <= upper {
      let offset = format.bodyStart + number(of: place) * UInt64(Format.blockBytes)
      guard try file.read(into: block, at: offset) == block.count, let start = block.baseAddress, Format.isSound(start)
      else {
        throw damaged()
      }
      var entries = BlockEntries(UnsafeRawBufferPointer(block))
      while try entries.next(self) {
        if entries.hash > hash { return nil }
        if entries.hash == hash, try isSame(key, entries) { return entries.entry }
      }
      place += 1
    }
    return nil
  }

  /// The last block that begins before a hash; it may hold the hash, as may those after it. Hashes are spread evenly,
  /// so the place is guessed first.
  private func place(before upper: UInt32) -> Int {
    var place = Int(upper.multipliedFullWidth(by: UInt32(truncatingIfNeeded: blockCount)).high)
    while place > 0, index[place].hash >= upper { place -= 1 }
    while place + 1 < blockCount, index[place + 1].hash < upper { place += 1 }
    return place
  }

  private func isSame(_ key: TaggedKey, _ entries: BlockEntries) throws -> Bool {
    guard entries.keyLength == key.count else { return false }
    if !entries.isLong { return key.isEqual(entries.inside) }
    let stored = UnsafeMutableRawBufferPointer.allocate(byteCount: key.count, alignment: 8)
    defer { stored.deallocate() }
    try readLong(entries, into: stored)
    return key.isEqual(UnsafeRawBufferPointer(stored))
  }

  /// Reads a long key, for which there is room; its hash checks it.
  func readLong(_ entries: BlockEntries, into bytes: UnsafeMutableRawBufferPointer) throws {
    let first = entries.firstBlock
    guard first < format.blocks,
      UInt64(entries.keyLength) <= (format.blocks - first) * UInt64(Format.blockBytes),
      try file.read(into: bytes, at: format.bodyStart + first * UInt64(Format.blockBytes)) == entries.keyLength,
      hashBytes(UnsafeRawBufferPointer(bytes)) == entries.hash
    else { throw damaged() }
  }
}

/// The entries of one block, one after the other.
struct BlockEntries {
  private typealias Format = SpilledRunFormat

  private let base: UnsafeRawPointer?
  private var rest: UInt32
  private var end = SpilledRunFormat.blockHead
  private var start = 0

  init(_ block: UnsafeRawBufferPointer) {
    base = block.baseAddress
    rest = base.map { UInt32(littleEndian: $0.load(as: UInt32.self)) } ?? 0
  }

  /// Before the first entry of nothing.
  init() { (base, rest) = (nil, 0) }

  /// Moves to the next entry; false after the last one. Throws when it does not lie in the block.
  mutating func next(_ run: SpilledRun) throws -> Bool {
    guard rest > 0 else { return false }
    start = end
    guard start + Format.entryHead <= Format.blockBytes else { throw run.damaged() }
    end = start + Format.entryHead + (isLong ? 8 : keyLength)
    guard end <= Format.blockBytes else { throw run.damaged() }
    rest -= 1
    return true
  }

  private func word(_ offset: Int) -> UInt64 {
    base.map { UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: start + offset, as: UInt64.self)) } ?? 0
  }

  var hash: UInt64 { word(0) }
  var entry: SpillingEntry {
    SpillingEntry(key: Int64(bitPattern: word(8)), entity: UInt32(truncatingIfNeeded: word(16)))
  }
  var keyLength: Int { Int(word(16) >> 32) }
  var isLong: Bool { keyLength > Format.longestKeyInside }
  /// The key, unless it is long.
  var inside: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: base.map { $0 + start + Format.entryHead }, count: keyLength)
  }
  /// Where a long key begins.
  var firstBlock: UInt64 { word(Format.entryHead) }
}
