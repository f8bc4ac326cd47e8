/// What is wrong with a deflate stream.
package struct InflateDamage: Error, CustomStringConvertible {
  package let description: String
  /// What could be read before the damage.
  package var output: [UInt8] = []
  init(_ reason: String) { description = "the deflate stream is damaged: \(reason)" }
}

/// Reads raw deflate streams (RFC 1951, without header or checksum), as model caches are packed (B.2).
package struct Inflate {
  private var bits: BitReader
  private var output: [UInt8] = []
  private let limit: Int

  /// Reads a whole stream; nothing may follow it. Throws ``InflateDamage``, also when more than `limit` bytes come out.
  package static func decode(_ bytes: [UInt8], limit: Int) throws -> [UInt8] {
    var inflate = Inflate(bits: BitReader(bytes), limit: limit)
    do {
      while try !inflate.block() {}
      guard inflate.bits.bytesLeft == 0 else { throw InflateDamage("bytes follow its end") }
    } catch var damage as InflateDamage {
      damage.output = inflate.output
      throw damage
    }
    return inflate.output
  }

  private init(bits: BitReader, limit: Int) {
    self.bits = bits
    self.limit = limit
  }

  /// Reads one block; true when it is the last one.
  private mutating func block() throws -> Bool {
    let isLast = try bits.take(1) == 1
    switch try bits.take(2) {
    case 0: try stored()
    case 1:
      guard let literals = HuffmanDecoder(DeflateFormat.fixedLiteralLengths) else { break }
      // The two distances that never occur complete the code.
      guard let distances = HuffmanDecoder(DeflateFormat.fixedDistanceLengths + [5, 5]) else { break }
      try compressed(literals, distances)
    case 2:
      let (literals, distances) = try codes()
      try compressed(literals, distances)
    default: throw InflateDamage("a block has no type")
    }
    return isLast
  }

  private mutating func stored() throws {
    bits.align()
    let (count, check) = (try bits.take(16), try bits.take(16))
    guard count == check ^ 0xFFFF else { throw InflateDamage("a stored block's length is wrong") }
    guard output.count + count <= limit else { throw InflateDamage("it holds more than \(limit) bytes") }
    let bytes = bits.bytes(count)
    output += bytes
    guard bytes.count == count else { throw InflateDamage("it ends too early") }
  }

  /// The two codes at the start of a block (3.2.7).
  private mutating func codes() throws -> (literals: HuffmanDecoder, distances: HuffmanDecoder) {
    let literalCount = try bits.take(5) + 257
    let distanceCount = try bits.take(5) + 1
    var lengthLengths = [UInt8](repeating: 0, count: DeflateFormat.lengthCodeOrder.count)
    for position in 0..<(try bits.take(4) + 4) {
      lengthLengths[DeflateFormat.lengthCodeOrder[position]] = UInt8(try bits.take(3))
    }
    guard literalCount <= 286, distanceCount <= 30, let lengthCode = HuffmanDecoder(lengthLengths) else {
      throw InflateDamage("a block's code is none")
    }
    let lengths = try codeLengths(literalCount + distanceCount, lengthCode)
    guard lengths[DeflateFormat.endOfBlock] > 0, let literals = HuffmanDecoder(Array(lengths[..<literalCount])),
      let distances = HuffmanDecoder(Array(lengths[literalCount...]))
    else { throw InflateDamage("a block's code is none") }
    return (literals, distances)
  }

  private mutating func codeLengths(_ count: Int, _ code: HuffmanDecoder) throws -> [UInt8] {
    var lengths: [UInt8] = []
    while lengths.count < count {
      let symbol = try code.symbol(&bits)
      let (value, times): (UInt8, Int)
      switch symbol {
      case 16:
        guard let last = lengths.last else { throw InflateDamage("a block's code repeats nothing") }
        (value, times) = (last, try bits.take(2) + 3)
      case 17: (value, times) = (0, try bits.take(3) + 3)
      case 18: (value, times) = (0, try bits.take(7) + 11)
      default: (value, times) = (UInt8(symbol), 1)
      }
      guard lengths.count + times <= count else { throw InflateDamage("a block's code is too long") }
      lengths += repeatElement(value, count: times)
    }
    return lengths
  }

  private mutating func compressed(_ literals: HuffmanDecoder, _ distances: HuffmanDecoder) throws {
    while true {
      let symbol = try literals.symbol(&bits)
      if symbol == DeflateFormat.endOfBlock { return }
      if symbol < DeflateFormat.endOfBlock {
        guard output.count < limit else { throw InflateDamage("it holds more than \(limit) bytes") }
        output.append(UInt8(symbol))
      } else {
        try match(symbol - 257, distances)
      }
    }
  }

  private mutating func match(_ symbol: Int, _ distances: HuffmanDecoder) throws {
    guard symbol < DeflateFormat.lengthBases.count else { throw InflateDamage("a match has no length") }
    let length = DeflateFormat.lengthBases[symbol] + (try bits.take(DeflateFormat.lengthBits[symbol]))
    let far = try distances.symbol(&bits)
    guard far < DeflateFormat.distanceBases.count else { throw InflateDamage("a match has no distance") }
    let distance = DeflateFormat.distanceBases[far] + (try bits.take(DeflateFormat.distanceBits[far]))
    guard distance <= output.count else { throw InflateDamage("a match begins before the start") }
    guard output.count + length <= limit else { throw InflateDamage("it holds more than \(limit) bytes") }
    // A match may reach into itself: that is how runs are written.
    for position in (output.count - distance)..<(output.count - distance + length) { output.append(output[position]) }
  }
}
