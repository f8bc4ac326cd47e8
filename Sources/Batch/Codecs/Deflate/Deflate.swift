/// Writes raw deflate streams (RFC 1951), which any zlib reads. Equal bytes give an equal stream.
package struct Deflate {
  /// A literal, or a match with its distance.
  private enum Token {
    case literal(UInt8)
    case match(MatchFinder.Match)
  }

  private static let blockTokens = 1 << 14

  private let bytes: [UInt8]
  private var writer = BitWriter()
  private var tokens: [Token] = []

  package static func encode(_ bytes: [UInt8]) -> [UInt8] {
    var deflate = Deflate(bytes: bytes)
    deflate.run()
    return deflate.writer.bytes
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private mutating func run() {
    var finder = MatchFinder(bytes)
    var (position, start) = (0, 0)
    while position < bytes.count {
      let match = finder.longest(at: position)
      finder.insert(position)
      var step = 1
      // A literal goes first where the next byte begins a longer match.
      if let match, match.length >= finder.longest(at: position + 1)?.length ?? 0 {
        tokens.append(.match(match))
        step = match.length
      } else {
        tokens.append(.literal(bytes[position]))
      }
      for inner in (position + 1)..<(position + step) { finder.insert(inner) }
      position += step
      if tokens.count == Self.blockTokens, position < bytes.count {
        block(bytes[start..<position], isLast: false)
        start = position
      }
    }
    block(bytes[start...], isLast: true)
    writer.align()
  }

  /// Writes the gathered tokens in the shortest of the three ways.
  private mutating func block(_ raw: ArraySlice<UInt8>, isLast: Bool) {
    var literals = [Int](repeating: 0, count: 286)
    var distances = [Int](repeating: 0, count: 30)
    literals[DeflateFormat.endOfBlock] = 1
    for token in tokens {
      switch token {
      case .literal(let byte): literals[Int(byte)] += 1
      case .match(let match):
        literals[257 + Self.symbol(match.length, DeflateFormat.lengthBases)] += 1
        distances[Self.symbol(match.distance, DeflateFormat.distanceBases)] += 1
      }
    }
    let own = DeflateCode(literals: literals, distances: distances)
    let fixed = DeflateCode.fixed
    let extra = extraBits()
    let (ownSize, fixedSize) = (own.size(literals, distances) + extra, fixed.size(literals, distances) + extra)
    if 8 * raw.count + 35 + 40 * (raw.count >> 16) < min(ownSize, fixedSize) {
      store(raw, isLast: isLast)
    } else {
      writer.put(isLast ? 1 : 0, 1)
      write(ownSize < fixedSize ? own : fixed)
    }
    tokens = []
  }

  private func extraBits() -> Int {
    tokens.reduce(0) { bits, token in
      guard case .match(let match) = token else { return bits }
      return bits + DeflateFormat.lengthBits[Self.symbol(match.length, DeflateFormat.lengthBases)]
        + DeflateFormat.distanceBits[Self.symbol(match.distance, DeflateFormat.distanceBases)]
    }
  }

  private mutating func write(_ code: DeflateCode) {
    code.writeHeader(&writer)
    for token in tokens {
      switch token {
      case .literal(let byte): code.writeLiteral(Int(byte), &writer)
      case .match(let match):
        let length = Self.symbol(match.length, DeflateFormat.lengthBases)
        code.writeLiteral(257 + length, &writer)
        writer.put(match.length - DeflateFormat.lengthBases[length], DeflateFormat.lengthBits[length])
        let distance = Self.symbol(match.distance, DeflateFormat.distanceBases)
        code.writeDistance(distance, &writer)
        writer.put(match.distance - DeflateFormat.distanceBases[distance], DeflateFormat.distanceBits[distance])
      }
    }
    code.writeLiteral(DeflateFormat.endOfBlock, &writer)
  }

  private mutating func store(_ raw: ArraySlice<UInt8>, isLast: Bool) {
    var rest = raw
    repeat {
      let part = rest.prefix(0xFFFF)
      rest = rest.dropFirst(part.count)
      writer.put(isLast && rest.isEmpty ? 1 : 0, 3)
      writer.align()
      writer.put(part.count, 16)
      writer.put(part.count ^ 0xFFFF, 16)
      writer.append(part)
    } while !rest.isEmpty
  }

  /// The last symbol whose base is not above the number.
  private static func symbol(_ number: Int, _ bases: [Int]) -> Int {
    var (low, high) = (0, bases.count - 1)
    while low < high {
      let middle = (low + high + 1) / 2
      if bases[middle] <= number { low = middle } else { high = middle - 1 }
    }
    return low
  }
}
