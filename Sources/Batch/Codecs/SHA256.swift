import CSHA256

/// SHA-256 as FIPS 180-4 defines it: by the processor's own instructions if it has them, else in Swift.
///
/// Why it is our own: docs/decisions/0002-own-sha256.md.
package struct SHA256 {
  private static let hasInstructions = godwit_sha256_available()

  /// Whether the blocks are taken in by the processor's instructions.
  private let usesInstructions: Bool
  private var state = initialState
  /// What does not fill a block yet.
  private var rest: [UInt8] = []
  private var length: UInt64 = 0

  /// A hash of nothing yet; `portable` takes it through Swift alone, on every processor the same way.
  package init(portable: Bool = false) { usesInstructions = !portable && Self.hasInstructions }

  /// The digest of the bytes.
  package static func hash(_ bytes: some Sequence<UInt8>, portable: Bool = false) -> [UInt8] {
    var hash = SHA256(portable: portable)
    hash.update(bytes)
    return hash.finalize()
  }

  /// Adds bytes to what is hashed.
  package mutating func update(_ bytes: some Sequence<UInt8>) {
    guard bytes.withContiguousStorageIfAvailable({ add($0) }) == nil else { return }
    Array(bytes).withUnsafeBufferPointer { add($0) }
  }

  private mutating func add(_ bytes: UnsafeBufferPointer<UInt8>) {
    length &+= UInt64(bytes.count)
    let filling = rest.isEmpty ? 0 : min(64 - rest.count, bytes.count)
    rest += bytes.prefix(filling)
    if rest.count == 64 {
      let block = rest
      block.withUnsafeBufferPointer { if let base = $0.baseAddress { compress(base, count: 64) } }
      rest.removeAll(keepingCapacity: true)
    }
    let whole = (bytes.count - filling) & ~63
    if whole > 0, let base = bytes.baseAddress { compress(base + filling, count: whole) }
    rest += bytes.dropFirst(filling + whole)
  }

  /// The digest of everything added. The value must not be used afterwards.
  package mutating func finalize() -> [UInt8] {
    let bits = length &* 8
    update([0x80] + Array(repeating: 0, count: (119 - rest.count) & 63))
    update((0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * UInt64($0))) })
    return state.flatMap { word in
      (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * UInt32($0))) }
    }
  }

  /// Takes in whole blocks. The Swift path is written so that it is quick if nothing is optimized, too: tests hash
  /// much.
  private mutating func compress(_ bytes: UnsafePointer<UInt8>, count: Int) {
    if usesInstructions {
      return state.withUnsafeMutableBufferPointer { godwit_sha256_blocks($0.baseAddress, bytes, count) }
    }
    withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { room in
      guard let words = room.baseAddress else { return }
      Self.constants.withUnsafeBufferPointer { constants in
        state.withUnsafeMutableBufferPointer { state in
          guard let constants = constants.baseAddress, let state = state.baseAddress else { return }
          var start = 0
          while start < count {
            Self.schedule(bytes + start, words)
            Self.round(words, constants: constants, state: state)
            start &+= 64
          }
        }
      }
    }
  }

  private static func schedule(_ block: UnsafePointer<UInt8>, _ words: UnsafeMutablePointer<UInt32>) {
    var t = 0
    while t < 16 {
      words[t] = UnsafeRawPointer(block).loadUnaligned(fromByteOffset: t &* 4, as: UInt32.self).bigEndian
      t &+= 1
    }
    while t < 64 {
      let (x, y) = (words[t &- 15], words[t &- 2])
      let s0 = (x &>> 7 | x &<< 25) ^ (x &>> 18 | x &<< 14) ^ (x &>> 3)
      let s1 = (y &>> 17 | y &<< 15) ^ (y &>> 19 | y &<< 13) ^ (y &>> 10)
      words[t] = words[t &- 16] &+ s0 &+ words[t &- 7] &+ s1
      t &+= 1
    }
  }

  /// The 64 steps, eight at a time: the working variables change their roles from step to step instead of their places.
  private static func round(
    _ words: UnsafeMutablePointer<UInt32>, constants: UnsafePointer<UInt32>, state: UnsafeMutablePointer<UInt32>
  ) {
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    var t = 0
    while t < 64 {
      step(a, b: b, c: c, d: &d, e: e, f: f, g: g, h: &h, word: constants[t] &+ words[t])
      step(h, b: a, c: b, d: &c, e: d, f: e, g: f, h: &g, word: constants[t &+ 1] &+ words[t &+ 1])
      step(g, b: h, c: a, d: &b, e: c, f: d, g: e, h: &f, word: constants[t &+ 2] &+ words[t &+ 2])
      step(f, b: g, c: h, d: &a, e: b, f: c, g: d, h: &e, word: constants[t &+ 3] &+ words[t &+ 3])
      step(e, b: f, c: g, d: &h, e: a, f: b, g: c, h: &d, word: constants[t &+ 4] &+ words[t &+ 4])
      step(d, b: e, c: f, d: &g, e: h, f: a, g: b, h: &c, word: constants[t &+ 5] &+ words[t &+ 5])
      step(c, b: d, c: e, d: &f, e: g, f: h, g: a, h: &b, word: constants[t &+ 6] &+ words[t &+ 6])
      step(b, b: c, c: d, d: &e, e: f, f: g, g: h, h: &a, word: constants[t &+ 7] &+ words[t &+ 7])
      t &+= 8
    }
    (state[0], state[1], state[2], state[3]) = (state[0] &+ a, state[1] &+ b, state[2] &+ c, state[3] &+ d)
    (state[4], state[5], state[6], state[7]) = (state[4] &+ e, state[5] &+ f, state[6] &+ g, state[7] &+ h)
  }

  /// One step of FIPS 180-4, 6.2.2: `d` becomes the next step's e, `h` its a. The choices are written with one
  /// operation less than there.
  @inline(__always)
  private static func step(
    _ a: UInt32, b: UInt32, c: UInt32, d: inout UInt32, e: UInt32, f: UInt32, g: UInt32, h: inout UInt32,
    word: UInt32
  ) {
    let s1 = (e &>> 6 | e &<< 26) ^ (e &>> 11 | e &<< 21) ^ (e &>> 25 | e &<< 7)
    let first = h &+ s1 &+ (g ^ (e & (f ^ g))) &+ word
    let s0 = (a &>> 2 | a &<< 30) ^ (a &>> 13 | a &<< 19) ^ (a &>> 22 | a &<< 10)
    d = d &+ first
    h = first &+ s0 &+ ((a & b) | (c & (a | b)))
  }

  /// The first 32 bits of the fractional parts of the square roots of the first 8 primes.
  private static let initialState: [UInt32] = [
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
  ]

  /// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
  private static let constants: [UInt32] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
  ]
}
