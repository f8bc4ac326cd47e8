import Foundation
import Testing

@testable import Streams

/// A small checkpoint with every kind of section: none of its bytes is like another's for long.
func sampleCheckpoint(_ sequence: UInt64 = 7) -> Checkpoint {
  Checkpoint(
    sequence: sequence, planFingerprint: Array(0..<32), sourceFingerprint: Array(100..<132),
    sections: ["tables": Array("rows".utf8), "empty": [], "zeros": [UInt8](repeating: 0, count: 300)])
}

@Suite struct CheckpointBytesTests {
  @Test func aCheckpointComesBackAsItWas() throws {
    let checkpoint = sampleCheckpoint()
    #expect(try UnverifiedCheckpoint(checkpoint.encoded()).verified() == checkpoint)
  }

  /// Trap 3: the first checkpoint comes before the first row.
  @Test func aCheckpointWithoutSectionsIsValid() throws {
    let empty = Checkpoint(
      sequence: 0, planFingerprint: [UInt8](repeating: 0, count: 32), sourceFingerprint: Array(0..<32))
    #expect(try UnverifiedCheckpoint(empty.encoded()).verified() == empty)
  }

  /// Trap 5: a field that this program does not know is kept and written again.
  @Test func aSectionThatNobodyKnowsSurvives() throws {
    var checkpoint = sampleCheckpoint()
    checkpoint.sections["of a later version"] = [1, 2, 3]
    var read = try UnverifiedCheckpoint(checkpoint.encoded()).verified()
    read.sequence += 1
    #expect(try UnverifiedCheckpoint(read.encoded()).verified().sections["of a later version"] == [1, 2, 3])
  }

  @Test func equalCheckpointsHaveEqualBytes() throws {
    var other = sampleCheckpoint()
    other.sections = [:]
    for (name, bytes) in sampleCheckpoint().sections.sorted(by: { $0.key > $1.key }) { other.sections[name] = bytes }
    #expect(try other.encoded() == sampleCheckpoint().encoded())
  }

  @Test func everyFlippedBitOfTheFileIsFound() throws {
    let bytes = try sampleCheckpoint().encoded()
    for position in bytes.indices {
      for bit in 0..<8 {
        var damaged = bytes
        damaged[position] ^= 1 << bit
        let error = #expect(throws: StreamsError.self, "byte \(position), bit \(bit)") {
          try UnverifiedCheckpoint(damaged).verified()
        }
        #expect(error?.code == .damagedCheckpoint)
      }
    }
  }

  @Test func everyTruncationAndEveryAppendedByteIsFound() throws {
    let bytes = try sampleCheckpoint().encoded()
    for length in 0..<bytes.count {
      let error = #expect(throws: StreamsError.self, "\(length) bytes") {
        try UnverifiedCheckpoint(Array(bytes[..<length])).verified()
      }
      #expect(error?.code == .damagedCheckpoint)
    }
    for extra: UInt8 in [0, 0xFF] {
      #expect(throws: StreamsError.self) { try UnverifiedCheckpoint(bytes + [extra]).verified() }
    }
  }

  /// The frame's checksums are made right again, so that only the payload's own check is left to find the damage.
  @Test func everyFlippedBitOfThePayloadIsFoundWithoutTheFramesChecksums() throws {
    let payload = try sampleCheckpoint().payload()
    for position in payload.indices {
      for bit in 0..<8 {
        var damaged = payload
        damaged[position] ^= 1 << bit
        let frame = try LZ4Frame.compress(damaged)
        let error = #expect(throws: StreamsError.self) { try UnverifiedCheckpoint(frame).verified() }
        #expect(error?.code == .damagedCheckpoint, "byte \(position), bit \(bit)")
      }
    }
  }

  @Test func aNewerFormatIsNamedAndNotTakenForDamage() throws {
    var payload = Array(try sampleCheckpoint().payload().dropLast(8))
    payload[8] = 2
    let error = try #require(throws: StreamsError.self) { try read(payload) }
    #expect(error.code == .unsupported)
    #expect(error.message == "the checkpoint has format 2, this program reads format 1")
  }

  /// Right check values, wrong fields: lengths and counts are hostile even then.
  @Test func fieldsThatLieAreDamageAndNeverATrap() throws {
    let payload = Array(try sampleCheckpoint().payload().dropLast(8))
    for position in 16..<payload.count {
      for value: UInt8 in [0x00, 0x01, 0x7F, 0x80, 0xFF] where payload[position] != value {
        var wrong = payload
        wrong[position] = value
        let isLength = position < 24 || position >= 96
        if let found = try? read(wrong) { #expect(!isLength || found != sampleCheckpoint()) }
      }
    }
    for position in 96..<100 {
      var wrong = payload
      wrong[position] = 0xFF
      #expect(throws: StreamsError.self) { try read(wrong) }
    }
  }

  @Test func limitsAreKeptWhenWriting() throws {
    var short = sampleCheckpoint()
    short.planFingerprint.removeLast()
    #expect(throws: StreamsError.self) { try short.encoded() }
    for name in ["", String(repeating: "x", count: 256)] {
      var wrong = sampleCheckpoint()
      wrong.sections[name] = []
      #expect(throws: StreamsError.self) { try wrong.encoded() }
    }
    var longest = sampleCheckpoint()
    longest.sections[String(repeating: "x", count: 255)] = [1]
    #expect(try UnverifiedCheckpoint(longest.encoded()).verified() == longest)
  }

  private func read(_ body: [UInt8]) throws -> Checkpoint {
    var writer = ByteWriter()
    writer.writeRaw(body)
    writer.writeUInt64(CRC64.checksum(body))
    return try UnverifiedCheckpoint(LZ4Frame.compress(writer.bytes)).verified()
  }
}

@Suite struct LZ4FrameTests {
  @Test(arguments: [1, 2, 100, 65_536, 65_537, 5_000_000]) func anyLengthComesBack(length: Int) throws {
    var seed: UInt64 = 42
    let bytes = (0..<length).map { index -> UInt8 in
      seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return index % 3 == 0 ? UInt8(truncatingIfNeeded: seed >> 33) : 0
    }
    #expect(try LZ4Frame.decompress(LZ4Frame.compress(bytes), cap: length) == bytes)
    #expect(throws: StreamsError.self) { try LZ4Frame.decompress(LZ4Frame.compress(bytes), cap: length - 1) }
  }

  @Test func aClaimOfALargeContentIsRefusedBeforeMemoryIsTaken() throws {
    // Header of a frame that names 200 MiB; its own check byte would have to be right as well.
    var frame = try LZ4Frame.compress([1, 2, 3])
    frame[9] = 0x0C
    #expect(throws: StreamsError.self) { try LZ4Frame.decompress(frame, cap: 256 << 20) }
  }

  @Test func theCheckValueIsTheOneOfTheStandard() {
    // The check value of CRC-64/XZ in the catalogue of parametrised CRC algorithms.
    #expect(CRC64.checksum(Array("123456789".utf8)) == 0x995D_C9BB_DF19_39FA)
  }

  static let tool = ["/usr/bin/lz4", "/usr/local/bin/lz4"].first { FileManager.default.isExecutableFile(atPath: $0) }

  // Skipped where the tool of the lz4 project is not installed: it is the other implementation that this test asks.
  @Test(.enabled(if: LZ4FrameTests.tool != nil, "the lz4 tool is not installed"))
  func theToolOfTheLZ4ProjectOpensAPublishedFile() throws {
    let directory = try FilesTestFolder()
    let store = CheckpointStore(directory: directory.path, fileSystem: LocalFileSystem())
    try store.publish(sampleCheckpoint())
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try #require(Self.tool))
    process.arguments = ["-d", "-q", directory.file("checkpoint-0000000007.lz4"), directory.file("payload")]
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    let payload = try LocalFileSystem().readAll(directory.file("payload"), cap: 1 << 20)
    #expect(payload == (try sampleCheckpoint().payload()))
  }
}
