/// Writes entries in the order of their hashes as a run: filter, blocks and index at once, in bounded memory except for
/// the index, eight bytes for every block of 4 KiB.
final class SpilledRunWriter {
  private typealias Format = SpilledRunFormat
  private static let windowBytes = 1 << 16

  private let file: any File
  private var format = SpilledRunFormat()
  private let filter: UnsafeMutableRawPointer
  /// Which window of the filter is in memory.
  private var window: UInt64 = 0
  private let body: UnsafeMutableRawPointer
  /// Bytes of `body` that are whole blocks, and where in it the open block ends.
  private var whole = 0
  private var open = 0
  private var written: UInt64 = 0
  private var index: [UInt8] = []

  /// Begins a run of at most so many entries.
  init(path: String, fileSystem: any FileSystem, largestCount: UInt64) throws {
    file = try fileSystem.open(path, .create)
    format.filterBlocks = RunFilter.blocks(keys: largestCount)
    filter = .allocate(byteCount: Self.windowBytes, alignment: 64)
    body = .allocate(byteCount: Self.windowBytes, alignment: 64)
    filter.clear(Self.windowBytes)
    body.clear(Self.windowBytes)
  }

  deinit {
    filter.deallocate()
    body.deallocate()
    file.close()
  }

  /// Appends an entry; hashes ascend, and of equal hashes keys do.
  func append(hash: UInt64, _ entry: SpillingEntry, _ key: UnsafeRawBufferPointer) throws {
    try addToFilter(hash)
    let isLong = key.count > Format.longestKeyInside
    let length = Format.entryHead + (isLong ? 8 : key.count)
    if open > 0, open + length > whole + Format.blockBytes { try closeBlock() }
    let place = isLong ? try writeLong(key) : 0
    if open == 0 { beginBlock(hash) }
    let target = body + open
    target.storeBytes(of: hash.littleEndian, as: UInt64.self)
    target.storeBytes(of: entry.key.littleEndian, toByteOffset: 8, as: Int64.self)
    target.storeBytes(of: entry.entity.littleEndian, toByteOffset: 16, as: UInt32.self)
    target.storeBytes(of: UInt32(truncatingIfNeeded: key.count).littleEndian, toByteOffset: 20, as: UInt32.self)
    if isLong {
      target.storeBytes(of: place.littleEndian, toByteOffset: Format.entryHead, as: UInt64.self)
    } else if let base = key.baseAddress {
      (target + Format.entryHead).copyMemory(from: base, byteCount: key.count)
    }
    open += length
    let count = UInt32(littleEndian: body.load(fromByteOffset: whole, as: UInt32.self)) + 1
    body.storeBytes(of: count.littleEndian, toByteOffset: whole, as: UInt32.self)
    format.entries += 1
  }

  private func addToFilter(_ hash: UInt64) throws {
    let perWindow = UInt64(Self.windowBytes / RunFilter.blockBytes)
    let block = RunFilter.block(hash, of: format.filterBlocks)
    if block / perWindow != window {
      try flushFilter()
      window = block / perWindow
    }
    RunFilter.insert(hash, into: filter + Int(block % perWindow) * RunFilter.blockBytes)
  }

  private func flushFilter() throws {
    let start = window * UInt64(Self.windowBytes)
    let length = min(UInt64(Self.windowBytes), format.filterBlocks * UInt64(RunFilter.blockBytes) - start)
    for offset in stride(from: 0, to: Int(length), by: RunFilter.blockBytes) { RunFilter.seal(filter + offset) }
    try file.write(UnsafeRawBufferPointer(start: filter, count: Int(length)), at: Format.filterStart + start)
    filter.clear(Self.windowBytes)
  }

  private func beginBlock(_ hash: UInt64) {
    withUnsafeBytes(of: UInt32(truncatingIfNeeded: hash >> 32).littleEndian) { index.append(contentsOf: $0) }
    withUnsafeBytes(of: UInt32(truncatingIfNeeded: format.blocks).littleEndian) { index.append(contentsOf: $0) }
    format.indexEntries += 1
    format.blocks += 1
    open = whole + Format.blockHead
  }

  private func closeBlock() throws {
    guard open > 0 else { return }
    Format.seal(body + whole)
    whole += Format.blockBytes
    open = 0
    if whole == Self.windowBytes { try flushBody() }
  }

  private func flushBody() throws {
    try file.write(UnsafeRawBufferPointer(start: body, count: whole), at: format.bodyStart + written)
    written += UInt64(whole)
    body.clear(Self.windowBytes)
    whole = 0
  }

  /// Writes a long key into blocks of its own before the block of its entry, and returns the first.
  private func writeLong(_ key: UnsafeRawBufferPointer) throws -> UInt64 {
    try closeBlock()
    try flushBody()
    let first = format.blocks
    try file.write(key, at: format.bodyStart + written)
    let blocks = Format.rounded(UInt64(key.count)) / UInt64(Format.blockBytes)
    format.blocks += blocks
    written += blocks * UInt64(Format.blockBytes)
    return first
  }

  /// Writes what is left and makes the run durable; its name is so after the directory's sync.
  func finish() throws {
    try closeBlock()
    try flushBody()
    try flushFilter()
    format.indexCheck = index.withUnsafeBytes { hashBytes($0) }
    try index.withUnsafeBytes { try file.write($0, at: format.indexStart) }
    try format.header.withUnsafeBytes { try file.write($0, at: 0) }
    try file.truncate(to: format.fileLength)
    try file.sync()
  }
}
