/// Everything that a run needs to be resumed: named sections of bytes, tied to one plan and one source (I6, I11).
///
/// A section that this program does not know is kept as it is and published again. One that is missing has its
/// default: that is the business of whoever owns the section.
public struct Checkpoint: Sendable, Equatable {
  /// Grows by one or more with every checkpoint of a run; the first, before any row, is 0 or 1.
  public var sequence: UInt64
  /// What the plan is, 32 bytes.
  public var planFingerprint: [UInt8]
  /// What the source is, 32 bytes.
  public var sourceFingerprint: [UInt8]
  /// Name to contents. No sections at all is a valid state.
  public var sections: [String: [UInt8]]

  /// Makes a checkpoint; lengths are checked when it is encoded.
  public init(
    sequence: UInt64, planFingerprint: [UInt8], sourceFingerprint: [UInt8], sections: [String: [UInt8]] = [:]
  ) {
    self.sequence = sequence
    self.planFingerprint = planFingerprint
    self.sourceFingerprint = sourceFingerprint
    self.sections = sections
  }

  /// A reader of one section, or nil when the checkpoint has none of that name.
  public func reader(of section: String) -> ByteReader? {
    sections[section].map { ByteReader($0, subject: "section \(section)") }
  }

  /// The bytes of the file: an LZ4 frame around the payload.
  ///
  /// - Throws: ``StreamsError``: `tooLarge` past the limits of the format.
  public func encoded() throws -> [UInt8] { try LZ4Frame.compress(try payload()) }

  func payload() throws -> [UInt8] {
    try checkLimits()
    var writer = ByteWriter()
    writer.writeRaw(CheckpointFormat.magic)
    writer.writeUInt32(CheckpointFormat.version)
    writer.writeUInt32(0)
    writer.writeInt(payloadLength)
    writer.writeUInt64(sequence)
    writer.writeRaw(planFingerprint)
    writer.writeRaw(sourceFingerprint)
    writer.writeUInt32(UInt32(clamping: sections.count))
    // Sorted, so that equal checkpoints have equal bytes.
    for (name, bytes) in sections.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
      writer.writeUInt16(UInt16(clamping: name.utf8.count))
      writer.writeRaw(name.utf8)
      writer.writeBytes(bytes)
    }
    writer.writeUInt64(CRC64.checksum(writer.bytes))
    return writer.bytes
  }

  private var payloadLength: Int {
    sections.reduce(CheckpointFormat.headerLength + CheckpointFormat.trailerLength) {
      $0 + 2 + $1.key.utf8.count + 8 + $1.value.count
    }
  }

  private func checkLimits() throws {
    let length = CheckpointFormat.fingerprintLength
    guard planFingerprint.count == length, sourceFingerprint.count == length else {
      throw StreamsError(.damagedCheckpoint, "a fingerprint does not have \(length) bytes")
    }
    let longest = sections.keys.map(\.utf8.count).max() ?? 1
    guard longest <= CheckpointFormat.sectionNameCap, !sections.keys.contains("") else {
      throw StreamsError(.tooLarge, "a section's name is empty or longer than \(CheckpointFormat.sectionNameCap) bytes")
    }
    guard sections.count <= CheckpointFormat.sectionCountCap, payloadLength <= CheckpointFormat.payloadCap else {
      throw StreamsError(.tooLarge, "the checkpoint has \(payloadLength) bytes in \(sections.count) sections")
    }
  }
}

extension StreamsError.Code {
  /// A checkpoint belongs to another plan or another source.
  public static let foreignCheckpoint = Self(description: "foreign-checkpoint")
}
