/// Keys of objects: two bytes each, and no more than a bit where they stand close together.
final class KeySet {
  /// The keys of 65,536 numbers: sorted, or as bits where they are many.
  private final class Block {
    var few: [UInt16] = []
    var many: [UInt64] = []
  }

  /// From so many keys on a block takes less as bits.
  private static let mostFew = 4096
  private static let bitWords = 1024
  /// What a block takes beside its keys.
  private static let blockBytes = 192

  private var blocks: [Int64: Block] = [:]
  private(set) var count: UInt64 = 0
  /// About the memory that it takes.
  private(set) var byteCount = 0

  var isEmpty: Bool { count == 0 }

  func contains(_ key: Int64) -> Bool {
    guard let block = blocks[key >> 16] else { return false }
    let low = UInt16(truncatingIfNeeded: key)
    guard block.many.isEmpty else { return block.many[Int(low >> 6)] & Self.bit(low) != 0 }
    let place = Self.place(of: low, in: block.few)
    return place < block.few.count && block.few[place] == low
  }

  /// Adds a key; false if it is there already.
  @discardableResult
  func insert(_ key: Int64) -> Bool {
    let (block, low) = (block(key >> 16), UInt16(truncatingIfNeeded: key))
    if block.many.isEmpty {
      let place = Self.place(of: low, in: block.few)
      guard place == block.few.count || block.few[place] != low else { return false }
      block.few.insert(low, at: place)
      byteCount += 4
      if block.few.count > Self.mostFew { spread(block) }
    } else {
      guard block.many[Int(low >> 6)] & Self.bit(low) == 0 else { return false }
      block.many[Int(low >> 6)] |= Self.bit(low)
    }
    count += 1
    return true
  }

  /// Removes a key that is there.
  func remove(_ key: Int64) {
    guard contains(key), let block = blocks[key >> 16] else { return }
    let low = UInt16(truncatingIfNeeded: key)
    if block.many.isEmpty {
      block.few.remove(at: Self.place(of: low, in: block.few))
      byteCount -= 4
    } else {
      block.many[Int(low >> 6)] &= ~Self.bit(low)
    }
    count -= 1
  }

  /// Calls `body` with every key, in ascending order.
  func forEach(_ body: (Int64) throws -> Void) rethrows {
    for number in blocks.keys.sorted() {
      guard let block = blocks[number] else { continue }
      for low in block.few { try body(number << 16 | Int64(low)) }
      for (place, word) in block.many.enumerated() {
        var rest = word
        while rest != 0 {
          try body(number << 16 | Int64(place << 6 | rest.trailingZeroBitCount))
          rest &= rest - 1
        }
      }
    }
  }

  private func block(_ number: Int64) -> Block {
    if let block = blocks[number] { return block }
    let block = Block()
    blocks[number] = block
    byteCount += Self.blockBytes
    return block
  }

  private func spread(_ block: Block) {
    block.many = [UInt64](repeating: 0, count: Self.bitWords)
    for low in block.few { block.many[Int(low >> 6)] |= Self.bit(low) }
    byteCount += 8 * Self.bitWords - 4 * block.few.count
    block.few = []
  }

  private static func bit(_ low: UInt16) -> UInt64 { 1 << UInt64(low & 63) }

  /// Where a key stands, or would stand. Keys mostly come in order.
  private static func place(of low: UInt16, in few: [UInt16]) -> Int {
    if let last = few.last, last < low { return few.count }
    var (first, end) = (0, few.count)
    while first < end {
      let middle = (first + end) / 2
      if few[middle] < low { first = middle + 1 } else { end = middle }
    }
    return first
  }
}
