import RunSupport
import Streams

/// A to-many relationship as a sorted file of (owner, other) pairs: made once a step, read mostly forwards.
///
/// An immutable file of blocks with checks; it gets its name only when it is whole and durable, so a resumed run takes
/// it as it is. Layout: FORMAT.md, "Relationship runs".
package final class RelationRun {
  private static let pairLength = 16
  private static let blockLength = 4096
  private static let pairsPerBlock = 255
  private static let windowBlocks = 16

  private let file: any File
  private let blocks: Int
  private var count = 0
  private var window = [UInt8](repeating: 0, count: windowBlocks * blockLength)
  private var windowStart = 0
  private var windowCount = 0
  private var cursor = 0

  /// Opens the run, or makes it: `fill` calls its argument with owner, order and other for every pair, in any order.
  package init(
    path: String, identifier: String, scratch: StepFiles,
    fill: (_ add: (Int64, Int64, Int64) throws -> Void) throws -> Void
  ) throws {
    if try scratch.fileSystem.status(path) == nil { try Self.make(path, scratch: scratch, fill: fill) }
    file = try scratch.fileSystem.open(path, .read)
    let size = try file.size()
    guard let blocks = Int(exactly: size / UInt64(Self.blockLength)), blocks > 0, blocks < Int.max / Self.blockLength,
      size % UInt64(Self.blockLength) == 0
    else { throw Self.damage(path) }
    self.blocks = blocks
    // Only the last block is not full: a file that was cut off has none such.
    try load(block: blocks - 1)
    count = (blocks - 1) * Self.pairsPerBlock + windowCount
  }

  deinit { file.close() }

  private static func damage(_ path: String) -> StreamsError {
    StreamsError(
      .damagedCheckpoint, "the sorted links of a relationship are damaged", path: path,
      hint: "Check the disk, then remove this file and resume: it is made again from the source")
  }

  private static func make(
    _ path: String, scratch: StepFiles, fill: (_ add: (Int64, Int64, Int64) throws -> Void) throws -> Void
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
    var (block, number) = ([UInt8](), 0)
    func flush() throws {
      seal(&block, number)
      try block.withUnsafeBytes { try file.write($0, at: UInt64(number * blockLength)) }
      block.removeAll(keepingCapacity: true)
      number += 1
    }
    try sorter.drain { key in
      for offset in [0, 16] {
        let word = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) ^ 1 << 63
        withUnsafeBytes(of: word.littleEndian) { block.append(contentsOf: $0) }
      }
      guard block.count == pairsPerBlock * pairLength else { return }
      try flush()
      try scratch.throwIfStopped()
    }
    try flush()
    try file.sync()
    try scratch.fileSystem.rename(temporary, to: path)
  }

  /// Fills a block up with zeros, its number, how many pairs it has, and the hash of all that.
  private static func seal(_ block: inout [UInt8], _ number: Int) {
    let pairs = block.count / pairLength
    block += [UInt8](repeating: 0, count: pairsPerBlock * pairLength - block.count)
    for word in [UInt32(truncatingIfNeeded: number), UInt32(pairs)] {
      withUnsafeBytes(of: word.littleEndian) { block.append(contentsOf: $0) }
    }
    let check = block.withUnsafeBytes { hashBytes($0) }
    withUnsafeBytes(of: check.littleEndian) { block.append(contentsOf: $0) }
  }

  private func word(_ index: Int, _ offset: Int) throws -> Int64 {
    if index < windowStart || index >= windowStart + windowCount { try load(block: index / Self.pairsPerBlock) }
    let (block, pair) = (index - windowStart).quotientAndRemainder(dividingBy: Self.pairsPerBlock)
    return window.withUnsafeBytes {
      Int64(
        littleEndian: $0.loadUnaligned(
          fromByteOffset: block * Self.blockLength + pair * Self.pairLength + offset, as: Int64.self))
    }
  }

  /// Loads a block and some after it, and proves each.
  private func load(block first: Int) throws {
    let loaded = min(Self.windowBlocks, blocks - first)
    let length = loaded * Self.blockLength
    let pairs = try window.withUnsafeMutableBytes { bytes in
      let part = UnsafeMutableRawBufferPointer(rebasing: bytes[..<length])
      guard try file.read(into: part, at: UInt64(first * Self.blockLength)) == length else {
        throw Self.damage(file.path)
      }
      return try (0..<loaded).map { block in
        let start = block * Self.blockLength
        let bytes = UnsafeRawBufferPointer(rebasing: part[start..<start + Self.blockLength])
        guard let pairs = Self.pairs(bytes, number: first + block, isLast: first + block == blocks - 1) else {
          throw Self.damage(file.path)
        }
        return pairs
      }
    }
    (windowStart, windowCount) = (first * Self.pairsPerBlock, pairs.reduce(0, +))
  }

  /// The pairs of a block; nil if it is not what was written.
  private static func pairs(_ block: UnsafeRawBufferPointer, number: Int, isLast: Bool) -> Int? {
    let place = pairsPerBlock * pairLength
    let check = UInt64(littleEndian: block.load(fromByteOffset: place + 8, as: UInt64.self))
    guard hashBytes(UnsafeRawBufferPointer(rebasing: block[..<(place + 8)])) == check,
      UInt32(littleEndian: block.load(fromByteOffset: place, as: UInt32.self)) == UInt32(truncatingIfNeeded: number)
    else { return nil }
    let pairs = Int(UInt32(littleEndian: block.load(fromByteOffset: place + 4, as: UInt32.self)))
    return (isLast ? pairs < pairsPerBlock : pairs == pairsPerBlock) ? pairs : nil
  }

  /// The others of an owner, in order.
  func values(_ owner: Int64) throws -> [Int64] {
    var found: [Int64] = []
    try forEach(owner) { found.append($0) }
    return found
  }

  /// Calls `body` with the others of an owner, in order: they may be too many for memory.
  package func forEach(_ owner: Int64, _ body: (Int64) throws -> Void) throws {
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
