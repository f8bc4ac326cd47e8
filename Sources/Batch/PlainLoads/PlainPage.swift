import LoadTables
import Streams

/// Finished rows of one table on their way to the builder. Used again.
final class PlainPage: @unchecked Sendable {
  // Sendable by discipline: the pipeline hands a page from one thread to the next and never shares it.

  /// A value that is copied from where it lies, behind so many bytes of the row's values.
  struct Insertion {
    var offset: Int
    var value: OutsideValue
  }

  /// The rows, without values that lie elsewhere.
  let records = RecordPage()
  /// Values that lie elsewhere, by the number of their row in the page.
  private(set) var insertions: [Int: [Insertion]] = [:]
  /// What is to be told of the rows.
  var remarks = PlainRemarks()
  /// Bytes of the source's pages that were read for them.
  var bytesRead: UInt64 = 0

  func reset() {
    records.reset()
    insertions = [:]
    (remarks, bytesRead) = (PlainRemarks(), 0)
  }

  /// Adds a row.
  func append(_ rowid: Int64, _ encoder: RecordEncoder, outside: [Insertion]) {
    if !outside.isEmpty { insertions[records.count] = outside }
    records.append(table: 0, rowid: rowid, encoder)
  }
}
