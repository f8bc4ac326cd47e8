import CoreDataStore
import Streams

/// How far a comparison is: by the bytes of the tables that it reads.
final class ContentsMeter {
  /// Rows that are looked up in the order of another key cost more than those that are read along.
  static let lookupWeight = 2.0

  private let total: Double
  private let report: (UInt64, Double) -> Void
  /// Of tables that are done.
  private var (rows, bytes): (UInt64, Double) = (0, 0)

  /// `total` are the bytes that are to be read, with their weight.
  init(total: Double, _ report: @escaping (UInt64, Double) -> Void) {
    (self.total, self.report) = (max(1, total), report)
  }

  /// Tells how far the table at hand is.
  func show(rows: UInt64, bytes: Double) { report(self.rows + rows, min(1, (self.bytes + bytes) / total)) }

  /// Leaves a table that is done.
  func finish(rows: UInt64, bytes: Double) {
    self.rows += rows
    self.bytes += bytes
  }
}

extension StoreReader {
  /// Bytes of a table's pages with rows.
  func bytes(of table: TableSchema) throws -> Double {
    guard !table.isWithoutRowid else { return 0 }
    return Double(try TablePages.count(snapshot, root: table.rootPage)) * Double(snapshot.geometry.pageSize)
  }
}
