import Streams

/// A value as it stands in a row: of the store's, or of one that was read back. The row must stay as it is.
struct SourceValue {
  let record: RecordDecoder
  let position: Int
  /// The value of rows that end before the column; nil if this one does not.
  private let standard: Value?

  init(_ record: RecordDecoder, at position: Int, standard: Value = .null) {
    (self.record, self.position) = (record, position)
    self.standard = position < record.columnCount ? nil : standard
  }

  /// Whether it is NULL, or a NaN, which SQLite takes for NULL.
  var isNull: Bool {
    standard.map { $0 == .null } ?? (record.type(position) == SerialType.null || record.real(position)?.isNaN == true)
  }

  var number: PlainNumber? {
    switch standard {
    case .integer(let integer)?: PlainNumber(integer)
    case .real(let real)?: PlainNumber(real)
    case .null?, .text?, .blob?: nil
    case nil:
      record.integer(position).map { PlainNumber($0) }
        ?? record.real(position).flatMap { $0.isNaN ? nil : PlainNumber($0) }
    }
  }

  /// A text or a blob that is not kept elsewhere, and whether it is a text.
  var bytes: (bytes: [UInt8], isText: Bool)? {
    switch standard {
    case .text(let text)?: return (Array(text.utf8), true)
    case .blob(let bytes)?: return (bytes, false)
    case .null?, .integer?, .real?: return nil
    case nil:
      let type = record.type(position)
      guard SerialType.isText(type) || SerialType.isBlob(type) else { return nil }
      return (Array(record.body(position)), SerialType.isText(type))
    }
  }

  var text: String? {
    guard let (bytes, isText) = bytes, isText else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A long one, of which only the place is in memory.
  var long: LongValue? { standard == nil ? record.longValue(position) : nil }
}
