import CoreDataModel
import CoreDataStore
import StoreExports
import Streams

/// A row of an entity whose values are read from a line and written into a record, without objects between.
final class ImportRow {
  private let template: [Value]
  private let start: [ImportCell]
  private var cells: [ImportCell]

  init(_ template: [Value]) {
    self.template = template
    start = template.map { $0 == .null ? .null : .template }
    cells = start
  }

  func begin() { cells = start }

  func set(_ column: Int, _ cell: ImportCell) { cells[column] = cell }

  func isNull(_ column: Int) -> Bool { if case .null = cells[column] { true } else { false } }

  /// A column's value.
  func value(_ column: Int) -> Value {
    switch cells[column] {
    case .null: return .null
    case .template: return template[column]
    case .integer(let integer): return .integer(integer)
    case .real(let double): return .real(double)
    case .text(let text): return .text(String(decoding: text, as: UTF8.self))
    case .uuid(let high, let low):
      return .blob(withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) })
    }
  }

  func write(to record: RecordEncoder) {
    record.reset()
    for (column, cell) in cells.enumerated() {
      switch cell {
      case .null: record.appendNull()
      case .template: record.append(template[column])
      case .integer(let integer): record.append(integer)
      case .real(let double): record.append(double)
      case .text(let text): record.append(type: SerialType.text(length: text.count), body: text)
      case .uuid(let high, let low):
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) {
          record.append(type: SerialType.blob(length: 16), body: $0)
        }
      }
    }
  }
}

extension AttributeType {
  /// A number as a column of this type holds it; nil if it is none, or not that simple. The rule is that of
  /// ``ImportAttribute/stored(_:)``.
  func cell(number: ImportCell) -> ImportCell? {
    switch (self, number) {
    case (.integer16, .integer(let value)), (.integer32, .integer(let value)), (.integer64, .integer(let value)):
      return integerRange.contains(value) ? number : nil
    case (.boolean, .integer(let value)): return value == 0 || value == 1 ? number : nil
    case (.date, .integer(let value)): return ImportAttribute.mayBeDay(value) ? nil : number
    case (.decimal, .integer), (.float, .integer): return number
    case (.double, .integer(let value)): return real(Double(value))
    case (.double, .real(let value)), (.date, .real(let value)), (.decimal, .real(let value)): return real(value)
    case (.float, .real(let value)): return real(ImportAttribute.meant(value))
    default: return nil
    }
  }

  private func real(_ value: Double) -> ImportCell? {
    switch stored(.real(value)) {
    case .integer(let integer): .integer(integer)
    case .real(let double): .real(double)
    case .null, .text, .blob: nil
    }
  }

  /// A text as a column of this type holds it; nil if it is none, or not that simple.
  func cell(text: UnsafeRawBufferPointer) -> ImportCell? {
    switch self {
    case .string, .uri: return .text(text)
    case .date:
      guard let seconds = text.withMemoryRebound(to: UInt8.self, { ExportDate.seconds($0) }) else { return nil }
      return real(seconds)
    case .uuid:
      guard let bytes = ExportUUID.bytes(String(decoding: text, as: UTF8.self)) else { return nil }
      return bytes.withUnsafeBytes {
        .uuid(
          UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
          UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
      }
    case .undefined, .integer16, .integer32, .integer64, .decimal, .double, .float, .boolean, .binaryData,
      .transformable, .objectID, .composite:
      return nil
    }
  }
}
