import Streams

/// A column of a Parquet file: its values since the last row group, in compressed pages and one that is still open.
final class ParquetColumn {
  /// Bytes after which a page ends.
  private static let pageBytes = 128 << 10
  private static let secondsTo2001 = 978_307_200.0

  let name: String
  let type: ParquetType
  let isOptional: Bool
  /// Whether it is text because sub-entities have several types by its name; then it has the fields of CSV.
  let isMixed: Bool
  /// Values that do not have the column's type, and became NULL.
  private(set) var strays: UInt64 = 0
  /// Texts that were not UTF-8 and got replacement characters.
  private(set) var repairedTexts: UInt64 = 0
  private var page = ParquetPage()
  private var chunk = ParquetChunk()

  init(_ name: String, _ type: ParquetType, isOptional: Bool = true, isMixed: Bool = false) {
    (self.name, self.type, self.isOptional, self.isMixed) = (name, type, isOptional, isMixed)
  }

  /// Bytes that are kept until the row group ends.
  var byteCount: Int { chunk.bytes.count + page.byteCount }

  /// Ends the open page if it is large.
  func endRow() throws { if page.byteCount >= Self.pageBytes { try endPage() } }

  /// Gives away what the row group has of this column.
  func endGroup() throws -> ParquetChunk {
    if page.rows > 0 { try endPage() }
    defer { chunk = ParquetChunk() }
    return chunk
  }

  private func endPage() throws {
    let (rows, nulls) = (page.rows, page.rows - page.present)
    try chunk.append(page: page.take(isOptional: isOptional), rows: rows, nulls: nulls)
  }
}

extension ParquetColumn {
  func appendNull() { page.appendNull() }

  /// A whole number, in a column of those.
  func append(_ value: Int64) { page.append(value) }

  func append(_ text: String) {
    var text = text
    text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
  }

  /// Bytes as they are.
  func append(_ bytes: UnsafeRawBufferPointer) { page.append(bytes, withLength: true) }

  /// A value of a row; NULL if it does not have the column's type, which is counted.
  func append(_ cell: ExportCell) {
    switch (type, cell) {
    case (_, .null): appendNull()
    case (.boolean, .integer(let value)) where value == 0 || value == 1: page.append(value == 1)
    case (.int16, .integer(let value)) where Int16(exactly: value) != nil: page.append(Int32(value))
    case (.int32, .integer(let value)) where Int32(exactly: value) != nil: page.append(Int32(value))
    case (.int64, .integer(let value)): page.append(value)
    case (.float, .real(let value)) where !value.isFinite || Float(value).isFinite:
      page.append(Float(value).bitPattern)
    case (.float, .integer(let value)): page.append(Float(value).bitPattern)
    case (.double, .real(let value)): page.append(value.bitPattern)
    case (.double, .integer(let value)): page.append(Double(value).bitPattern)
    case (.timestamp, .real(let value)): append(seconds: value)
    case (.timestamp, .integer(let value)): append(seconds: Double(value))
    case (.uuid, .blob(let bytes)) where bytes.count == 16: page.append(bytes, withLength: false)
    case (.bytes, .blob(let bytes)), (.bytes, .text(let bytes)): append(bytes)
    case (.text, .text(let bytes)): append(text: bytes)
    case (.text, .integer(let value)): append(value.description)
    case (.text, .real(let value)): append(value.description)
    case (.boolean, _), (.int16, _), (.int32, _), (.int64, _), (.float, _), (.double, _), (.timestamp, _), (.uuid, _),
      (.bytes, _), (.text, _):
      appendStray()
    }
  }

  private func appendStray() {
    strays += 1
    appendNull()
  }

  private func append(text: UnsafeRawBufferPointer) {
    guard let repaired = ExportText.repaired(text) else { return append(text) }
    repairedTexts += 1
    append(repaired)
  }

  private func append(seconds: Double) {
    let whole = seconds.rounded(.down)
    guard let total = Int64(exactly: whole + Self.secondsTo2001) else { return appendStray() }
    let (base, isTooLarge) = total.multipliedReportingOverflow(by: 1_000_000)
    let (micros, overflows) = base.addingReportingOverflow(Int64(((seconds - whole) * 1_000_000).rounded()))
    if isTooLarge || overflows { appendStray() } else { page.append(micros) }
  }
}
