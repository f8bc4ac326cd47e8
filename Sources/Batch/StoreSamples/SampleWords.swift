/// Readable words that mean nothing, appended as UTF-8.
enum SampleWords {
  /// 64 syllables of two letters each: six bits choose one.
  private static let syllables: [UInt8] = "bcdfghklmnprstvz".utf8.flatMap { consonant in
    "aeio".utf8.flatMap { [consonant, $0] }
  }

  /// Appends two to five words, the first with a capital; now and then one with an accent, so that not all text is
  /// ASCII.
  static func appendText(_ number: UInt64, to bytes: inout [UInt8]) {
    let count = 2 + number & 3
    for place in 0..<count {
      if place > 0 { bytes.append(0x20) }
      let word = SampleHash.word(number, place)
      appendWord(word >> 2, syllables: 2 + Int(word & 3) / 2, isCapital: place == 0, to: &bytes)
    }
    if number >> 59 == 0 { bytes.append(contentsOf: " é".utf8) }
  }

  /// Appends a name of two words. The first alone tells names of other indexes apart, as long as `index` is below
  /// 2^`bits`.
  static func appendName(_ index: UInt64, bits: UInt64, base: UInt64, to bytes: inout [UInt8]) {
    // An odd factor permutes the numbers of so many bits.
    let permuted = (index &* (base | 1) &+ base >> 32) & (1 << bits - 1)
    appendWord(permuted, syllables: Int(bits / 6), isCapital: true, to: &bytes)
    bytes.append(0x20)
    let second = SampleHash.word(base, index)
    appendWord(second >> 1, syllables: 2 + Int(second & 1), isCapital: true, to: &bytes)
  }

  /// The bits that a name needs to tell so many apart: whole syllables, three at least.
  static func nameBits(count: UInt64) -> UInt64 {
    let needed = UInt64(64 - (max(count, 1) - 1).leadingZeroBitCount)
    return max(18, (needed + 5) / 6 * 6)
  }

  /// Appends a word of at most ten syllables.
  static func appendWord(_ number: UInt64, syllables count: Int, isCapital: Bool, to bytes: inout [UInt8]) {
    let start = bytes.count
    var rest = number
    for _ in 0..<count {
      let syllable = 2 * Int(rest & 63)
      bytes.append(syllables[syllable])
      bytes.append(syllables[syllable + 1])
      rest >>= 6
    }
    if isCapital, start < bytes.count { bytes[start] &-= 0x20 }
  }

  /// Appends a number in decimal digits.
  static func appendDecimal(_ number: UInt64, minimumDigits: Int = 1, to bytes: inout [UInt8]) {
    let start = bytes.count
    var rest = number
    while rest > 0 || bytes.count - start < minimumDigits {
      bytes.append(0x30 + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    }
    bytes[start...].reverse()
  }
}
