import CoreDataStore
import LoadTables
import RunSupport
import StoreExports
import Streams

/// Encodes single values as ordinary tables hold them. One thread at a time.
struct PlainValues {
  private let store: LoadStore
  private let encoder: RecordEncoder
  private let longValues: LongValueReader

  init(_ store: LoadStore, _ encoder: RecordEncoder) {
    (self.store, self.encoder) = (store, encoder)
    longValues = LongValueReader(snapshot: store.reader.snapshot, limit: 2 * OutsideValue.threshold)
  }

  /// Bytes of the longest value: SQLite takes 1,000,000,000 for a row (SQLite, "Limits In SQLite").
  private static let longest = 1_000_000_000 - (1 << 20)
  /// Seconds from 1970-01-01 to 2001-01-01.
  static let epoch: Double = 978_307_200

  /// Appends the value of a record's column; returns what is to be noted of it. Values that lie elsewhere are added to
  /// `outside`. Throws ``PlainFault``.
  @inline(__always)
  func append(
    _ record: RecordDecoder, position: Int, field: PlainField, outside: inout [PlainPage.Insertion]
  ) throws -> PlainRemarks.Remark? {
    let type = record.type(position)
    if type == SerialType.null {
      encoder.appendNull()
      return field.isRequired ? .missing : nil
    }
    if SerialType.isInteger(type) { return try append(record.integer(position) ?? 0, field) }
    if type == SerialType.real { return try append(record.real(position) ?? 0, field) }
    if let long = record.longValue(position) { return try append(long, field, outside: &outside) }
    return try append(record.body(position), isText: SerialType.isText(type), field, outside: &outside)
  }

  /// Appends the value of a row that ends before the column.
  func append(_ field: PlainField, outside: inout [PlainPage.Insertion]) throws -> PlainRemarks.Remark? {
    switch field.standard {
    case .null:
      encoder.appendNull()
      return field.isRequired ? .missing : nil
    case .integer(let integer): return try append(integer, field)
    case .real(let real): return try append(real, field)
    case .text(let text):
      return try Array(text.utf8).withUnsafeBytes { try append($0, isText: true, field, outside: &outside) }
    case .blob(let bytes): return try bytes.withUnsafeBytes { try append($0, isText: false, field, outside: &outside) }
    }
  }

  private func append(_ value: Int64, _ field: PlainField) throws -> PlainRemarks.Remark? {
    switch field.kind {
    case .integer(let range):
      encoder.append(value)
      return range.contains(value) ? nil : .wide
    case .real:
      encoder.append(value)
      return nil
    case .decimal:
      append(text: String(value))
      return nil
    case .date:
      guard let double = Double(exactly: value) else { throw PlainFault("is the time \(value)") }
      return try append(double, field)
    case .text, .uuid, .blob: throw PlainFault("is the number \(value)")
    }
  }

  private func append(_ value: Double, _ field: PlainField) throws -> PlainRemarks.Remark? {
    guard !value.isNaN else {
      // As SQLite reads it.
      encoder.appendNull()
      return .notANumber
    }
    switch field.kind {
    case .real:
      encoder.append(value)
      return nil
    case .decimal:
      guard value.isFinite else { throw PlainFault("is \(value)") }
      append(text: DecimalText.text(value))
      return nil
    case .date(.unix):
      encoder.append(value + Self.epoch)
      return Self.rounding(value) == 0 ? nil : .rounded
    case .date(.iso):
      guard let text = ExportDate.text(value) else {
        throw PlainFault("is the time \(value)", fitsSeconds: true)
      }
      text.withUnsafeBytes { encoder.append(type: SerialType.text(length: $0.count), body: $0) }
      return WholeMicroseconds.hold(value) ? nil : .rounded
    case .integer:
      guard let whole = Int64(exactly: value) else { throw PlainFault("is \(value)") }
      return try append(whole, field)
    case .text, .uuid, .blob: throw PlainFault("is the number \(value)")
    }
  }

  /// What the sum of a time and the epoch lacks, exactly (Knuth, "The Art of Computer Programming" 2, 4.2.2, theorem B).
  static func rounding(_ value: Double) -> Double {
    let sum = value + epoch
    let part = sum - value
    let rest = (value - (sum - part)) + (epoch - part)
    return rest.isFinite ? rest : 0
  }

  private func append(text: String) {
    var text = text
    text.withUTF8 { encoder.append(type: SerialType.text(length: $0.count), body: UnsafeRawBufferPointer($0)) }
  }
}

// Texts and bytes.
extension PlainValues {
  private func append(
    _ bytes: UnsafeRawBufferPointer, isText: Bool, _ field: PlainField, outside: inout [PlainPage.Insertion]
  ) throws -> PlainRemarks.Remark? {
    switch field.kind {
    case .text where isText:
      encoder.append(type: SerialType.text(length: bytes.count), body: bytes)
      return switch TextCheck.check(bytes) {
      case .good: nil
      case .hasNul: .nul
      case .notUTF8: .notUTF8
      }
    case .decimal where isText:
      encoder.append(type: SerialType.text(length: bytes.count), body: bytes)
      return nil
    case .uuid where !isText && bytes.count == 16:
      UUIDText.bytes(bytes).withUnsafeBytes { encoder.append(type: SerialType.text(length: $0.count), body: $0) }
      return nil
    case .blob where !isText:
      if field.isExternal { return try appendExternal(bytes, outside: &outside) }
      encoder.append(type: SerialType.blob(length: bytes.count), body: bytes)
      return nil
    case .uuid where !isText: throw PlainFault("is not the 16 bytes of a UUID")
    case .text, .decimal, .uuid, .blob, .integer, .real, .date:
      throw PlainFault(isText ? "is a text" : "is binary data")
    }
  }

  private func append(
    _ value: LongValue, _ field: PlainField, outside: inout [PlainPage.Insertion]
  ) throws -> PlainRemarks.Remark? {
    let isText = SerialType.isText(value.type)
    guard isText ? field.kind == .text : field.kind == .blob else {
      throw PlainFault(isText ? "is a long text" : "is long binary data")
    }
    // What has no marker is kept as it is.
    let skipped = try field.isExternal && longValues.firstByte(of: value) == 1 ? 1 : 0
    let found = OutsideValue.stored(value, skipped: skipped)
    append(found, isText: isText, &outside)
    return isText ? try remark(on: value) : nil
  }

  private func remark(on value: LongValue) throws -> PlainRemarks.Remark? {
    var (pieces, found) = (TextPieces(), TextCheck.Result.good)
    try longValues.forEachPiece(of: value, bytes: 128 << 10) { piece in
      if found == .good { found = pieces.add(piece) }
    }
    return switch found {
    case .hasNul: .nul
    case .notUTF8: .notUTF8
    case .good: pieces.isWhole ? nil : .notUTF8
    }
  }

  private func append(_ value: OutsideValue, isText: Bool, _ outside: inout [PlainPage.Insertion]) {
    outside.append(PlainPage.Insertion(offset: encoder.bodyLength, value: value))
    let type = isText ? SerialType.text(length: value.byteCount) : SerialType.blob(length: value.byteCount)
    encoder.append(type: type, body: UnsafeRawBufferPointer(start: nil, count: 0))
  }

  /// A value that may lie in a file beside the store (B.4).
  private func appendExternal(
    _ bytes: UnsafeRawBufferPointer, outside: inout [PlainPage.Insertion]
  ) throws -> PlainRemarks.Remark? {
    switch ExternalValue(bytes) {
    case .inline:
      let rest = UnsafeRawBufferPointer(rebasing: bytes[1...])
      encoder.append(type: SerialType.blob(length: rest.count), body: rest)
    case .unknown: encoder.append(type: SerialType.blob(length: bytes.count), body: bytes)
    case .file(let name):
      guard let file = try store.externalFile(name) else {
        encoder.appendNull()
        return .lostFile
      }
      guard file.bytes <= Self.longest else {
        throw PlainFault("has \(file.bytes) bytes, more than SQLite keeps in a row")
      }
      append(.file(path: file.path, bytes: file.bytes), isText: false, &outside)
    }
    return nil
  }
}
