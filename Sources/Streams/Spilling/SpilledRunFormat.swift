/// Sizes and places in the file of a run. Layout: FORMAT.md, "Look-up runs".
struct SpilledRunFormat: Equatable {
  static let magic: UInt64 = 0x3230_6e75_7254_4457
  static let blockBytes = 4096
  /// A block begins with the number of its entries.
  static let blockHead = 4
  /// Hash, primary key, entity number, length of the key.
  static let entryHead = 24
  /// A longer key lies in blocks of its own.
  static let longestKeyInside = 1024
  static let indexEntryBytes = 8

  var entries: UInt64 = 0
  var filterBlocks: UInt64 = 1
  /// Blocks of entries and of long keys.
  var blocks: UInt64 = 0
  var indexEntries: UInt64 = 0

  static let filterStart = UInt64(blockBytes)
  var bodyStart: UInt64 { Self.filterStart + Self.rounded(filterBlocks * UInt64(RunFilter.blockBytes)) }
  var indexStart: UInt64 { bodyStart + blocks * UInt64(Self.blockBytes) }
  var fileLength: UInt64 { indexStart + indexEntries * UInt64(Self.indexEntryBytes) }

  static func rounded(_ bytes: UInt64) -> UInt64 { (bytes + UInt64(blockBytes) - 1) / UInt64(blockBytes) * UInt64(blockBytes) }

  var header: [UInt8] {
    [Self.magic, entries, filterBlocks, blocks, indexEntries].flatMap { word in
      (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
    }
  }
  static let headerBytes = 40

  init() {}

  /// Reads a header; nil where it contradicts the size of its file.
  init?(_ header: UnsafeRawBufferPointer, fileLength: UInt64) {
    guard header.count >= Self.headerBytes else { return nil }
    let words = (0..<5).map { UInt64(littleEndian: header.loadUnaligned(fromByteOffset: 8 * $0, as: UInt64.self)) }
    // None of these is larger than the file, so that nothing below overflows.
    guard words[0] == Self.magic, words[2] > 0, words.dropFirst().allSatisfy({ $0 <= fileLength }), fileLength < 1 << 50 else {
      return nil
    }
    (entries, filterBlocks, blocks, indexEntries) = (words[1], words[2], words[3], words[4])
    guard self.fileLength == fileLength else { return nil }
  }
}
