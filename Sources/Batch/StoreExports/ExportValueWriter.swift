import CoreDataModel
import Streams

/// How the values of an attribute are written. A value of another storage class than its attribute's is written as it
/// is stored: numbers as numbers, text as text, bytes in base64.
enum ExportKind: Sendable {
  /// As it is stored: whole numbers, decimals, strings, URIs, bytes.
  case stored
  case boolean
  case double
  case float
  case date
  case uuid
  /// Bytes that may lie in a file beside the store: their first byte says so (B.4).
  case external

  init(_ attribute: AttributeDescription) {
    switch attribute.type {
    case .boolean: self = .boolean
    case .double: self = .double
    case .float: self = .float
    case .date: self = .date
    case .uuid: self = .uuid
    case .binaryData where attribute.allowsExternalBinaryDataStorage: self = .external
    case .undefined, .integer16, .integer32, .integer64, .decimal, .string, .binaryData, .uri, .transformable,
      .objectID,
      .composite:
      self = .stored
    }
  }
}

extension ExportKind {
  /// The kind as it is written: dates may be wanted as numbers.
  func written(_ dates: ExportDates) -> ExportKind {
    switch (self, dates) {
    case (.date, .seconds): .double
    case (.stored, _), (.boolean, _), (.double, _), (.float, _), (.date, .iso), (.uuid, _), (.external, _): self
    }
  }
}

/// Writes single values.
struct ExportValueWriter {
  let text: ExportText
  /// Where files with external data lie, and how large one of that name is; nil when it is missing.
  let externalSize: (String) -> UInt64?
  var blobs = BlobReader()

  func write(_ cell: ExportCell, as kind: ExportKind) {
    switch (kind, cell) {
    case (.boolean, .integer(0)): text.append("false")
    case (.boolean, .integer(1)): text.append("true")
    case (.double, .integer(let integer)): text.append(Double(integer))
    case (.float, .integer(let integer)): text.append(Double(integer))
    case (.float, .real(let double)): writeFloat(double)
    case (.date, .integer(let integer)): writeDate(Double(integer), cell)
    case (.date, .real(let double)): writeDate(double, cell)
    case (.uuid, .blob(let bytes)) where bytes.count == 16: text.appendUUID(bytes)
    case (.external, .blob(let bytes)): writeExternal(bytes)
    default: writeStored(cell)
    }
  }

  private func writeStored(_ cell: ExportCell) {
    switch cell {
    case .null: text.appendNull()
    case .integer(let integer): text.append(integer)
    case .real(let double): text.append(double)
    case .text(let bytes): text.appendText(bytes)
    case .blob(let bytes): writeBlob(bytes)
    }
  }

  private func writeBlob(_ bytes: UnsafeRawBufferPointer) {
    switch blobs.form(of: bytes) {
    case .bytes: text.appendBase64(bytes)
    case .uuid: text.appendUUID(bytes)
    case .json(let json):
      if text.format == .jsonLines { return text.append(json) }
      json.withUnsafeBytes { text.appendText($0) }
    }
  }

  /// A float is stored as the double next to it; the short text of the float gives the same float again.
  private func writeFloat(_ double: Double) {
    let float = Float(double)
    guard double.isFinite, Double(float) == double else { return text.append(double) }
    text.append(Array(float.description.utf8))
  }

  private func writeDate(_ seconds: Double, _ cell: ExportCell) {
    guard let date = ExportDate.text(seconds) else { return writeStored(cell) }
    if text.format == .jsonLines { text.append(byte: 0x22) }
    text.append(date)
    if text.format == .jsonLines { text.append(byte: 0x22) }
  }

  private func writeExternal(_ bytes: UnsafeRawBufferPointer) {
    if bytes.first == 1 { return writeBlob(UnsafeRawBufferPointer(rebasing: bytes[1...])) }
    guard let name = BlobReader.externalFile(bytes) else { return writeBlob(bytes) }
    guard text.format == .jsonLines else {
      text.append("external:")
      return text.appendPlain(name)
    }
    text.append("{\"bytes\":")
    if let size = externalSize(name) { text.append(Int64(clamping: size)) } else { text.append("null") }
    text.append(",\"externalFile\":")
    text.appendPlain(name)
    text.append("}")
  }
}
