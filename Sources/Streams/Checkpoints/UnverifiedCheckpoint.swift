/// The bytes of a checkpoint file before anything about them is believed. Only ``verified()`` makes a ``Checkpoint``.
public struct UnverifiedCheckpoint: Sendable {
  private let frame: [UInt8]

  /// Holds the bytes of a file.
  public init(_ frame: [UInt8]) { self.frame = frame }

  /// Checks the frame, the check value over the whole payload, the version, and then every field.
  ///
  /// - Throws: ``StreamsError``: `damagedCheckpoint`, or `unsupported` for a sound checkpoint of a newer program.
  public func verified() throws -> Checkpoint {
    let payload = try LZ4Frame.decompress(frame, cap: CheckpointFormat.payloadCap)
    let body = try Self.body(of: payload)
    var reader = ByteReader(body, subject: "checkpoint")
    _ = try reader.readRaw(CheckpointFormat.sequenceOffset)
    let sequence = try reader.readUInt64()
    let plan = Array(try reader.readRaw(CheckpointFormat.fingerprintLength))
    let source = Array(try reader.readRaw(CheckpointFormat.fingerprintLength))
    let sections = try Self.sections(&reader)
    return Checkpoint(sequence: sequence, planFingerprint: plan, sourceFingerprint: source, sections: sections)
  }

  /// The payload without its check value. The check comes before the version: a flipped bit there is damage, not news.
  private static func body(of payload: [UInt8]) throws -> ArraySlice<UInt8> {
    let smallest = CheckpointFormat.headerLength + CheckpointFormat.trailerLength
    guard payload.count >= smallest else { throw damaged("it has only \(payload.count) bytes") }
    let body = payload.dropLast(CheckpointFormat.trailerLength)
    var trailer = ByteReader(payload[body.endIndex...], subject: "checkpoint")
    guard body.starts(with: CheckpointFormat.magic) else { throw damaged("it does not begin as one") }
    guard try trailer.readUInt64() == CRC64.checksum(body) else { throw damaged("its check value is wrong") }
    var header = ByteReader(body.dropFirst(CheckpointFormat.versionOffset), subject: "checkpoint")
    let version = try header.readUInt32()
    guard version == CheckpointFormat.version else {
      throw StreamsError(
        .unsupported, "the checkpoint has format \(version), this program reads format \(CheckpointFormat.version)",
        hint: "Resume with the program that started the run, or start the run again")
    }
    _ = try header.readUInt32()
    guard try header.readInt() == payload.count else { throw damaged("its length is not the one it names") }
    return body
  }

  private static func sections(_ reader: inout ByteReader) throws -> [String: [UInt8]] {
    let count = try reader.readUInt32()
    guard count <= CheckpointFormat.sectionCountCap else { throw reader.damaged("\(count) sections") }
    var sections: [String: [UInt8]] = [:]
    var last = ""
    for _ in 0..<count {
      let length = try reader.readUInt16()
      guard let name = String(validating: try reader.readRaw(Int(length)), as: UTF8.self), !name.isEmpty,
        length <= CheckpointFormat.sectionNameCap, last.utf8.lexicographicallyPrecedes(name.utf8)
      else { throw reader.damaged("a section's name is empty, too long, not UTF-8 or out of order") }
      sections[name] = try reader.readBytes()
      last = name
    }
    try reader.finish()
    return sections
  }

  private static func damaged(_ what: String) -> StreamsError {
    StreamsError(.damagedCheckpoint, "the checkpoint cannot be used: \(what)")
  }
}
