import CoreDataStore
import LoadTables
import MappingModels
import RunSupport
import StoreExports
import Streams

/// Whether a value of an ordinary table means what a value of the store does. It goes the other way than the writer: from
/// the text to the time, from the digits to the bytes. One thread at a time.
struct PlainComparison {
  private let store: LoadStore
  private let ours: LongValueReader
  private let theirs: LongValueReader
  private static let pieceBytes = 64 << 10

  init(_ store: LoadStore, _ written: DatabaseSnapshot) {
    self.store = store
    theirs = LongValueReader(snapshot: store.reader.snapshot, limit: 2 * OutsideValue.threshold)
    ours = LongValueReader(snapshot: written, limit: 2 * OutsideValue.threshold)
  }

  /// Compares a value that was written with the one of the source.
  func isSame(_ written: SourceValue, _ source: SourceValue, in field: PlainField) throws -> Bool {
    switch field.kind {
    case .integer, .real: written.number == source.number && written.isNull == source.isNull
    case .decimal: isSameDecimal(written, source)
    case .date(let dates): isSameTime(written, source, as: dates)
    case .uuid: isSameUUID(written, source)
    case .text, .blob: try isSameText(written, source, in: field)
    }
  }

  private func isSameTime(_ written: SourceValue, _ source: SourceValue, as dates: PlainDates) -> Bool {
    guard let seconds = source.number?.double else { return written.isNull }
    switch dates {
    case .unix:
      // Of one number that is rounded once.
      return written.number?.double == seconds + 978_307_200
    case .iso:
      guard let found = written.text.flatMap({ ExportDate.seconds($0) }) else { return false }
      return abs(found - seconds) <= 0.5e-6 + 2 * seconds.magnitude.ulp
    }
  }

  private func isSameDecimal(_ written: SourceValue, _ source: SourceValue) -> Bool {
    guard let text = written.text else { return written.isNull && source.isNull }
    return source.number.map { $0 == PlainNumber(text) } ?? (source.text == text)
  }

  private func isSameUUID(_ written: SourceValue, _ source: SourceValue) -> Bool {
    guard let text = written.text else { return written.isNull && source.isNull }
    guard let (bytes, isText) = source.bytes, !isText else { return false }
    return ExportUUID.bytes(text) == bytes
  }
}

// Texts and bytes, which may be long.
extension PlainComparison {
  private func isSameText(_ written: SourceValue, _ source: SourceValue, in field: PlainField) throws -> Bool {
    guard let wanted = try wanted(source, in: field) else { return written.isNull }
    if let long = written.long {
      return SerialType.isText(long.type) == (field.kind == .text) && (try isSame(.stored(long, skipped: 0), wanted))
    }
    guard let (bytes, isText) = written.bytes, isText == (field.kind == .text) else { return false }
    return try isSame(.bytes(bytes), wanted)
  }

  /// What the source has; nil for NULL, and for a value whose file is gone.
  private func wanted(_ source: SourceValue, in field: PlainField) throws -> OutsideValue? {
    if let long = source.long {
      let isMarked = try field.isExternal && theirs.firstByte(of: long) == 1
      return .stored(long, skipped: isMarked ? 1 : 0)
    }
    guard let (bytes, _) = source.bytes else { return nil }
    guard field.isExternal else { return .bytes(bytes) }
    switch bytes.withUnsafeBytes({ ExternalValue($0) }) {
    case .inline: return .bytes(Array(bytes[1...]))
    case .unknown: return .bytes(bytes)
    case .file(let name): return try store.externalFile(name).map { .file(path: $0.path, bytes: $0.bytes) }
    }
  }

  private func isSame(_ found: OutsideValue, _ wanted: OutsideValue) throws -> Bool {
    guard found.byteCount == wanted.byteCount else { return false }
    if case .bytes(let one) = found, case .bytes(let other) = wanted { return one == other }
    let one = try OutsideReader(found, longValues: ours, fileSystem: store.fileSystem)
    let other = try OutsideReader(wanted, longValues: theirs, fileSystem: store.fileSystem)
    var left = found.byteCount
    return try withUnsafeTemporaryAllocation(byteCount: 2 * Self.pieceBytes, alignment: 16) { memory in
      guard let base = memory.baseAddress else { return false }
      while left > 0 {
        let count = min(left, Self.pieceBytes)
        try one.read(into: base, count)
        try other.read(into: base + Self.pieceBytes, count)
        guard memory[..<count].elementsEqual(memory[Self.pieceBytes..<(Self.pieceBytes + count)]) else { return false }
        left -= count
      }
      return true
    }
  }
}
