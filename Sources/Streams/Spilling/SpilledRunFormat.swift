/// Sizes and places in the file of a run. Layout: FORMAT.md, "Look-up runs".
struct SpilledRunFormat: Equatable {
  static let magic: UInt64 = 0x3430_6e75_7254_4457
  static let blockBytes = 1024
  /// A block begins with the number of its entries, and a check over all that follows it and over that number.
  static let blockHead = 16
  private static let checkOffset = 8
  /// Hash, primary key, entity number, length of the key.
  static let entryHead = 24
  /// A longer key lies in blocks of its own.
  static let longestKeyInside = 256
  static let indexEntryBytes = 8

  var entries: UInt64 = 0
  var filterBlocks: UInt64 = 1
  /// Blocks of entries and of long keys.
  var blocks: UInt64 = 0
  var indexEntries: UInt64 = 0
  /// The hash of the index.
  var indexCheck: UInt64 = 0

  static let filterStart = UInt64(blockBytes)
  var bodyStart: UInt64 { Self.filterStart + Self.rounded(filterBlocks * UInt64(RunFilter.blockBytes)) }
  var indexStart: UInt64 { bodyStart + blocks * UInt64(Self.blockBytes) }
  var fileLength: UInt64 { indexStart + indexEntries * UInt64(Self.indexEntryBytes) }

  static func rounded(_ bytes: UInt64) -> UInt64 {
    (bytes + UInt64(blockBytes) - 1) / UInt64(blockBytes) * UInt64(blockBytes)
  }

  var header: [UInt8] {
    let words = [Self.magic, entries, filterBlocks, blocks, indexEntries, indexCheck].flatMap(Self.bytes)
    return words + Self.bytes(words.withUnsafeBytes { hashBytes($0) })
  }
  static let headerBytes = 56

  private static func bytes(_ word: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
  }

  /// The check of a block: four chains, so that the machine works on them at once, and one of what they give. Every
  /// step can be undone, so a difference in one word is never lost.
  private static func check(_ block: UnsafeRawPointer) -> UInt64 {
    func word(_ offset: Int) -> UInt64 { UInt64(littleEndian: block.load(fromByteOffset: offset, as: UInt64.self)) }
    func mix(_ value: UInt64) -> UInt64 {
      let product = value &* 0x9E37_79B9_7F4A_7C15
      return product ^ product >> 32
    }
    var (a, b, c, d) = (word(0) ^ 1, UInt64(2), UInt64(3), UInt64(4))
    var offset = blockHead
    while offset + 32 <= blockBytes {
      a = mix(a ^ word(offset))
      b = mix(b ^ word(offset + 8))
      c = mix(c ^ word(offset + 16))
      d = mix(d ^ word(offset + 24))
      offset += 32
    }
    a = mix(a ^ word(offset))
    b = mix(b ^ word(offset + 8))
    return mix(mix(mix(mix(a) ^ b) ^ c) ^ d)
  }

  /// Ends a block that has all of its entries.
  static func seal(_ block: UnsafeMutableRawPointer) {
    block.storeBytes(of: check(block).littleEndian, toByteOffset: checkOffset, as: UInt64.self)
  }

  /// Whether a block is as it was written.
  static func isSound(_ block: UnsafeRawPointer) -> Bool {
    UInt64(littleEndian: block.load(fromByteOffset: checkOffset, as: UInt64.self)) == check(block)
  }

  init() {}

  /// Reads a header; nil if it contradicts the size of its file.
  init?(_ header: UnsafeRawBufferPointer, fileLength: UInt64) {
    guard header.count >= Self.headerBytes else { return nil }
    let words = (0..<7).map { UInt64(littleEndian: header.loadUnaligned(fromByteOffset: 8 * $0, as: UInt64.self)) }
    // None of these is larger than the file, so that nothing below overflows.
    guard words[0] == Self.magic, words[2] > 0, words[1...4].allSatisfy({ $0 <= fileLength }), fileLength < 1 << 50,
      words[6] == hashBytes(UnsafeRawBufferPointer(rebasing: header[..<48]))
    else {
      return nil
    }
    (entries, filterBlocks, blocks, indexEntries, indexCheck) = (words[1], words[2], words[3], words[4], words[5])
    guard self.fileLength == fileLength else { return nil }
  }
}
