import Streams

/// Gives rows of a log to a builder of tables, as far as they come before what was sorted.
final class ImportLogDrain {
  private let reader: ImportRowLog.Reader
  private let tables: ImportTables
  /// What is still to be passed over, as it was taken before.
  var left: UInt64
  private var block: (head: ImportRowLog.Head, rows: UnsafeRawBufferPointer)?
  /// The rows of a block of which some were given, and the one that is next.
  private var open: ImportStretchRows?
  private var record: UnsafeRawBufferPointer?
  private var line = 0

  init(_ reader: ImportRowLog.Reader, to tables: ImportTables) throws {
    (self.reader, self.tables, left) = (reader, tables, tables.taken)
    block = try reader.next()
  }

  /// Gives all rows up to an address, that one included.
  func pass(through table: Int, _ address: ImportAddress) throws {
    while let (head, rows) = block, head.table <= table {
      if open == nil, head.table < table || head.address(head.last).precedes(address) {
        try passWhole(head, rows)
        block = try reader.next()
      } else {
        guard try passSome(head, rows, isAll: head.table < table, through: address) else { return }
        open = nil
        block = try reader.next()
      }
    }
  }

  private func passWhole(_ head: ImportRowLog.Head, _ rows: UnsafeRawBufferPointer) throws {
    guard left < UInt64(head.count) else { return left -= UInt64(head.count) }
    guard left == 0, try tables.take(head, rows) else {
      _ = try passSome(head, rows, isAll: true, through: head.address(head.last))
      open = nil
      return
    }
  }

  /// Gives rows of a block one by one; false if there are more of them.
  private func passSome(
    _ head: ImportRowLog.Head, _ rows: UnsafeRawBufferPointer, isAll: Bool, through address: ImportAddress
  ) throws -> Bool {
    if open == nil {
      open = ImportStretchRows(rows, isKeyed: head.isKeyed, after: head.first)
      (record, line) = (open?.next(), head.firstLine)
    }
    while let found = record, let number = open?.number {
      let own = head.address(number)
      guard isAll || !address.precedes(own) else { return false }
      if left > 0 { left -= 1 } else { try tables.row(head.table, own, line: line, record: found) }
      (record, line) = (open?.next(), line + 1)
    }
    guard line - head.firstLine == head.count else { throw reader.damaged }
    return true
  }
}

extension ImportRowLog.Head {
  func address(_ number: Int64) -> ImportAddress { isKeyed ? ImportAddress(key: number) : ImportAddress(new: number) }
}
