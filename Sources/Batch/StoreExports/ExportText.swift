import RunSupport
import Streams

/// The formats of an export.
public enum ExportFormat: String, Sendable, CaseIterable {
  /// One JSON object a line.
  case jsonLines = "jsonl"
  /// Comma-separated values with a header (RFC 4180).
  case csv
  /// Apache Parquet: columns with types, in row groups, compressed.
  case parquet

  /// The text that the format is; nil for Parquet.
  var text: ExportTextFormat? {
    switch self {
    case .jsonLines: .jsonLines
    case .csv: .csv
    case .parquet: nil
    }
  }

  /// The error of a file that has columns, for objects of several root entities.
  func refusal(path: String) -> BatchError {
    BatchError(
      .refused, "a file of \(rawValue) has the columns of one entity",
      hint: "Name an entity, write to a folder, or export as jsonl", path: path)
  }
}

/// The formats that are text.
enum ExportTextFormat {
  case jsonLines
  case csv
}

/// The text of an export on its way out: bytes are gathered and handed on in pieces.
final class ExportText {
  private static let pieceLength = 256 << 10

  let format: ExportTextFormat
  /// Texts that were not UTF-8 and got replacement characters.
  private(set) var repairedTexts: UInt64 = 0
  @exclusivity(unchecked) private var bytes: [UInt8] = []
  private let sink: (UnsafeRawBufferPointer) throws -> Void

  init(format: ExportTextFormat, sink: @escaping (UnsafeRawBufferPointer) throws -> Void) {
    self.format = format
    self.sink = sink
    bytes.reserveCapacity(Self.pieceLength * 2)
  }

  /// Hands on what has gathered, when it is enough.
  func flushIfLarge() throws { if bytes.count >= Self.pieceLength { try flush() } }

  /// Hands on all that has gathered.
  func flush() throws {
    try bytes.withUnsafeBytes { if !$0.isEmpty { try sink($0) } }
    // One row may be as large as the memory budget allows; its room is not kept.
    bytes.removeAll(keepingCapacity: bytes.capacity <= Self.pieceLength * 8)
  }

  /// Bytes that have gathered.
  var count: Int { bytes.count }

  /// Gives away what has gathered, instead of handing it on.
  func take() -> [UInt8] {
    defer { bytes = [] }
    return bytes
  }

  // MARK: Parts of the format

  func append(_ ascii: StaticString) {
    bytes.append(contentsOf: UnsafeRawBufferPointer(start: ascii.utf8Start, count: ascii.utf8CodeUnitCount))
  }
  func append(_ prepared: [UInt8]) { bytes.append(contentsOf: prepared) }
  func append(byte: UInt8) { bytes.append(byte) }

  func append(_ integer: Int64) {
    if integer >= 0, integer < 10 { return bytes.append(0x30 + UInt8(integer)) }
    var digits: (UInt64, UInt64, UInt64) = (0, 0, 0)
    withUnsafeMutableBytes(of: &digits) { room in
      var (rest, start) = (integer.magnitude, room.count)
      repeat {
        start -= 1
        room[start] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      } while rest > 0
      if integer < 0 {
        start -= 1
        room[start] = 0x2D
      }
      bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: room[start...]))
    }
  }

  /// Text that needs no escape in either format: in quotes where the format has them.
  func appendPlain(_ text: String) {
    if format == .jsonLines { bytes.append(0x22) }
    bytes.append(contentsOf: text.utf8)
    if format == .jsonLines { bytes.append(0x22) }
  }

  /// A number as the shortest text that gives the same double again; JSON has no form for what is not finite.
  func append(_ number: Double) {
    if number.isFinite { return bytes.append(contentsOf: number.description.utf8) }
    appendPlain(number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity")
  }

  /// NULL; in CSV nothing, where an empty text is a pair of quotes.
  func appendNull() { if format == .jsonLines { append("null") } }

  /// Any text of the store.
  func appendText(_ text: UnsafeRawBufferPointer) {
    if var repaired = Self.repaired(text) {
      repairedTexts += 1
      return repaired.withUTF8 { appendValid(UnsafeRawBufferPointer($0), isPlain: false) }
    }
    let isPlain = text.allSatisfy { $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C && $0 != 0x2C }
    appendValid(text, isPlain: isPlain && !text.isEmpty)
  }

  /// The text with replacement characters, if it is not UTF-8; nil if it is.
  static func repaired(_ text: UnsafeRawBufferPointer) -> String? {
    var isASCII = true
    for byte in text where byte >= 0x80 { isASCII = false }
    guard !isASCII, String(validating: text, as: UTF8.self) == nil else { return nil }
    return String(decoding: text, as: UTF8.self)
  }

  private func appendValid(_ text: UnsafeRawBufferPointer, isPlain: Bool) {
    guard format == .jsonLines else { return appendField(text, isPlain: isPlain) }
    bytes.append(0x22)
    if isPlain { bytes.append(contentsOf: text) } else { appendEscaped(text) }
    bytes.append(0x22)
  }

  /// A field of RFC 4180: in quotes where it is empty or holds a comma, a quote or a control character.
  private func appendField(_ text: UnsafeRawBufferPointer, isPlain: Bool) {
    guard !isPlain else { return bytes.append(contentsOf: text) }
    bytes.append(0x22)
    for byte in text {
      if byte == 0x22 { bytes.append(0x22) }
      bytes.append(byte)
    }
    bytes.append(0x22)
  }

  private func appendEscaped(_ text: UnsafeRawBufferPointer) {
    for byte in text {
      switch byte {
      case 0x22: append("\\\"")
      case 0x5C: append("\\\\")
      case 0x0A: append("\\n")
      case 0x0D: append("\\r")
      case 0x09: append("\\t")
      case 0..<0x20:
        append("\\u00")
        bytes.append(Self.hexDigits[Int(byte >> 4)])
        bytes.append(Self.hexDigits[Int(byte & 15)])
      default: bytes.append(byte)
      }
    }
  }

  // MARK: Bytes

  private static let hexDigits = Array("0123456789ABCDEF".utf8)
  private static let base64Digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// Base64 with padding (RFC 4648, section 4).
  func appendBase64(_ blob: UnsafeRawBufferPointer) {
    if format == .jsonLines { bytes.append(0x22) } else if blob.isEmpty { return append("\"\"") }
    Self.base64Digits.withUnsafeBufferPointer { digits in
      var index = 0
      while index + 2 < blob.count {
        let word = Int(blob[index]) << 16 | Int(blob[index + 1]) << 8 | Int(blob[index + 2])
        for shift in [18, 12, 6, 0] { bytes.append(digits[word >> shift & 63]) }
        index += 3
      }
      guard index < blob.count else { return }
      let isPair = index + 1 < blob.count
      let word = Int(blob[index]) << 16 | (isPair ? Int(blob[index + 1]) << 8 : 0)
      bytes.append(digits[word >> 18 & 63])
      bytes.append(digits[word >> 12 & 63])
      bytes.append(isPair ? digits[word >> 6 & 63] : 0x3D)
      bytes.append(0x3D)
    }
    if format == .jsonLines { bytes.append(0x22) }
  }

  /// Sixteen bytes as the text of a UUID.
  func appendUUID(_ blob: UnsafeRawBufferPointer) {
    if format == .jsonLines { bytes.append(0x22) }
    for (index, byte) in blob.enumerated() {
      if index == 4 || index == 6 || index == 8 || index == 10 { bytes.append(0x2D) }
      bytes.append(Self.hexDigits[Int(byte >> 4)])
      bytes.append(Self.hexDigits[Int(byte & 15)])
    }
    if format == .jsonLines { bytes.append(0x22) }
  }
}

extension ExportText {
  /// The text of a name for a place that is prepared once, quotes and escapes included.
  static func prepared(_ name: String, _ format: ExportTextFormat) -> [UInt8] {
    let text = ExportText(format: format, sink: { _ in })
    var name = name
    name.withUTF8 { text.appendText(UnsafeRawBufferPointer($0)) }
    return text.take()
  }
}
