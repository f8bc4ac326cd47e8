/// The scratch file of one sorter: sorted runs of blocks.
///
/// Its name is removed as soon as it is open, so that nothing is left of it however the process ends, and it is never
/// synced; but a sorter that a checkpoint continues keeps the name. A block: its length, four bytes in the machine's
/// order, then the bytes. They are not compressed: sorters write what an entry shares with the one before it shortly, and
/// more takes longer than it saves.
final class RunFile {
  /// Where a run lies, and the bytes of its largest block.
  struct Run {
    var start: UInt64
    var end: UInt64
    var largestBlock = 0
  }

  /// Usual bytes of a block.
  static let blockBytes = 1 << 13
  static let headLength = 4

  private let file: any File
  private var end: UInt64 = 0

  init(path: String, fileSystem: any FileSystem, keepsName: Bool = false) throws {
    file = keepsName ? try fileSystem.open(path, .create) : try fileSystem.openScratch(path)
  }

  /// Continues a file that kept its name behind its last run; what follows that is cut off.
  init(path: String, fileSystem: any FileSystem, after end: UInt64) throws {
    file = try fileSystem.open(path, .update)
    guard try file.size() >= end else { throw StreamsError.damagedScratch(path) }
    try file.truncate(to: end)
    self.end = end
  }

  /// Makes all runs durable.
  func sync() throws { try file.sync() }

  deinit { file.close() }

  /// Begins a run behind all others. It must be finished before the next one begins.
  func begin() -> RunOutput { RunOutput(file, at: end, before: .max) { [unowned self] in end = $0 } }

  /// Begins a run of at most so many bytes, beside which others may be written on other threads. What it does not need
  /// is a hole in the file.
  func begin(room: Int) -> RunOutput {
    let start = end
    end += UInt64(room)
    return RunOutput(file, at: start, before: end) { _ in }
  }

  /// Reads a run from its beginning.
  func reader(_ run: Run) -> RunBlocks { RunBlocks(file: file, run: run) }
}

/// Writes the blocks of one run, for one thread.
final class RunOutput {
  private let file: any File
  private let start: UInt64
  private var end: UInt64
  /// What lies from here on is another run's.
  private let limit: UInt64
  private var largestBlock = 0
  private let onEnd: (UInt64) -> Void
  /// Blocks on their way to the file, while a run is written: there may be many files.
  private var output: UnsafeMutableRawBufferPointer?
  private var filled = 0

  fileprivate init(
    _ file: any File, at start: UInt64, before limit: UInt64, onEnd: @escaping (_ end: UInt64) -> Void
  ) {
    (self.file, self.start, end, self.limit, self.onEnd) = (file, start, start, limit, onEnd)
  }

  deinit { output?.deallocate() }

  /// Appends a block.
  func append(_ block: UnsafeRawBufferPointer) throws {
    let needed = RunFile.headLength + block.count
    if filled + needed > output?.count ?? 0 {
      try flush()
      output = .allocate(byteCount: max(8 * RunFile.blockBytes, needed), alignment: 8)
    }
    guard let base = output?.baseAddress, let from = block.baseAddress else { return }
    base.storeBytes(of: UInt32(block.count), toByteOffset: filled, as: UInt32.self)
    (base + filled + RunFile.headLength).copyMemory(from: from, byteCount: block.count)
    filled += needed
    largestBlock = max(largestBlock, block.count)
  }

  private func flush() throws {
    guard let written = output else { return }
    defer {
      written.deallocate()
      output = nil
    }
    guard UInt64(filled) <= limit - end else { throw StreamsError.damagedScratch(file.path) }
    try file.write(UnsafeRawBufferPointer(rebasing: written[0..<filled]), at: end)
    end += UInt64(filled)
    filled = 0
  }

  /// Ends the run.
  func finish() throws -> RunFile.Run {
    try flush()
    onEnd(end)
    return RunFile.Run(start: start, end: end, largestBlock: largestBlock)
  }
}

/// The blocks of one run, one after the other.
final class RunBlocks {
  private let file: any File
  @exclusivity(unchecked) private var position: UInt64
  private let end: UInt64
  private let block: UnsafeMutableRawBufferPointer

  init(file: any File, run: RunFile.Run) {
    self.file = file
    (position, end) = (run.start, run.end)
    block = .allocate(byteCount: RunFile.headLength + run.largestBlock, alignment: 8)
  }

  deinit { block.deallocate() }

  /// The bytes of the next block, valid until the next call; nil at the end of the run.
  func next() throws -> UnsafeRawBufferPointer? {
    guard position < end else { return nil }
    // Few blocks are larger than is usual.
    var found = try read(0..<RunFile.headLength + RunFile.blockBytes)
    guard found >= RunFile.headLength else { throw damaged() }
    let length = Int(block.loadUnaligned(as: UInt32.self))
    let needed = RunFile.headLength + length
    guard length > 0, needed <= block.count else { throw damaged() }
    if needed > found { found += try read(found..<needed) }
    guard needed <= found else { throw damaged() }
    position += UInt64(needed)
    return UnsafeRawBufferPointer(rebasing: block[RunFile.headLength..<needed])
  }

  /// Reads some bytes of the next block, as far as there are so many; returns how many were read.
  private func read(_ bytes: Range<Int>) throws -> Int {
    let bytes = bytes.clamped(to: 0..<min(block.count, Int(clamping: end - position)))
    return try file.read(
      into: UnsafeMutableRawBufferPointer(rebasing: block[bytes]), at: position + UInt64(bytes.lowerBound))
  }

  func damaged() -> StreamsError { .damagedScratch(file.path) }
}
