import Streams

/// A Parquet file on its way out: row groups of bounded size, then the footer that describes them.
///
/// Source of the rule: "Apache Parquet file format" and parquet.thrift. Columns are flat. The same rows give the same
/// bytes.
final class ParquetFile {
  private static let mark = Array("PAR1".utf8)

  let columns: [ParquetColumn]
  private let groupBytes: Int
  private let sink: (UnsafeRawBufferPointer) throws -> Void
  private var offset = 0
  private var rows = 0
  private var groupRows = 0
  /// Row groups as the footer has them; they grow with the file, by some 60 bytes a column and group.
  private var groups: [UInt8] = []
  private var groupCount = 0

  /// Begins a file. A row group ends when it has `groupBytes`, compressed ones and those of open pages.
  ///
  /// - Throws: what `sink` throws.
  init(_ columns: [ParquetColumn], groupBytes: Int, sink: @escaping (UnsafeRawBufferPointer) throws -> Void) throws {
    (self.columns, self.groupBytes, self.sink) = (columns, groupBytes, sink)
    try write(Self.mark)
  }

  private func write(_ bytes: [UInt8]) throws {
    try bytes.withUnsafeBytes { if !$0.isEmpty { try sink($0) } }
    offset += bytes.count
  }

  /// Ends a row: every column has one value more.
  ///
  /// - Throws: ``StreamsError``, and what the sink throws.
  func endRow() throws {
    groupRows += 1
    var size = 0
    for column in columns {
      try column.endRow()
      size += column.byteCount
    }
    if size >= groupBytes { try endGroup() }
  }

  private func endGroup() throws {
    guard groupRows > 0 else { return }
    let start = offset
    var descriptions: [UInt8] = []
    var plainBytes = 0
    for column in columns {
      let chunk = try column.endGroup()
      descriptions += chunk.description(of: column, at: offset)
      plainBytes += chunk.plainBytes
      try write(chunk.bytes)
    }
    groups += ThriftWriter.structure { group in
      group.structures(1, count: columns.count, descriptions)
      group.int64(2, plainBytes)
      group.int64(3, groupRows)
      group.int64(5, start)
      group.int64(6, offset - start)
    }
    groupCount += 1
    rows += groupRows
    groupRows = 0
  }

  /// Ends the file.
  ///
  /// - Throws: ``StreamsError``, and what the sink throws.
  func finish() throws {
    try endGroup()
    let root = ThriftWriter.structure { element in
      element.text(4, "schema")
      element.int32(5, columns.count)
    }
    let footer = ThriftWriter.structure { file in
      file.int32(1, 1)
      file.structures(
        2, count: columns.count + 1,
        ([root] + columns.map { $0.type.element($0.name, isOptional: $0.isOptional) }).joined())
      file.int64(3, rows)
      file.structures(4, count: groupCount, groups)
      file.text(6, "godwit")
    }
    try write(footer + withUnsafeBytes(of: UInt32(footer.count).littleEndian) { Array($0) } + Self.mark)
  }
}
