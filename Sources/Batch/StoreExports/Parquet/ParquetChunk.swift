import Streams

/// What a row group has of one column: pages, each compressed, with their headers.
struct ParquetChunk {
  /// PLAIN values, and levels as runs.
  private static let plain = 0
  private static let runs = 3
  /// LZ4 blocks without a frame.
  private static let codec = 7

  private(set) var bytes: [UInt8] = []
  /// Bytes before compression, headers included.
  private(set) var plainBytes = 0
  private var rows = 0
  private var nulls = 0

  /// Adds a page: levels and values.
  ///
  /// - Throws: ``StreamsError`` for a page of 2 GB.
  mutating func append(page body: [UInt8], rows: Int, nulls: Int) throws {
    var block: [UInt8] = []
    try body.withUnsafeBytes { try LZ4Block.append($0, to: &block) }
    let header = ThriftWriter.structure { page in
      page.int32(1, 0)
      page.int32(2, body.count)
      page.int32(3, block.count)
      page.structure(
        5,
        ThriftWriter.structure { data in
          data.int32(1, rows)
          data.int32(2, Self.plain)
          data.int32(3, Self.runs)
          data.int32(4, Self.runs)
        })
    }
    bytes += header
    bytes += block
    plainBytes += header.count + body.count
    self.rows += rows
    self.nulls += nulls
  }

  /// What the footer says of the chunk; `offset` is its place in the file.
  func description(of column: ParquetColumn, at offset: Int) -> [UInt8] {
    let metadata = ThriftWriter.structure { data in
      data.int32(1, column.type.number)
      data.int32s(2, [Self.plain, Self.runs])
      data.texts(3, [column.name])
      data.int32(4, Self.codec)
      data.int64(5, rows)
      data.int64(6, plainBytes)
      data.int64(7, bytes.count)
      data.int64(9, offset)
      data.structure(12, ThriftWriter.structure { $0.int64(3, nulls) })
    }
    return ThriftWriter.structure { chunk in
      chunk.int64(2, 0)
      chunk.structure(3, metadata)
    }
  }
}
