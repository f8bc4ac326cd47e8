import Streams

/// A value as it lies in a record; bytes are valid as long as the record.
enum ExportCell {
  case null
  case integer(Int64)
  case real(Double)
  case text(UnsafeRawBufferPointer)
  case blob(UnsafeRawBufferPointer)

  /// The value of a column that the record has.
  init(_ decoder: RecordDecoder, _ position: Int) {
    let type = decoder.type(position)
    let body = decoder.body(position)
    switch type {
    case SerialType.null: self = .null
    case SerialType.real: self = .real(Double(bitPattern: UInt64(bigEndian: body.loadUnaligned(as: UInt64.self))))
    case _ where SerialType.isInteger(type): self = .integer(decoder.integer(position) ?? 0)
    case _ where SerialType.isText(type): self = .text(body)
    default: self = .blob(body)
    }
  }

  /// Calls `body` with the column's value; with that which a shorter record has by default.
  static func with(
    _ decoder: RecordDecoder, at position: Int, missing: (Int) -> Value, _ body: (ExportCell) -> Void
  ) {
    guard position >= decoder.columnCount else { return body(ExportCell(decoder, position)) }
    with(missing(position), body)
  }

  /// Calls `body` with a value.
  static func with(_ value: Value, _ body: (ExportCell) -> Void) {
    switch value {
    case .null: body(.null)
    case .integer(let integer): body(.integer(integer))
    case .real(let double): body(.real(double))
    case .text(var text): text.withUTF8 { body(.text(UnsafeRawBufferPointer($0))) }
    case .blob(let bytes): bytes.withUnsafeBytes { body(.blob($0)) }
    }
  }
}
