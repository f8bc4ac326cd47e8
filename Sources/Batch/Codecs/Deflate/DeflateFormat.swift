/// The numbers of RFC 1951 that reading and writing share.
enum DeflateFormat {
  static let endOfBlock = 256
  static let longestCode = 15
  static let windowSize = 1 << 15
  static let shortestMatch = 3
  static let longestMatch = 258

  /// The lengths of matches that the symbols 257 to 285 begin with, and how many bits follow (3.2.5).
  static let lengthBases = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
  ]
  static let lengthBits = [
    0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
  ]
  /// The distances that the symbols 0 to 29 begin with, and how many bits follow.
  static let distanceBases = [
    1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145,
    8193, 12289, 16385, 24577,
  ]
  static let distanceBits = [
    0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
  ]
  /// The order in which the lengths of the code for lengths stand (3.2.7).
  static let lengthCodeOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

  /// The code of blocks without a code of their own (3.2.6).
  static let fixedLiteralLengths: [UInt8] =
    Array(repeating: 8, count: 144) + Array(repeating: 9, count: 112) + Array(repeating: 7, count: 24)
    + Array(repeating: 8, count: 8)
  static let fixedDistanceLengths: [UInt8] = Array(repeating: 5, count: 30)

  /// The code words of a canonical Huffman code, by symbol, the first bit lowest as it is written (3.2.2).
  static func codes(_ lengths: [UInt8]) -> [UInt16] {
    var counts = [Int](repeating: 0, count: longestCode + 2)
    for length in lengths where length > 0 { counts[Int(length) + 1] += 1 }
    var next = [Int](repeating: 0, count: longestCode + 2)
    for length in 1...longestCode { next[length] = (next[length - 1] + counts[length]) << 1 }
    return lengths.map { length in
      guard length > 0 else { return 0 }
      defer { next[Int(length)] += 1 }
      return reversed(next[Int(length)], bits: Int(length))
    }
  }

  static func reversed(_ code: Int, bits: Int) -> UInt16 {
    var (code, turned) = (code, 0)
    for _ in 0..<bits {
      turned = turned << 1 | code & 1
      code >>= 1
    }
    return UInt16(truncatingIfNeeded: turned)
  }
}
