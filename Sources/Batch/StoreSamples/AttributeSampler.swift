import CoreDataModel
import Streams

/// Fills one attribute's column. A value follows from the seed, the attribute and the row's key.
final class AttributeSampler {
  private let type: AttributeType
  private let isExternal: Bool
  private let settings: SampleSettings
  private let isUnique: Bool
  private let base: UInt64
  private let nameBits: UInt64

  /// `isUnique`: no two rows may have the same value.
  init(_ attribute: AttributeDescription, path: String, entity: String, isUnique: Bool, seed: UInt64) throws {
    type = attribute.type
    isExternal = attribute.allowsExternalBinaryDataStorage
    settings = try SampleSettings(attribute, entity: entity)
    self.isUnique = isUnique
    base = SampleHash.base(seed, "attribute", entity, path)
    nameBits = SampleWords.nameBits(count: settings.distinct ?? 1)
  }

  /// Appends the value of the row with this key. `bytes` is room for the value in the making, reused from row to row.
  func append(key: UInt64, to encoder: RecordEncoder, using bytes: inout [UInt8]) {
    let first = SampleHash.word(base, key)
    if settings.hasGaps, first >> 60 == 0 { return encoder.appendNull() }
    var number = SampleHash.mix(first)
    if settings.hasEdges, !isUnique, first >> 40 & 63 == 0, appendEdge(number, to: encoder, &bytes) { return }
    var draw: UInt64 = 0
    if let distinct = settings.distinct {
      draw = SampleHash.below(distinct, number)
      number = SampleHash.word(~base, draw)
    }
    switch type {
    case .integer16, .integer32, .integer64, .boolean: appendInteger(number, key, to: encoder)
    case .date, .double, .float, .decimal: appendDouble(number, key, to: encoder)
    case .string, .uri:
      makeText(number, draw: draw, key: key, bytes: &bytes)
      bytes.withUnsafeBytes { encoder.append(type: SerialType.text(length: $0.count), body: $0) }
    case .undefined, .binaryData, .uuid, .transformable, .objectID, .composite:
      makeBlob(number, key: key, bytes: &bytes)
      bytes.withUnsafeBytes { encoder.append(type: SerialType.blob(length: $0.count), body: $0) }
    }
  }

  /// False for a type without edges.
  private func appendEdge(_ number: UInt64, to encoder: RecordEncoder, _ bytes: inout [UInt8]) -> Bool {
    bytes.removeAll(keepingCapacity: true)
    switch type {
    case .integer16: encoder.append(SampleEdges.integer(number, bits: 15))
    case .integer32: encoder.append(SampleEdges.integer(number, bits: 31))
    case .integer64: encoder.append(SampleEdges.integer(number, bits: 63))
    case .date, .double, .float, .decimal: Self.append(SampleEdges.double(number, type), to: encoder)
    case .string:
      SampleEdges.text(number, to: &bytes)
      bytes.withUnsafeBytes { encoder.append(type: SerialType.text(length: $0.count), body: $0) }
    case .binaryData:
      if isExternal { bytes.append(0x01) }
      bytes.append(contentsOf: repeatElement(0xED, count: SampleEdges.blobLength(number)))
      bytes.withUnsafeBytes { encoder.append(type: SerialType.blob(length: $0.count), body: $0) }
    case .undefined, .boolean, .uuid, .uri, .transformable, .objectID, .composite: return false
    }
    return true
  }

  private func appendInteger(_ number: UInt64, _ key: UInt64, to encoder: RecordEncoder) {
    let bits: UInt64 = type == .boolean ? 1 : type == .integer16 ? 15 : type == .integer32 ? 31 : 63
    if isUnique {
      // Distinct values that have run out leave NULL, which is distinct from every other.
      if key > 1 << bits { encoder.appendNull() } else { encoder.append(Int64(key - 1)) }
    } else if type == .boolean {
      encoder.append(Int64(number & 1))
    } else {
      switch number & 3 {
      case 0, 1: encoder.append(Int64((number >> 2) % 100))
      case 2: encoder.append(Int64((number >> 2) % 10_000))
      default: encoder.append(Int64(bitPattern: number) >> Int64(63 - bits))
      }
    }
  }

  private func appendDouble(_ number: UInt64, _ key: UInt64, to encoder: RecordEncoder) {
    let fraction = Double(number >> 44) / 0x1p20
    switch type {
    case _ where isUnique && type == .float:
      if key > 1 << 24 { encoder.appendNull() } else { Self.append(Double(key), to: encoder) }
    case _ where isUnique: Self.append(Double(key) + (type == .decimal ? 0 : fraction), to: encoder)
    case .date:
      // Up to 25 years after 2001, one in four in whole seconds.
      Self.append(Double((number >> 2) % 788_918_400) + (number & 3 == 0 ? 0 : fraction), to: encoder)
    case .decimal: Self.append(Double(number % 10_000_000) / 100, to: encoder)
    case .float: Self.append(Double(Int64(bitPattern: number) >> 44) / 8, to: encoder)
    case .undefined, .integer16, .integer32, .integer64, .double, .string, .boolean, .binaryData, .uuid, .uri,
      .transformable,
      .objectID, .composite:
      Self.append(Double(Int64(bitPattern: number) >> 24) / 1024, to: encoder)
    }
  }

  /// Columns of dates, doubles and decimals keep whole numbers as integers on disk ("Datatypes In SQLite", section 3).
  private static func append(_ double: Double, to encoder: RecordEncoder) {
    if let whole = Int64(exactly: double) { encoder.append(whole) } else { encoder.append(double) }
  }

  private func makeText(_ number: UInt64, draw: UInt64, key: UInt64, bytes: inout [UInt8]) {
    bytes.removeAll(keepingCapacity: true)
    bytes.append(contentsOf: settings.prefix)
    if type == .uri {
      if settings.prefix.isEmpty { bytes.append(contentsOf: "https://example.org/".utf8) }
      SampleWords.appendWord(number, syllables: 3, isCapital: false, to: &bytes)
      bytes.append(0x2F)
      SampleWords.appendWord(number >> 18, syllables: 5, isCapital: false, to: &bytes)
      if isUnique { bytes.append(0x2F) }
    } else {
      if settings.distinct != nil {
        SampleWords.appendName(draw, bits: nameBits, base: base, to: &bytes)
      } else {
        SampleWords.appendText(number, to: &bytes)
      }
      if isUnique { bytes.append(0x20) }
    }
    if isUnique { SampleWords.appendDecimal(key, to: &bytes) }
  }

  private func makeBlob(_ number: UInt64, key: UInt64, bytes: inout [UInt8]) {
    bytes.removeAll(keepingCapacity: true)
    switch type {
    case .uuid: makeUUID(number, key: key, bytes: &bytes)
    case .binaryData: makeBinary(number, key: key, bytes: &bytes)
    case .undefined, .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .boolean, .date, .uri,
      .transformable, .objectID, .composite:
      makeArchive(number, key: key, bytes: &bytes)
    }
  }

  private func makeUUID(_ number: UInt64, key: UInt64, bytes: inout [UInt8]) {
    Self.appendBigEndian(SampleHash.word(number, 0), to: &bytes)
    Self.appendBigEndian(isUnique ? key : SampleHash.word(number, 1), to: &bytes)
    // Version 4 and the variant of RFC 9562.
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
  }

  private func makeBinary(_ number: UInt64, key: UInt64, bytes: inout [UInt8]) {
    // The mark of bytes that are stored in the row, not in a file beside the store (B.4).
    if isExternal { bytes.append(0x01) }
    let start = bytes.count
    let count = 10 + Int(number % 191)
    if isUnique { Self.appendBigEndian(key, to: &bytes) }
    for place in 0..<UInt64(count / 8 + 1) { Self.appendBigEndian(SampleHash.word(number, place), to: &bytes) }
    bytes.removeLast(bytes.count - start - count)
  }

  private func makeArchive(_ number: UInt64, key: UInt64, bytes: inout [UInt8]) {
    let (template, start) = SampleArchive.template
    bytes.append(contentsOf: template[..<start])
    SampleWords.appendWord(number, syllables: 7, isCapital: true, to: &bytes)
    if isUnique {
      SampleWords.appendDecimal(key, minimumDigits: 10, to: &bytes)
    } else {
      SampleWords.appendWord(SampleHash.mix(number), syllables: 5, isCapital: false, to: &bytes)
    }
    bytes.append(contentsOf: template[(start + SampleArchive.textLength)...])
  }

  private static func appendBigEndian(_ word: UInt64, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) }
  }
}
