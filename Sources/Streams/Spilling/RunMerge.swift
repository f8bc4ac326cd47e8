/// Makes one run of several: of the entries of a key that of the newest run stays.
struct RunMerge {
  private let cursors: [RunCursor]

  /// Takes runs from the oldest to the newest.
  init(_ runs: [SpilledRun]) { cursors = runs.map { RunCursor($0) } }

  /// Writes the run and makes it durable.
  func write(to path: String, fileSystem: any FileSystem) throws {
    let most = cursors.reduce(UInt64(0)) { $0 + $1.run.format.entries }
    let writer = try SpilledRunWriter(path: path, fileSystem: fileSystem, largestCount: most)
    for cursor in cursors { try cursor.advance() }
    while let least = least() {
      try writer.append(hash: least.hash, least.entry, least.key)
      for cursor in cursors where cursor !== least && cursor.order(to: least) == 0 { try cursor.advance() }
      try least.advance()
    }
    try writer.finish()
  }

  /// The cursor with the first entry; the newest of those at the same key.
  private func least() -> RunCursor? {
    var found: RunCursor?
    for cursor in cursors where !cursor.hasEnded {
      if let best = found, cursor.order(to: best) > 0 { continue }
      found = cursor
    }
    return found
  }
}

/// Reads a run from its beginning to its end.
private final class RunCursor {
  private static let windowBlocks: UInt64 = 64

  let run: SpilledRun
  private let window = UnsafeMutableRawBufferPointer.allocate(
    byteCount: Int(windowBlocks) * SpilledRunFormat.blockBytes, alignment: 64)
  private var windowStart: UInt64 = 0
  private var windowCount: UInt64 = 0
  private var place = 0
  private var entries = BlockEntries()
  private var long = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  private(set) var hasEnded = false
  private(set) var hash: UInt64 = 0
  private(set) var key = UnsafeRawBufferPointer(start: nil, count: 0)

  init(_ run: SpilledRun) { self.run = run }

  deinit {
    window.deallocate()
    long.deallocate()
  }

  var entry: SpillingEntry { entries.entry }

  /// How the entry stands to that of another cursor: below 0 before it, 0 for the same key. The end comes last.
  func order(to other: RunCursor) -> Int {
    if hasEnded { return 1 }
    if hash != other.hash { return hash < other.hash ? -1 : 1 }
    return compareKeys(key, other.key)
  }

  func advance() throws {
    while try !entries.next(run) {
      guard place < run.blockCount else {
        hasEnded = true
        return
      }
      entries = BlockEntries(try block(run.number(of: place)))
      place += 1
    }
    guard entries.hash >= hash else { throw run.damaged() }
    hash = entries.hash
    key = entries.isLong ? try longKey() : entries.inside
  }

  private func longKey() throws -> UnsafeRawBufferPointer {
    if long.count < entries.keyLength {
      // Not more than the file has, whatever the entry says.
      guard UInt64(entries.keyLength) <= run.format.fileLength else { throw run.damaged() }
      long.deallocate()
      long = .allocate(byteCount: entries.keyLength, alignment: 8)
    }
    let bytes = UnsafeMutableRawBufferPointer(rebasing: long[0..<entries.keyLength])
    try run.readLong(entries, into: bytes)
    return UnsafeRawBufferPointer(bytes)
  }

  private func block(_ number: UInt64) throws -> UnsafeRawBufferPointer {
    let size = SpilledRunFormat.blockBytes
    if number < windowStart || number >= windowStart + windowCount {
      windowCount = min(Self.windowBlocks, run.format.blocks - number)
      windowStart = number
      let bytes = UnsafeMutableRawBufferPointer(rebasing: window[0..<(Int(windowCount) * size)])
      guard try run.file.read(into: bytes, at: run.format.bodyStart + number * UInt64(size)) == bytes.count else {
        throw run.damaged()
      }
    }
    let start = Int(number - windowStart) * size
    let found = UnsafeRawBufferPointer(rebasing: window[start..<(start + size)])
    guard let base = found.baseAddress, SpilledRunFormat.isSound(base) else { throw run.damaged() }
    return found
  }
}
