import Foundation
import GRDB
import Testing

@testable import Codecs

@Suite("Deflate streams")
struct DeflateTests {
  /// Words in an order that a generator of numbers gives, as the streams below were made of them.
  static let words: [UInt8] = {
    let words = ["Book", "Author", "title", "name", "NSAttributeDescription", "_P", "243"]
    var state: UInt64 = 12_345
    var text = ""
    for _ in 0..<300 {
      state = (state * 1_103_515_245 + 12_345) & 0x7FFF_FFFF
      text += words[Int(state >> 16) % 7] + " "
    }
    return Array(text.utf8)
  }()

  /// Streams that zlib 1.3 wrote: an empty one, a stored, a fixed and a dynamic block, and a long run.
  static let streams: [(hex: String, bytes: [UInt8])] = [
    ("0300", []),
    ("011400ebff000102030405060708090a0b0c0d0e0f10111213", Array(0..<20)),
    ("4bcd2bc92ca9544845a1f212735301", Array("entity entity entity name".utf8)),
    (
      "a5555d0e82300cbe0a67402fa0f1d9987800a36689440583e3fe32b6b5dd606dd5077e9c6bf7fdb4a55eafaa7abcf6c78db57d7319acd999"
        + "f7b56f5eb6e9daea74a83683bd757df618d7dbf3d394c20acb53c8b6ebeefe0d7f16f687c3a62dd3adb4903ef08408d336f661389e21d2ed"
        + "8831e313d97364451ab8c1e3083945c9b99c2223f7d774303a8631fe6d5ce2e588522c484d5307d532e0e5ec685f1daa4f943022c15b384a"
        + "a3a8df53ce0c0872811028af13d93d5f114b27910e6c626c155c7717a80bf9fecdca799990e6a8ba44b48090f757b1b9baa40ef94a582a9a"
        + "b979f29c600b4de8166d51d1d01f66ed0247428f62d468a5eee4b49b69736181a371b2eb9a7e4851c8800112c110e1e208c83a87ba47df01"
        + "4024268e549f2fab7f7e3ab11e8bc3539761b94613bb40383fb2f45f91546355dd4b84d06ab992a88f009af2d5b4f507",
      words
    ),
    (
      "edc13101000000c2a0f54f6d0d0fa0" + String(repeating: "00", count: 96) + "805703",
      Array(repeating: 0, count: 100_000)
    ),
  ]

  static func bytes(_ hex: String) -> [UInt8] {
    let digits = Array(hex.utf8)
    return stride(from: 0, to: digits.count, by: 2).compactMap {
      UInt8(String(decoding: digits[$0..<($0 + 2)], as: UTF8.self), radix: 16)
    }
  }

  /// Bytes of different kinds: noise, runs, words, nothing.
  static func samples() -> [[UInt8]] {
    var random = SeededRandom(7)
    let noise = (0..<70_000).map { _ in UInt8.random(in: 0...255, using: &random) }
    let few = (0..<50_000).map { _ in UInt8.random(in: 0...3, using: &random) }
    let far = Array(noise[..<32_768]) + Array(noise[..<300]) + Array(noise[100..<400])
    // Frequencies of Fibonacci's numbers want words longer than 15 bits.
    var (a, b, deep) = (1, 1, [UInt8]())
    for symbol in 0..<22 {
      deep += Array(repeating: UInt8(symbol * 11), count: a)
      (a, b) = (b, a + b)
    }
    return [[], [0], [1, 2], Array(repeating: 7, count: 259), words, noise, few, far, deep.shuffled(using: &random)]
  }

  @Test("What zlib wrote is read", arguments: streams)
  func zlib(stream: (hex: String, bytes: [UInt8])) throws {
    #expect(try Inflate.decode(Self.bytes(stream.hex), limit: 100_000) == stream.bytes)
  }

  @Test("What is written reads back, always as the same bytes and never much larger")
  func roundTrip() throws {
    for sample in Self.samples() {
      let packed = Deflate.encode(sample)
      #expect(try Inflate.decode(packed, limit: sample.count) == sample)
      #expect(Deflate.encode(sample) == packed)
      #expect(packed.count <= sample.count + sample.count / 1_000 + 16)
    }
    // zlib at its highest level needs 328 and 114 bytes.
    #expect(Deflate.encode(Self.words).count <= 340)
    #expect(Deflate.encode(Array(repeating: 0, count: 100_000)).count <= 130)
  }

  @Test("A stream that is cut off is an error that keeps what could be read")
  func cutOff() throws {
    let packed = Deflate.encode(Self.words)
    var longest = 0
    for length in 0..<packed.count {
      let damage = #expect(throws: InflateDamage.self) { try Inflate.decode(Array(packed[..<length]), limit: 10_000) }
      let output = damage?.output ?? []
      #expect(Self.words.starts(with: output))
      longest = max(longest, output.count)
    }
    #expect(longest > Self.words.count - 40)
    let damage = #expect(throws: InflateDamage.self) { try Inflate.decode(packed + [0], limit: 10_000) }
    #expect(damage?.description.contains("bytes follow") == true && damage?.output == Self.words)
  }

  @Test("A small stream that would fill the memory stops at the limit")
  func bomb() throws {
    let packed = Deflate.encode(Array(repeating: 0, count: 1 << 20))
    let damage = #expect(throws: InflateDamage.self) { try Inflate.decode(packed, limit: 100_000) }
    #expect(damage?.description.contains("more than 100000 bytes") == true)
    #expect(damage?.output.count ?? 0 <= 100_000)
  }

  @Test("Damaged streams end in bytes or an error, never in a trap")
  func mutations() {
    let seed: UInt64 = 20_250_101
    print("seed \(seed)")
    var random = SeededRandom(seed)
    let originals = Self.streams.prefix(4).map { Self.bytes($0.hex) } + [Deflate.encode(Self.words)]
    for round in 0..<8_000 {
      var bytes = originals[round % originals.count]
      for _ in 0...Int.random(in: 0...3, using: &random) {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      _ = try? Inflate.decode(bytes, limit: 20_000)
    }
  }
}
