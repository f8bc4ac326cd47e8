import Streams

/// One change that persistent history tells of, with its transaction.
struct HistoryChange {
  /// What became of the object.
  enum Kind: Int64 {
    case insert = 0
    case update = 1
    case delete = 2

    var word: String {
      switch self {
      case .insert: "insert"
      case .update: "update"
      case .delete: "delete"
      }
    }
  }

  /// Z_PK in ACHANGE.
  var number: Int64
  /// Z_PK in ATRANSACTION.
  var transaction: Int64?
  /// What is known of the transaction; nil if its row is gone.
  var origin: HistoryOrigin?
  /// The number that stands for the kind; one that is not known is shown as it is.
  var kindNumber: Int64?
  var entityNumber: Int64?
  var entity: String?
  var key: Int64?
  /// The bitmap of changed properties.
  var bitmap: [UInt8]?
  /// Names of the changed properties; nil if the bitmap cannot be read with the model.
  var properties: [String]?
  /// What is kept of a deleted object, by column.
  var tombstone: [(column: String, value: Value)] = []

  var kind: String { kindNumber.flatMap { Kind(rawValue: $0)?.word } ?? kindNumber.map { "\($0)" } ?? "unknown" }
  var bitmapText: String? { bitmap?.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}

/// When a transaction was saved, and by whom.
struct HistoryOrigin {
  /// Seconds since 2001.
  var time: Double?
  var author: String?
  var context: String?
  var bundle: String?
  var process: String?
}
