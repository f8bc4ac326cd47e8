import RunSupport
import Streams

// Rows that stand in a log.
extension ImportTables {
  /// Takes rows in order, of which none is changed by what others set; false, and takes none, if they have to be looked
  /// at one by one.
  func take(_ head: ImportRowLog.Head, _ rows: UnsafeRawBufferPointer) throws -> Bool {
    guard let entity = plan.byNumber[head.entity], entity.table == head.table, listed[head.table].isEmpty,
      !entity.required.contains(where: \.isRelationship)
    else { return false }
    try close()
    try advance(to: head.table)
    try lookUp()
    guard let builder else { return false }
    let offset = head.isKeyed ? 0 : spool.largestKeys[head.table]
    var (next, count) = (ImportStretchRows(rows, isKeyed: head.isKeyed, after: head.first), 0)
    while let record = next.next() {
      try builder.append(rowid: next.number &+ offset, record: record)
      count += 1
    }
    guard count == head.count else { throw BatchError(.failed, "rows of the import are damaged") }
    counts[head.entity] += UInt64(count)
    self.rows += UInt64(count)
    taken += UInt64(count)
    bytesSinceLook += rows.count
    return true
  }
}
