import Streams

/// A to-many relationship as a sorted file of (owner, other) pairs: made once a step, read mostly forwards.
///
/// An immutable file of 16 bytes a pair, little-endian; it gets its name only when it is whole and durable, so a resumed run
/// takes it as it is.
final class RelationRun {
  private static let pairLength = 16
  private static let windowPairs = 4096

  private let file: any File
  private let count: Int
  private var window: [UInt8]
  private var windowStart = 0
  private var windowCount = 0
  private var cursor = 0

  /// Opens the run, or makes it: `fill` calls its argument with owner, order and other for every pair, in any order.
  init(
    path: String, identifier: String, scratch: StepFiles,
    fill: (_ add: (Int64, Int64, Int64) throws -> Void) throws -> Void
  ) throws {
    if try scratch.fileSystem.status(path) == nil { try Self.make(path, scratch, fill) }
    file = try scratch.fileSystem.open(path, .read)
    guard let pairs = Int(exactly: try file.size() / UInt64(Self.pairLength)) else {
      throw BatchError(.failed, "the relationship file of \(identifier) is too large", path: path)
    }
    count = pairs
    window = [UInt8](repeating: 0, count: Self.windowPairs * Self.pairLength)
  }

  deinit { file.close() }

  private static func make(
    _ path: String, _ scratch: StepFiles, _ fill: (_ add: (Int64, Int64, Int64) throws -> Void) throws -> Void
  ) throws {
    let sorter = ExternalSorter(
      memoryBytes: scratch.budget.sortBytes, path: path + ".sort", fileSystem: scratch.fileSystem)
    var key = [UInt8](repeating: 0, count: 24)
    try fill { owner, order, other in
      for (index, word) in [owner, order, other].enumerated() {
        let biased = (UInt64(bitPattern: word) ^ 1 << 63).bigEndian
        key.withUnsafeMutableBytes { $0.storeBytes(of: biased, toByteOffset: 8 * index, as: UInt64.self) }
      }
      try key.withUnsafeBytes { try sorter.add($0) }
    }
    let temporary = path + ".tmp"
    let file = try scratch.fileSystem.open(temporary, .create)
    defer { file.close() }
    var buffer: [UInt8] = []
    var end: UInt64 = 0
    func flush() throws {
      try buffer.withUnsafeBytes { try file.write($0, at: end) }
      end += UInt64(buffer.count)
      buffer.removeAll(keepingCapacity: true)
    }
    try sorter.drain { key in
      for offset in [0, 16] {
        let word = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) ^ 1 << 63
        withUnsafeBytes(of: word.littleEndian) { buffer.append(contentsOf: $0) }
      }
      if buffer.count >= 1 << 17 { try flush() }
    }
    try flush()
    try file.sync()
    try scratch.fileSystem.rename(temporary, to: path)
  }

  private func word(_ index: Int, _ offset: Int) throws -> Int64 {
    if index < windowStart || index >= windowStart + windowCount { try load(index) }
    return window.withUnsafeBytes {
      Int64(
        littleEndian: $0.loadUnaligned(
          fromByteOffset: (index - windowStart) * Self.pairLength + offset, as: Int64.self))
    }
  }

  private func load(_ index: Int) throws {
    windowStart = index
    windowCount = min(Self.windowPairs, count - index)
    let length = windowCount * Self.pairLength
    _ = try window.withUnsafeMutableBytes {
      try file.read(
        into: UnsafeMutableRawBufferPointer(rebasing: $0[0..<length]), at: UInt64(index * Self.pairLength))
    }
  }

  /// The others of an owner, in order.
  func values(_ owner: Int64) throws -> [Int64] {
    var found: [Int64] = []
    try forEach(owner) { found.append($0) }
    return found
  }

  /// Calls `body` with the others of an owner, in order: they may be too many for memory.
  func forEach(_ owner: Int64, _ body: (Int64) throws -> Void) throws {
    try seek(owner)
    while cursor < count, try word(cursor, 0) == owner {
      try body(try word(cursor, 8))
      cursor += 1
    }
  }

  /// Owners mostly come in ascending order: a few steps forward, else by halving.
  private func seek(_ owner: Int64) throws {
    if cursor == 0 || cursor <= count, try cursor == 0 || word(cursor - 1, 0) < owner {
      for _ in 0..<8 {
        if try cursor == count || word(cursor, 0) >= owner { return }
        cursor += 1
      }
    }
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if try word(middle, 0) < owner { low = middle + 1 } else { high = middle }
    }
    cursor = low
  }
}
