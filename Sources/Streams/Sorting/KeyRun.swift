/// A sorted run of byte strings.
struct KeyRun {
  var run: RunFile.Run
  /// Bytes of the longest key.
  var largestKey: Int
}

extension KeyRun {
  /// Together with a run that follows in the file. What its first key shares with the one before it is not written.
  func continued(by next: KeyRun) -> KeyRun {
    KeyRun(
      run: RunFile.Run(
        start: run.start, end: next.run.end, largestBlock: max(run.largestBlock, next.run.largestBlock)),
      largestKey: max(largestKey, next.largestKey))
  }

  private static let most = 1 << 31

  /// Whether a run may have such numbers: memory is taken for them.
  var isPossible: Bool {
    run.start <= run.end && 0...Self.most ~= run.largestBlock && 0...Self.most ~= largestKey
  }
}

/// Writes sorted keys as a run: of each the number of bytes that it shares with the beginning of the key before it, the
/// number of those that follow, both as varints, and these. None is cut by the end of a block.
final class KeyRunWriter {
  private static let largestHead = 2 * Varint.maximumLength

  /// Bytes in the file of so many keys of so many bytes, at most: each block has a head, and one key or more.
  static func room(keys: Int, bytes: Int) -> Int { bytes + keys * (largestHead + RunFile.headLength) }

  private let output: RunOutput
  private var block: UnsafeMutableRawBufferPointer
  @exclusivity(unchecked) private var filled = 0
  @exclusivity(unchecked) private var previous: UnsafeMutableRawBufferPointer
  @exclusivity(unchecked) private var previousLength = 0
  @exclusivity(unchecked) private var largestKey = 0

  init(_ output: RunOutput) {
    self.output = output
    block = .allocate(byteCount: RunFile.blockBytes, alignment: 8)
    previous = .allocate(byteCount: 256, alignment: 8)
  }

  deinit {
    block.deallocate()
    previous.deallocate()
  }

  func append(_ key: UnsafeRawBufferPointer) throws {
    let shared = commonPrefix(UnsafeRawBufferPointer(rebasing: previous[0..<previousLength]), key)
    let rest = key.count - shared
    if filled + Self.largestHead + rest > block.count { try makeRoom(Self.largestHead + rest) }
    guard let base = block.baseAddress, let from = key.baseAddress else { return }
    filled += Varint.write(UInt64(shared), to: base + filled)
    filled += Varint.write(UInt64(rest), to: base + filled)
    (base + filled).copyMemory(from: from + shared, byteCount: rest)
    filled += rest
    remember(key, from: shared)
    // A key that is larger than a usual block is a block of its own.
    if filled > RunFile.blockBytes { try flush() }
  }

  private func makeRoom(_ needed: Int) throws {
    try flush()
    guard needed > block.count else { return }
    block.deallocate()
    block = .allocate(byteCount: needed, alignment: 8)
  }

  private func remember(_ key: UnsafeRawBufferPointer, from shared: Int) {
    largestKey = max(largestKey, key.count)
    if key.count > previous.count {
      let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: max(key.count, 2 * previous.count), alignment: 8)
      larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: previous[0..<shared]))
      previous.deallocate()
      previous = larger
    }
    if let to = previous.baseAddress, let from = key.baseAddress {
      (to + shared).copyMemory(from: from + shared, byteCount: key.count - shared)
    }
    previousLength = key.count
  }

  private func flush() throws {
    guard filled > 0 else { return }
    try output.append(UnsafeRawBufferPointer(rebasing: block[0..<filled]))
    filled = 0
  }

  func finish() throws -> KeyRun {
    try flush()
    return KeyRun(run: try output.finish(), largestKey: largestKey)
  }
}
