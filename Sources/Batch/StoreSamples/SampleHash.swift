/// Numbers that look random and follow from what they are asked for: so nothing has to be remembered from row to row.
enum SampleHash {
  /// Spreads every bit of a number over all bits of the result; two numbers never give the same.
  @inline(__always)
  static func mix(_ number: UInt64) -> UInt64 {
    var mixed = number
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// The number at a place of an endless row of numbers, each row named by a base.
  @inline(__always)
  static func word(_ base: UInt64, _ place: UInt64) -> UInt64 {
    mix(base &+ (place &+ 1) &* 0x9E37_79B9_7F4A_7C15)
  }

  /// The base for a purpose. Bases of other seeds and of other texts are unrelated.
  static func base(_ seed: UInt64, _ texts: String...) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for text in texts {
      // The byte FF is in no UTF-8 text, so that "a", "bc" and "ab", "c" differ.
      for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
      hash = (hash ^ 0xFF) &* 0x0000_0100_0000_01B3
    }
    return mix(hash ^ mix(seed &+ 0x9E37_79B9_7F4A_7C15))
  }

  /// A number below `bound`, each as likely as any other.
  @inline(__always)
  static func below(_ bound: UInt64, _ number: UInt64) -> UInt64 { number.multipliedFullWidth(by: bound).high }
}
