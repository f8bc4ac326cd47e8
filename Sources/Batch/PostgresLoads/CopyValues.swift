import CoreDataStore
import LoadTables
import Streams

/// Encodes single values as fields of binary COPY.
struct CopyValues {
  private let store: LoadStore
  private let longValues: LongValueReader

  init(store: LoadStore) {
    self.store = store
    longValues = LongValueReader(snapshot: store.reader.snapshot, limit: 2 * OutsideValue.threshold)
  }

  /// From 2000-01-01, where PostgreSQL's times begin, to 2001-01-01, where Core Data's do, in microseconds.
  private static let epoch: Double = 31_622_400_000_000
  /// The first and the last time that PostgreSQL knows: 4714-11-24 BC and the end of 294276 (PostgreSQL, "Date/Time
  /// Types").
  private static let times = -211_813_488_000_000_000.0..<9_223_371_331_200_000_000.0

  /// Appends the value of a record's column.
  @inline(__always)
  func append(_ record: RecordDecoder, position: Int, field: CopyRowEncoder.Field, buffer: CopyBuffer) throws {
    let type = record.type(position)
    if type == SerialType.null { return buffer.appendNull() }
    if SerialType.isInteger(type) { return try append(record.integer(position) ?? 0, field: field, buffer: buffer) }
    if type == SerialType.real { return try append(record.real(position) ?? 0, field: field, buffer: buffer) }
    if let long = record.longValue(position) { return try append(long, field: field, buffer: buffer) }
    try append(record.body(position), isText: SerialType.isText(type), field: field, buffer: buffer)
  }

  /// Appends a column's default.
  func append(_ value: Value, field: CopyRowEncoder.Field, buffer: CopyBuffer) throws {
    switch value {
    case .null: buffer.appendNull()
    case .integer(let integer): try append(integer, field: field, buffer: buffer)
    case .real(let real): try append(real, field: field, buffer: buffer)
    case .text(let text):
      try Array(text.utf8).withUnsafeBytes { try append($0, isText: true, field: field, buffer: buffer) }
    case .blob(let bytes): try bytes.withUnsafeBytes { try append($0, isText: false, field: field, buffer: buffer) }
    }
  }

  private func append(_ value: Int64, field: CopyRowEncoder.Field, buffer: CopyBuffer) throws {
    switch field.type {
    case .bigint:
      buffer.appendField(value)
    case .integer:
      guard let narrow = Int32(exactly: value) else { throw CopyFault(what: "is \(value)") }
      buffer.appendField(narrow)
    case .smallint:
      guard let narrow = Int16(exactly: value) else { throw CopyFault(what: "is \(value)") }
      buffer.appendField(narrow)
    case .boolean:
      guard value == 0 || value == 1 else { throw CopyFault(what: "is \(value)") }
      buffer.appendField(UInt8(value))
    case .numeric: try appendNumeric(String(value), buffer)
    case .doublePrecision, .real, .timestamptz:
      guard let double = Double(exactly: value) else { throw CopyFault(what: "is \(value)") }
      try append(double, field: field, buffer: buffer)
    case .text, .uuid, .bytea: throw CopyFault(what: "is the number \(value)")
    }
  }

  private func append(_ value: Double, field: CopyRowEncoder.Field, buffer: CopyBuffer) throws {
    switch field.type {
    case .doublePrecision:
      buffer.appendField(value.bitPattern)
    case .real:
      let float = Float(value)
      guard float.isFinite == value.isFinite else { throw CopyFault(what: "is \(value)") }
      buffer.appendField(float.bitPattern)
    case .timestamptz:
      buffer.appendField(try Self.time(value))
      if !WholeMicroseconds.hold(value) { buffer.remarks.rounded[field.column, default: 0] += 1 }
    case .numeric:
      guard value.isFinite else { throw CopyFault(what: "is \(value)") }
      try appendNumeric(value.description, buffer)
    case .bigint, .integer, .smallint, .boolean:
      guard let whole = Int64(exactly: value) else { throw CopyFault(what: "is \(value)") }
      try append(whole, field: field, buffer: buffer)
    case .text, .uuid, .bytea: throw CopyFault(what: "is the number \(value)")
    }
  }

  private static func time(_ seconds: Double) throws -> Int64 {
    if seconds.isInfinite { return seconds > 0 ? .max : .min }
    // Whole seconds apart: together with their fraction they have more digits than a double.
    let whole = seconds.rounded(.down)
    let time = whole * 1e6 + epoch
    guard times.contains(time) else { throw CopyFault(what: "is the time \(seconds)") }
    return Int64(time) + Int64(((seconds - whole) * 1e6).rounded())
  }

  private func appendNumeric(_ text: String, _ buffer: CopyBuffer) throws {
    try Array(text.utf8).withUnsafeBytes { try appendNumeric($0, buffer) }
  }

  private func appendNumeric(_ text: UnsafeRawBufferPointer, _ buffer: CopyBuffer) throws {
    guard let number = NumericText(text) else { throw CopyFault(what: "is no decimal number") }
    number.write(to: buffer)
  }

  private func append(
    _ bytes: UnsafeRawBufferPointer, isText: Bool, field: CopyRowEncoder.Field, buffer: CopyBuffer
  ) throws {
    switch field.type {
    case .text:
      guard isText else { throw CopyFault(what: "is binary data") }
      try TextCheck.check(bytes).throwUnlessGood()
      append(whole: bytes, buffer)
    case .bytea:
      if field.isExternal, !isText { return try appendExternal(bytes, buffer) }
      append(whole: bytes, buffer)
    case .uuid:
      guard bytes.count == 16, !isText else { throw CopyFault(what: "is not the 16 bytes of a UUID") }
      buffer.appendField(bytes)
    case .numeric:
      guard isText else { throw CopyFault(what: "is binary data") }
      try appendNumeric(bytes, buffer)
    case .smallint, .integer, .bigint, .real, .boolean, .doublePrecision, .timestamptz:
      throw CopyFault(what: isText ? "is a text" : "is binary data")
    }
  }

  @inline(__always)
  private func append(whole bytes: UnsafeRawBufferPointer, _ buffer: CopyBuffer) {
    if bytes.count < OutsideValue.threshold { return buffer.appendField(bytes) }
    buffer.appendField(.bytes(Array(bytes)), isText: false)
  }

  private func append(_ value: LongValue, field: CopyRowEncoder.Field, buffer: CopyBuffer) throws {
    guard field.type.isLong, field.type == .bytea || SerialType.isText(value.type) else {
      throw CopyFault(what: SerialType.isText(value.type) ? "is a long text" : "is binary data")
    }
    guard value.byteCount <= OutsideValue.maximum else { throw CopyFault(what: "has \(value.byteCount) bytes") }
    let isText = SerialType.isText(value.type)
    let isMarked = field.isExternal && !isText
    guard value.byteCount > OutsideValue.threshold || !isMarked else {
      return try longValues.bytes(of: value).withUnsafeBytes {
        try append($0, isText: isText, field: field, buffer: buffer)
      }
    }
    // As of short ones: what has no marker is kept as it is.
    let skipped = try isMarked && longValues.firstByte(of: value) == 1 ? 1 : 0
    buffer.appendField(.stored(value, skipped: skipped), isText: field.type == .text)
  }

  /// A value that may lie in a file beside the store (B.4).
  private func appendExternal(_ bytes: UnsafeRawBufferPointer, _ buffer: CopyBuffer) throws {
    switch ExternalValue(bytes) {
    case .inline: append(whole: UnsafeRawBufferPointer(rebasing: bytes[1...]), buffer)
    case .unknown: append(whole: bytes, buffer)
    case .file(let name):
      guard let file = try store.externalFile(name) else {
        buffer.remarks.lostFiles += 1
        return buffer.appendNull()
      }
      guard file.bytes <= OutsideValue.maximum else { throw CopyFault(what: "has \(file.bytes) bytes") }
      guard file.bytes < OutsideValue.threshold else {
        return buffer.appendField(.file(path: file.path, bytes: file.bytes), isText: false)
      }
      try store.fileSystem.readAll(file.path, cap: OutsideValue.threshold).withUnsafeBytes { buffer.appendField($0) }
    }
  }
}
