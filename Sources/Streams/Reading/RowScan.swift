/// Reads the rows of a table of either kind, a page of rows at a time: with rowids, or WITHOUT ROWID, which is kept as
/// an index.
///
/// Rows of the latter are counted from 1 in the order of their primary key; that number takes the rowid's place, also
/// as the place to continue from. Its columns stand in the record as ``IndexScan`` finds them: those of the primary key
/// first.
public final class RowScan {
  private enum Kind {
    case table(TableScan)
    case index(IndexScan)
  }

  private let kind: Kind

  /// Prepares a scan. `rowLimit` is the largest record in bytes that is put together in memory; of a row of the first
  /// kind that has more than `payloadLimit` only the beginning is delivered, and `longValuesFrom` is for that kind as
  /// well, as ``TableScan`` has it.
  ///
  /// - Throws: ``StreamsError``: `damagedDatabase`.
  public init(
    snapshot: DatabaseSnapshot, root: UInt32, isWithoutRowid: Bool, after row: Int64? = nil, rowLimit: Int,
    payloadLimit: Int = .max, longValuesFrom: Int? = nil
  ) throws {
    kind =
      isWithoutRowid
      ? .index(try IndexScan(snapshot: snapshot, root: root, after: row ?? 0, rowLimit: rowLimit))
      : .table(
        TableScan(
          snapshot: snapshot, root: root, after: row, rowLimit: rowLimit, payloadLimit: payloadLimit,
          longValuesFrom: longValuesFrom))
  }

  /// Bytes of pages read so far.
  public var bytesRead: UInt64 {
    switch kind {
    case .table(let scan): scan.bytesRead
    case .index(let scan): scan.bytesRead
    }
  }

  /// Fills `page` with the next rows; false when there are none. The page is emptied first.
  ///
  /// - Throws: ``StreamsError``.
  public func next(into page: RowPage) throws -> Bool {
    switch kind {
    case .table(let scan): try scan.next(into: page)
    case .index(let scan): try scan.next(into: page)
    }
  }
}
