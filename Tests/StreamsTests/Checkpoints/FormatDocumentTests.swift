import Foundation
import Testing

@testable import Streams

/// FORMAT.md and the code must say the same. The checkpoint here is made from the document alone: none of the code that
/// writes checkpoints is used.
@Suite struct FormatDocumentTests {
  static let document = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("FORMAT.md")

  private func little(_ value: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
  }

  /// FORMAT.md, 3.3: the rows of both tables in their order.
  private func payloadByHand() -> [UInt8] {
    var sections = little(1, 2) + Array("a".utf8) + little(3, 8) + [7, 8, 9]
    sections += little(2, 2) + Array("bb".utf8) + little(0, 8)
    var payload = Array("GODWITCP".utf8)
    payload += little(1, 4)
    payload += little(0, 4)
    payload += little(UInt64(100 + sections.count + 8), 8)
    payload += little(258, 8)
    payload += [UInt8](repeating: 0x11, count: 32)
    payload += [UInt8](repeating: 0x22, count: 32)
    payload += little(2, 4)
    #expect(payload.count == 100)
    payload += sections
    return payload + little(crcByHand(payload), 8)
  }

  /// Bit by bit, with the polynomial of FORMAT.md reflected here.
  private func crcByHand(_ bytes: [UInt8]) -> UInt64 {
    let polynomial: UInt64 = 0x42F0_E1EB_A9EA_3693
    var reflected: UInt64 = 0
    for bit in 0..<64 where polynomial >> UInt64(bit) & 1 == 1 { reflected |= 1 << UInt64(63 - bit) }
    var value = UInt64.max
    for byte in bytes {
      value ^= UInt64(byte)
      for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ reflected : value >> 1 }
    }
    return value ^ .max
  }

  /// FORMAT.md, 3.2, and the LZ4 frame format: one block that is stored as it is.
  private func frameByHand(_ content: [UInt8]) -> [UInt8] {
    let descriptor: [UInt8] = [0x7C, 0x40] + little(UInt64(content.count), 8)
    var frame = little(0x184D_2204, 4) + descriptor
    frame.append(UInt8(truncatingIfNeeded: xxh32(descriptor) >> 8))
    frame += little(UInt64(content.count) | 1 << 31, 4) + content + little(UInt64(xxh32(content)), 4)
    return frame + little(0, 4) + little(UInt64(xxh32(content)), 4)
  }

  /// xxHash 32 bits, seed 0, from its specification.
  private func xxh32(_ bytes: [UInt8]) -> UInt32 {
    let prime: [UInt32] = [0, 2_654_435_761, 2_246_822_519, 3_266_489_917, 668_265_263, 374_761_393]
    func rotate(_ value: UInt32, _ count: UInt32) -> UInt32 { value << count | value >> (32 - count) }
    func lane(_ start: Int) -> UInt32 { bytes[start..<start + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) } }
    var position = 0
    var hash = prime[5]
    if bytes.count >= 16 {
      var state = [prime[1] &+ prime[2], prime[2], 0, 0 &- prime[1]]
      while position + 16 <= bytes.count {
        for index in 0..<4 {
          state[index] = rotate(state[index] &+ lane(position + 4 * index) &* prime[2], 13) &* prime[1]
        }
        position += 16
      }
      hash = rotate(state[0], 1) &+ rotate(state[1], 7) &+ rotate(state[2], 12) &+ rotate(state[3], 18)
    }
    hash = hash &+ UInt32(bytes.count)
    while position + 4 <= bytes.count {
      hash = rotate(hash &+ lane(position) &* prime[3], 17) &* prime[4]
      position += 4
    }
    while position < bytes.count {
      hash = rotate(hash &+ UInt32(bytes[position]) &* prime[5], 11) &* prime[1]
      position += 1
    }
    hash = (hash ^ hash >> 15) &* prime[2]
    hash = (hash ^ hash >> 13) &* prime[3]
    return hash ^ hash >> 16
  }

  @Test func aCheckpointMadeByHandFromTheDocumentIsRead() throws {
    let checkpoint = try UnverifiedCheckpoint(frameByHand(payloadByHand())).verified()
    #expect(checkpoint.sequence == 258)
    #expect(checkpoint.planFingerprint == [UInt8](repeating: 0x11, count: 32))
    #expect(checkpoint.sourceFingerprint == [UInt8](repeating: 0x22, count: 32))
    #expect(checkpoint.sections == ["a": [7, 8, 9], "bb": []])
    #expect(try checkpoint.payload() == payloadByHand())
    #expect(try Array(checkpoint.encoded().prefix(6)) == Array(frameByHand(payloadByHand()).prefix(6)))
  }

  @Test func aStoreReadsTheFileUnderTheNameOfTheDocument() throws {
    let folder = try FilesTestFolder()
    try LocalFileSystem().writeAndSync(frameByHand(payloadByHand()), to: folder.file("checkpoint-0000000258.lz4"))
    let store = CheckpointStore(directory: folder.path, fileSystem: LocalFileSystem())
    #expect(try store.newestReadable()?.checkpoint.sequence == 258)
  }

  /// Sections out of order, twice, or without a name are refused whatever their check values say.
  @Test(arguments: [["b", "a"], ["a", "a"], [""]]) func sectionsMustBeSortedAndNamed(names: [String]) throws {
    let sections = names.flatMap { little(UInt64($0.utf8.count), 2) + Array($0.utf8) + little(0, 8) }
    var payload = Array(payloadByHand()[..<16]) + little(UInt64(108 + sections.count), 8)
    payload += payloadByHand()[24..<96] + little(UInt64(names.count), 4) + sections
    payload += little(crcByHand(payload), 8)
    let error = #expect(throws: StreamsError.self) { try UnverifiedCheckpoint(frameByHand(payload)).verified() }
    #expect(error?.code == .damagedCheckpoint)
  }

  @Test func theTablesOfTheDocumentHaveTheNumbersOfTheCode() throws {
    let text = String(decoding: try Data(contentsOf: Self.document), as: UTF8.self)
    let rows = text.split(separator: "\n").map { line in
      line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
    func row(_ meaning: String) -> [String]? { rows.first { $0.count == 3 && $0[2].hasPrefix(meaning) } }
    let expected: [(String, Int, Int)] = [
      ("Magic", 0, CheckpointFormat.magic.count),
      ("Format version: \(CheckpointFormat.version)", CheckpointFormat.versionOffset, 4),
      ("Reserved", CheckpointFormat.reservedOffset, 4),
      ("Length of the whole payload", CheckpointFormat.lengthOffset, 8),
      ("Sequence number", CheckpointFormat.sequenceOffset, 8),
      ("Fingerprint of the plan", CheckpointFormat.planOffset, CheckpointFormat.fingerprintLength),
      ("Fingerprint of the source", CheckpointFormat.sourceOffset, CheckpointFormat.fingerprintLength),
      ("Number of sections, 65,536", CheckpointFormat.sectionCountOffset, 4),
    ]
    for (meaning, offset, size) in expected {
      #expect(row(meaning)?.prefix(2).elementsEqual(["\(offset)", "\(size)"]) == true, "\(meaning)")
    }
    #expect(row("The sections, one")?.first == "\(CheckpointFormat.headerLength)")
    #expect(row("Check value")?[1] == "\(CheckpointFormat.trailerLength)")
    #expect(CheckpointFormat.sectionCountCap == 65_536)
    #expect(text.contains("Its FLG byte is 0x7C") && LZ4Frame.flags == 0x7C)
    #expect(text.contains("Its BD byte is 0x40") && LZ4Frame.blockSize == 0x40)
    #expect(text.contains("above 268,435,456 bytes") && CheckpointFormat.payloadCap == 268_435_456)
    #expect(text.contains("1 to 255") && CheckpointFormat.sectionNameCap == 255)
  }
}
