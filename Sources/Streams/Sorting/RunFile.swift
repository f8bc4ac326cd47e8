/// The scratch file of one sorter: sorted runs of blocks, each compressed with LZ4 where that makes it smaller.
///
/// Its name is removed as soon as it is open, so that nothing is left of it however the process ends; it is never
/// synced. A block: its length, its stored length, four bytes each in the machine's order, then the bytes; equal
/// lengths mean bytes that are not compressed.
final class RunFile {
  /// Where a run lies, and the bytes of its largest block.
  struct Run {
    var start: UInt64
    var end: UInt64
    var largestBlock = 0
  }

  /// Usual bytes of a block before compression.
  static let blockBytes = 1 << 14
  static let headLength = 8

  private let file: any File
  private var end: UInt64 = 0
  private var run = Run(start: 0, end: 0)
  private var output: UnsafeMutableRawBufferPointer
  private var filled = 0

  init(path: String, fileSystem: any FileSystem) throws {
    file = try fileSystem.open(path, .create)
    output = .allocate(byteCount: 4 * Self.blockBytes, alignment: 8)
    try fileSystem.remove(path)
  }

  deinit {
    output.deallocate()
    file.close()
  }

  /// Appends a block to the run at work.
  func append(_ block: UnsafeRawBufferPointer) throws {
    let needed = Self.headLength + block.count
    if filled + needed > output.count { try flush() }
    if needed > output.count {
      output.deallocate()
      output = .allocate(byteCount: needed, alignment: 8)
    }
    guard let base = output.baseAddress, let from = block.baseAddress else { return }
    let target = UnsafeMutableRawBufferPointer(rebasing: output[(filled + Self.headLength)..<(filled + needed)])
    var stored = LZ4Block.compress(block, into: target)
    if stored == 0 {
      target.baseAddress?.copyMemory(from: from, byteCount: block.count)
      stored = block.count
    }
    base.storeBytes(of: UInt32(block.count), toByteOffset: filled, as: UInt32.self)
    base.storeBytes(of: UInt32(stored), toByteOffset: filled + 4, as: UInt32.self)
    filled += Self.headLength + stored
    run.largestBlock = max(run.largestBlock, block.count)
  }

  private func flush() throws {
    try file.write(UnsafeRawBufferPointer(rebasing: output[0..<filled]), at: end)
    end += UInt64(filled)
    filled = 0
  }

  /// Ends the run at work; the next block begins another one.
  func finishRun() throws -> Run {
    try flush()
    var finished = run
    finished.end = end
    run = Run(start: end, end: end)
    return finished
  }

  /// Reads a run from its beginning.
  func reader(_ run: Run) -> RunBlocks { RunBlocks(file: file, run: run) }
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
    block = .allocate(byteCount: max(1, run.largestBlock), alignment: 8)
  }

  deinit { block.deallocate() }

  /// The bytes of the next block, valid until the next call; nil at the end of the run. `input` is room to read into,
  /// as large as the run's largest block with its head.
  func next(_ input: UnsafeMutableRawBufferPointer) throws -> UnsafeRawBufferPointer? {
    guard position < end else { return nil }
    let want = min(input.count, Int(clamping: end - position))
    let found = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: input[0..<want]), at: position)
    guard found >= RunFile.headLength else { throw damaged() }
    let length = Int(input.loadUnaligned(as: UInt32.self))
    let stored = Int(input.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
    guard length <= block.count, stored <= length, stored <= found - RunFile.headLength else { throw damaged() }
    position += UInt64(RunFile.headLength + stored)
    let bytes = UnsafeRawBufferPointer(rebasing: input[RunFile.headLength..<(RunFile.headLength + stored)])
    let target = UnsafeMutableRawBufferPointer(rebasing: block[0..<length])
    if stored == length {
      target.copyMemory(from: bytes)
    } else if !LZ4Block.decompress(bytes, into: target) {
      throw damaged()
    }
    return UnsafeRawBufferPointer(target)
  }

  func damaged() -> StreamsError {
    StreamsError(.inputOutput, "a scratch file does not hold what was written to it", path: file.path)
  }
}
