import Foundation
import Testing

@testable import Codecs

@Suite("SHA-2")
struct SHA2Tests {
  static func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  @Test(
    "SHA-256 gives the digests of FIPS 180-4, by the processor's instructions and without", arguments: [false, true])
  func fips256(portable: Bool) {
    let long = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"
    #expect(
      Self.hex(SHA256.hash(Array("abc".utf8), portable: portable))
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(
      Self.hex(SHA256.hash([], portable: portable))
        == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    #expect(
      Self.hex(SHA256.hash(Array(long.utf8), portable: portable))
        == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
    #expect(
      Self.hex(SHA256.hash(repeatElement(UInt8(ascii: "a"), count: 1_000_000), portable: portable))
        == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  @Test(
    "Pieces of any length have the digest of the whole, by the processor's instructions and without",
    arguments: [false, true])
  func pieces(portable: Bool) {
    let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0 * 7) }
    let whole = SHA256.hash(bytes, portable: portable)
    for length in 1...130 {
      var hash = SHA256(portable: portable)
      for start in stride(from: 0, to: bytes.count, by: length) {
        hash.update(bytes[start..<min(start + length, bytes.count)])
      }
      #expect(hash.finalize() == whole, "pieces of \(length) bytes")
    }
  }

  @Test("SHA-512 gives the digests of FIPS 180-4")
  func fips512() {
    #expect(
      Self.hex(SHA512.hash(Array("abc".utf8)))
        == "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
        + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f")
    let long =
      "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
      + "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"
    #expect(
      Self.hex(SHA512.hash(Array(long.utf8)))
        == "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018"
        + "501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909")
  }

  @Test(
    "Bytes added in pieces hash like bytes added at once, at every length to five blocks, with instructions and without"
  )
  func pieces() {
    for length in 0...320 {
      let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7) }
      var short = SHA256()
      var portable = SHA256(portable: true)
      var long = SHA512()
      for start in stride(from: 0, to: length, by: 13) {
        short.update(bytes[start..<min(start + 13, length)])
        portable.update(bytes[start..<min(start + 13, length)])
        long.update(bytes[start..<min(start + 13, length)])
      }
      #expect(short.finalize() == SHA256.hash(bytes))
      #expect(portable.finalize() == SHA256.hash(bytes))
      #expect(long.finalize() == SHA512.hash(bytes))
    }
  }

  /// Digests of n bytes 0xA5, n around the padding limits, from an independent implementation.
  @Test("Padding is right at the lengths where it needs another block", arguments: SHA2Tests.padded)
  func padding(length: Int, short: String, long: String) {
    let bytes = [UInt8](repeating: 0xA5, count: length)
    #expect(Self.hex(SHA256.hash(bytes)).prefix(16) == short)
    #expect(Self.hex(SHA256.hash(bytes, portable: true)).prefix(16) == short)
    #expect(Self.hex(SHA512.hash(bytes)).prefix(16) == long)
  }

  static let padded: [(Int, String, String)] = [
    (55, "26ee0116778740a6", "de8fe21e66d52987"),
    (56, "4cf71e2b0aa0fcc0", "c432853c11820c77"),
    (63, "a1942663a5b8b93d", "04beb8ebb336e090"),
    (64, "bb626e5577021df9", "51c79188a7aec2d6"),
    (111, "783fd3d89d413930", "7e243415d4b225dd"),
    (112, "e5a5f600f00f0ba0", "dc227c6ddbedd9e0"),
    (119, "d4f197a1127980fe", "9ef0070aca4cf113"),
    (120, "2065fa2ca0929999", "92559b99b2a24375"),
    (127, "bcc0ed0d968974b0", "b9c376cefdbdc05f"),
    (128, "39557315215be0f6", "1cd2659b031e8a27"),
  ]
}
