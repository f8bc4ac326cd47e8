import CLZ4

/// LZ4 blocks without a frame, as Parquet's LZ4_RAW has them.
public enum LZ4Block {
  /// Appends the compressed bytes to `output`. The bytes must be fewer than 2 GB.
  ///
  /// - Throws: ``StreamsError`` for more.
  public static func append(_ bytes: UnsafeRawBufferPointer, to output: inout [UInt8]) throws {
    let bound = bytes.count < LZ4_MAX_INPUT_SIZE ? Int(LZ4_compressBound(Int32(bytes.count))) : 0
    guard bound > 0 else {
      throw StreamsError(.tooLarge, "\(bytes.count) bytes cannot be compressed as one block of LZ4")
    }
    let block = [UInt8](unsafeUninitializedCapacity: bound) { room, count in
      let source = bytes.assumingMemoryBound(to: CChar.self).baseAddress
      count = room.withMemoryRebound(to: CChar.self) {
        Int(LZ4_compress_default(source, $0.baseAddress, Int32(bytes.count), Int32(bound)))
      }
    }
    output.append(contentsOf: block)
  }
}
