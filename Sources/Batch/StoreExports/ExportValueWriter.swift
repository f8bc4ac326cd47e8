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

/// Writes single values.
struct ExportValueWriter {
  let text: ExportText
  /// Where files with external data lie, and how large one of that name is; nil when it is missing.
  let externalSize: (String) -> UInt64?

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
    case .blob(let bytes): text.appendBase64(bytes)
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
    if bytes.first == 1 { return text.appendBase64(UnsafeRawBufferPointer(rebasing: bytes[1...])) }
    guard let name = Self.reference(bytes) else { return text.appendBase64(bytes) }
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

  /// The file's name, which is a UUID and nothing else: it becomes part of a path.
  private static func reference(_ bytes: UnsafeRawBufferPointer) -> String? {
    guard bytes.count == 38, bytes[0] == 2, bytes[37] == 0 else { return nil }
    for index in 1..<37 {
      let byte = bytes[index]
      let isDash = index == 9 || index == 14 || index == 19 || index == 24
      let isHex = (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
      guard isDash ? byte == 0x2D : isHex else { return nil }
    }
    return String(decoding: bytes[1..<37], as: UTF8.self)
  }
}
