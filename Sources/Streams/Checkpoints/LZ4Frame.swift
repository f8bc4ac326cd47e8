import CLZ4

/// One standard LZ4 frame around a whole buffer, as `lz4 -d` opens it.
///
/// Source of the rule: LZ4 Frame Format Description 1.6.x. Every frame has the content's size, a checksum of each block
/// and one of the content; another frame is refused, since its damage could pass unseen.
public enum LZ4Frame {
  /// FLG: version 01, independent blocks, block checksums, content size, content checksum, no dictionary.
  static let flags: UInt8 = 0b0111_1100
  /// BD: blocks of 64 KiB at most.
  static let blockSize: UInt8 = 0b0100_0000
  /// Position of FLG and BD. They are compared as a whole, since the header's own check has only 8 bits and lets a
  /// flipped one pass now and then.
  private static let descriptor = 4..<6
  private static let headerLength = 15

  /// Compresses `bytes`, which must not be empty.
  ///
  /// - Throws: ``StreamsError``.
  public static func compress(_ bytes: [UInt8]) throws -> [UInt8] {
    guard !bytes.isEmpty else { throw damaged("there is nothing to compress") }
    var preferences = LZ4F_preferences_t()
    preferences.frameInfo.blockSizeID = LZ4F_max64KB
    preferences.frameInfo.blockMode = LZ4F_blockIndependent
    preferences.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled
    preferences.frameInfo.blockChecksumFlag = LZ4F_blockChecksumEnabled
    preferences.frameInfo.contentSize = UInt64(bytes.count)
    let bound = LZ4F_compressFrameBound(bytes.count, &preferences)
    guard LZ4F_isError(bound) == 0 else { throw damaged(reason(bound)) }
    var written = 0
    let frame = [UInt8](unsafeUninitializedCapacity: bound) { buffer, count in
      written = LZ4F_compressFrame(buffer.baseAddress, bound, bytes, bytes.count, &preferences)
      count = LZ4F_isError(written) == 0 ? written : 0
    }
    guard LZ4F_isError(written) == 0 else { throw damaged(reason(written)) }
    return frame
  }

  /// Gives back the content of one frame that fills `frame` exactly. No more than `cap` bytes are allocated for it.
  ///
  /// - Throws: ``StreamsError``.
  public static func decompress(_ frame: [UInt8], cap: Int) throws -> [UInt8] {
    var context: OpaquePointer?
    let made = LZ4F_createDecompressionContext(&context, UInt32(LZ4F_VERSION))
    guard LZ4F_isError(made) == 0, let context else { throw damaged(reason(made)) }
    defer { LZ4F_freeDecompressionContext(context) }
    let (size, headerLength) = try contentSize(of: frame, context, cap: cap)
    return try [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      try fill(UnsafeMutableRawBufferPointer(buffer), from: frame, at: headerLength, context)
      count = size
    }
  }

  private static func contentSize(
    of frame: [UInt8], _ context: OpaquePointer, cap: Int
  ) throws -> (Int, Int) {
    guard frame.count > headerLength else { throw damaged("it ends inside its header") }
    guard frame[descriptor].elementsEqual([flags, blockSize]) else {
      throw damaged("its header is not the one that is written here")
    }
    var info = LZ4F_frameInfo_t()
    var consumed = frame.count
    let result = LZ4F_getFrameInfo(context, &info, frame, &consumed)
    guard LZ4F_isError(result) == 0 else { throw damaged(reason(result)) }
    // A byte of LZ4 stands for 255 bytes at most, so a small file cannot ask for a large buffer.
    let (largest, overflow) = frame.count.multipliedReportingOverflow(by: 255)
    guard let size = Int(exactly: info.contentSize), size > 0, size <= cap, overflow || size <= largest else {
      throw damaged("it claims a content of \(info.contentSize) bytes")
    }
    return (size, consumed)
  }

  private static func fill(
    _ buffer: UnsafeMutableRawBufferPointer, from frame: [UInt8], at start: Int, _ context: OpaquePointer
  ) throws {
    var position = start
    var produced = 0
    var more = 1
    while more != 0 {
      var input = frame.count - position
      var output = buffer.count - produced
      more = frame.withUnsafeBytes { source in
        LZ4F_decompress(
          context, buffer.baseAddress.map { $0 + produced }, &output, source.baseAddress.map { $0 + position }, &input,
          nil)
      }
      guard LZ4F_isError(more) == 0 else { throw damaged(reason(more)) }
      guard more == 0 || input > 0 || output > 0 else { throw damaged("it ends too early") }
      position += input
      produced += output
    }
    guard produced == buffer.count else { throw damaged("its content is shorter than its header says") }
    guard position == frame.count else { throw damaged("bytes follow its end") }
  }

  private static func reason(_ code: Int) -> String { String(cString: LZ4F_getErrorName(code)) }

  private static func damaged(_ what: String) -> StreamsError {
    StreamsError(.damagedCheckpoint, "the LZ4 frame cannot be used: \(what)")
  }
}
