/// Decodes one canonical Huffman code. Words of up to nine bits are looked up, longer ones are counted through, so that
/// a table is made in few steps: a damaged stream can ask for many.
struct HuffmanDecoder {
  private static let lookupBits = 9

  /// By the next nine bits: symbol and, in the low four bits, length; 0 where the word is longer or none.
  private var lookup = [UInt16](repeating: 0, count: 1 << HuffmanDecoder.lookupBits)
  /// How many words have each length.
  private var counts = [Int](repeating: 0, count: DeflateFormat.longestCode + 1)
  /// The symbols in the order of their words.
  private var symbols: [UInt16] = []

  /// Nil when the lengths make no code, or one in which words are missing; a single word of one bit is allowed.
  init?(_ lengths: [UInt8]) {
    for length in lengths where length > 0 { counts[Int(length)] += 1 }
    var free = 1
    for length in 1...DeflateFormat.longestCode {
      free = free << 1 - counts[length]
      guard free >= 0 else { return nil }
    }
    let used = counts.reduce(0, +)
    guard free == 0 || used == 0 || used == 1 && counts[1] == 1 else { return nil }
    for length in 1...DeflateFormat.longestCode where counts[length] > 0 {
      for (symbol, other) in lengths.enumerated() where Int(other) == length { symbols.append(UInt16(symbol)) }
    }
    fillLookup(lengths)
  }

  private mutating func fillLookup(_ lengths: [UInt8]) {
    let codes = DeflateFormat.codes(lengths)
    for (symbol, length) in lengths.enumerated() where length > 0 && Int(length) <= Self.lookupBits {
      var position = Int(codes[symbol])
      while position < lookup.count {
        lookup[position] = UInt16(symbol << 4) | UInt16(length)
        position += 1 << Int(length)
      }
    }
  }

  func symbol(_ bits: inout BitReader) throws -> Int {
    let entry = lookup[bits.peek(Self.lookupBits)]
    guard entry == 0 else {
      _ = try bits.take(Int(entry & 0xF))
      return Int(entry >> 4)
    }
    var (code, first, index) = (0, 0, 0)
    for length in 1...DeflateFormat.longestCode {
      code |= try bits.take(1)
      let count = counts[length]
      if code - first < count { return Int(symbols[index + code - first]) }
      index += count
      first = (first + count) << 1
      code <<= 1
    }
    throw InflateDamage("a code word means nothing")
  }
}
