import CoreDataModel
import CoreDataStore
import StoreExports
import Streams

/// A row of an entity whose values are read from a line and written as a record, without objects between.
final class ImportRow {
  private let template: [Value]
  private let count: Int
  /// The row's default values, and those of the line at hand.
  private let start: UnsafeMutablePointer<ImportCell>
  private let cells: UnsafeMutablePointer<ImportCell>
  private let types: UnsafeMutablePointer<UInt64>
  /// The defaults as records hold them, one after the other.
  private let defaults: [[UInt8]]
  @exclusivity(unchecked) private var bodyLength = 0
  @exclusivity(unchecked) private var typesLength = 0

  init(_ template: [Value]) {
    self.template = template
    count = template.count
    start = .allocate(capacity: template.count)
    cells = .allocate(capacity: template.count)
    types = .allocate(capacity: template.count)
    defaults = template.map(Self.body)
    for (column, value) in template.enumerated() {
      (start + column).initialize(to: Self.cell(value))
      (cells + column).initialize(to: start[column])
    }
  }

  deinit {
    start.deallocate()
    cells.deallocate()
    types.deallocate()
  }

  /// A row of its own, for another thread.
  func copy() -> ImportRow { ImportRow(template) }

  private static func cell(_ value: Value) -> ImportCell {
    switch value {
    case .null: .null
    case .integer(let integer): .integer(integer)
    case .real(let double): .real(double)
    case .text, .blob: .template
    }
  }

  private static func body(_ value: Value) -> [UInt8] {
    switch value {
    case .text(let text): Array(text.utf8)
    case .blob(let bytes): bytes
    case .null, .integer, .real: []
    }
  }

  @inline(__always)
  func begin() { cells.update(from: start, count: count) }

  @inline(__always)
  func set(_ column: Int, _ cell: ImportCell) { cells[column] = cell }

  func isNull(_ column: Int) -> Bool { if case .null = cells[column] { true } else { false } }

  /// Bytes of the record.
  @inline(__always)
  var recordLength: Int {
    (bodyLength, typesLength) = (0, 0)
    for column in 0..<count {
      let type = serialType(column)
      types[column] = type
      typesLength += type < 0x80 ? 1 : Varint.length(type)
      bodyLength += type < 12 ? Self.length(type) : Int(type - 12) >> 1
    }
    return headerLength + bodyLength
  }

  @inline(__always)
  private static func length(_ type: UInt64) -> Int {
    type > 6 ? (type == 7 ? 8 : 0) : type > 4 ? 2 * Int(type) - 4 : Int(type)
  }

  private var headerLength: Int {
    // The header's own length counts itself.
    typesLength + 1 < 0x80 ? typesLength + 1 : typesLength + Varint.length(UInt64(typesLength + 2))
  }

  @inline(__always)
  private func serialType(_ column: Int) -> UInt64 {
    switch cells[column] {
    case .null: SerialType.null
    case .integer(let integer): SerialType.integer(integer)
    case .real: SerialType.real
    case .text(let text): SerialType.text(length: text.count)
    case .uuid: SerialType.blob(length: 16)
    case .template:
      if case .text = template[column] {
        SerialType.text(length: defaults[column].count)
      } else {
        SerialType.blob(length: defaults[column].count)
      }
    }
  }

  /// Writes the record, whose length was asked for.
  @inline(__always)
  func write(to target: UnsafeMutableRawPointer) {
    var place = Varint.write(UInt64(headerLength), to: target)
    for column in 0..<count { place += Varint.write(types[column], to: target + place) }
    for column in 0..<count {
      switch cells[column] {
      case .null: break
      case .integer(let integer):
        let length = Self.length(types[column])
        SerialType.writeInteger(integer, length: length, to: target + place)
        place += length
      case .real(let double):
        target.storeBytes(of: double.bitPattern.bigEndian, toByteOffset: place, as: UInt64.self)
        place += 8
      case .text(let text): place += Self.copy(text, to: target + place)
      case .uuid(let high, let low):
        target.storeBytes(of: high.bigEndian, toByteOffset: place, as: UInt64.self)
        target.storeBytes(of: low.bigEndian, toByteOffset: place + 8, as: UInt64.self)
        place += 16
      case .template: place += defaults[column].withUnsafeBytes { Self.copy($0, to: target + place) }
      }
    }
  }

  private static func copy(_ bytes: UnsafeRawBufferPointer, to target: UnsafeMutableRawPointer) -> Int {
    if let base = bytes.baseAddress { target.copyMemory(from: base, byteCount: bytes.count) }
    return bytes.count
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
    case (.float, .real(let value)): return real(ShortFloat.meant(value))
    default: return nil
    }
  }

  private func real(_ value: Double) -> ImportCell { whole(value).map(ImportCell.integer) ?? .real(value) }

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
