/// The committed frames of a `-wal` file: which page's newest contents lie at which frame.
///
/// Frames count up to the last commit whose salts and running checksum fit; whatever follows is a tail that was never
/// committed. Source of the rule: SQLite, "WAL-mode File Format", sections 4.1 to 4.4.
struct WriteAheadLog: Sendable {
  static let headerLength = 32
  static let frameHeaderLength = 24

  let file: any File
  let pageSize: Int
  /// Pages of the database after the last commit.
  let pageCount: UInt32
  /// Identifies this generation of the log.
  let salts: UInt64
  /// Committed frames.
  let frameCount: Int
  /// Page number in the upper, frame index in the lower half; sorted, one entry a page.
  private let entries: [UInt64]

  /// Reads the log; nil when it holds no commit. One that `memory` knows is not read again.
  init?(file: any File, pageSize: Int, status: FileStatus, memory: LogMemory?) throws {
    let size = try file.size()
    let header = try Self.bytes(file, Self.headerLength, at: 0)
    guard size > UInt64(Self.headerLength), let sum = WALChecksum(header: header, pageSize: pageSize) else {
      return nil
    }
    self.file = file
    self.pageSize = pageSize
    salts = sum.salts
    if let known = memory?.find(status, header),
      try Self.ends(file, frames: known.frameCount, pageSize: pageSize) == known.ends
    {
      (pageCount, frameCount, entries) = (known.pageCount, known.frameCount, known.entries)
      return
    }
    let scan = try Self.scan(file, size: size, sum: sum, pageSize: pageSize)
    guard scan.committed > 0 else { return nil }
    pageCount = scan.pageCount
    frameCount = scan.committed
    entries = Self.newest(scan.pages, count: scan.committed)
    memory?.keep(
      LogMemory.Known(
        status: status, header: header, ends: try Self.ends(file, frames: frameCount, pageSize: pageSize),
        pageCount: pageCount,
        frameCount: frameCount, entries: entries))
  }

  /// The headers of the last committed frame, and of what stands after it: there the next commit would begin.
  private static func ends(_ file: any File, frames: Int, pageSize: Int) throws -> [[UInt8]] {
    let length = UInt64(frameHeaderLength + pageSize)
    let end = UInt64(headerLength) + UInt64(frames) * length
    return [try bytes(file, frameHeaderLength, at: end - length), try bytes(file, frameHeaderLength, at: end)]
  }

  /// As many bytes as there are.
  private static func bytes(_ file: any File, _ count: Int, at offset: UInt64) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let found = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: offset) }
    return Array(bytes[0..<found])
  }

  private struct Scan {
    var pages: [UInt32] = []
    var committed = 0
    var pageCount: UInt32 = 0
  }

  private static func scan(_ file: any File, size: UInt64, sum start: WALChecksum, pageSize: Int) throws -> Scan {
    var sum = start
    var result = Scan()
    let frameLength = frameHeaderLength + pageSize
    let perRead = max(1, (1 << 18) / frameLength)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: perRead * frameLength, alignment: 8)
    defer { buffer.deallocate() }
    var offset = UInt64(headerLength)
    while offset < size {
      let count = try file.read(into: buffer, at: offset) / frameLength
      if count == 0 { return result }
      for index in 0..<count {
        let frame = UnsafeRawPointer(buffer.baseAddress!) + index * frameLength
        guard sum.accept(frame: frame, pageSize: pageSize), result.pages.count < Int(UInt32.max) else { return result }
        result.pages.append(frame.bigEndian32(0))
        let afterCommit = frame.bigEndian32(4)
        if afterCommit > 0 { (result.committed, result.pageCount) = (result.pages.count, afterCommit) }
      }
      offset += UInt64(count * frameLength)
    }
    return result
  }

  private static func newest(_ pages: [UInt32], count: Int) -> [UInt64] {
    var all = (0..<count).map { UInt64(pages[$0]) << 32 | UInt64($0) }
    all.sort()
    var kept: [UInt64] = []
    for (index, entry) in all.enumerated() where index + 1 == all.count || all[index + 1] >> 32 != entry >> 32 {
      kept.append(entry)
    }
    return kept
  }

  /// Bytes of a frame.
  var frameLength: Int { Self.frameHeaderLength + pageSize }

  /// Reads the pages of consecutive frames, the first of which begins at `offset`, in one call.
  func read(_ count: Int, at offset: UInt64, into pages: UnsafeMutableRawBufferPointer, path: String, page: UInt32)
    throws
  {
    let length = count * frameLength - Self.frameHeaderLength
    try withUnsafeTemporaryAllocation(byteCount: length, alignment: 8) { frames in
      guard try file.read(into: frames, at: offset) == length, let from = frames.baseAddress,
        let target = pages.baseAddress
      else {
        throw StreamsError(.damagedDatabase, "the log ends within a page", path: path, page: page)
      }
      for index in 0..<count {
        (target + index * pageSize).copyMemory(from: from + index * frameLength, byteCount: pageSize)
      }
    }
  }

  /// Where a page's newest contents begin in the log; nil when the log does not hold the page.
  func offset(of page: UInt32) -> UInt64? {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle] >> 32 < UInt64(page) { low = middle + 1 } else { high = middle }
    }
    guard low < entries.count, entries[low] >> 32 == UInt64(page) else { return nil }
    let frame = entries[low] & 0xffff_ffff
    let frameLength = UInt64(Self.frameHeaderLength + pageSize)
    return UInt64(Self.headerLength) + frame * frameLength + UInt64(Self.frameHeaderLength)
  }
}

/// The running checksum over a log's header and frames.
private struct WALChecksum {
  private var first: UInt32 = 0
  private var second: UInt32 = 0
  private let isBigEndian: Bool
  let salts: UInt64

  init?(header: [UInt8], pageSize: Int) {
    guard header.count == WriteAheadLog.headerLength else { return nil }
    let parsed: (magic: UInt32, version: UInt32, size: UInt32, salts: UInt64) = header.withUnsafeBytes {
      let base = $0.baseAddress!
      return (base.bigEndian32(0), base.bigEndian32(4), base.bigEndian32(8), base.bigEndian64(16))
    }
    guard parsed.magic & ~1 == 0x377f_0682, parsed.version == 3_007_000, parsed.size == UInt32(pageSize) else {
      return nil
    }
    isBigEndian = parsed.magic & 1 == 1
    salts = parsed.salts
    let fits = header.withUnsafeBytes { bytes in
      add(bytes.baseAddress!, count: 24)
      return first == bytes.baseAddress!.bigEndian32(24) && second == bytes.baseAddress!.bigEndian32(28)
    }
    guard fits else { return nil }
  }

  private mutating func add(_ bytes: UnsafeRawPointer, count: Int) {
    var (a, b) = (first, second)
    for offset in stride(from: 0, to: count, by: 8) {
      let x = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
      let y = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
      a = a &+ (isBigEndian ? UInt32(bigEndian: x) : UInt32(littleEndian: x)) &+ b
      b = b &+ (isBigEndian ? UInt32(bigEndian: y) : UInt32(littleEndian: y)) &+ a
    }
    (first, second) = (a, b)
  }

  mutating func accept(frame: UnsafeRawPointer, pageSize: Int) -> Bool {
    guard frame.bigEndian64(8) == salts, frame.bigEndian32(0) > 0 else { return false }
    add(frame, count: 8)
    add(frame + WriteAheadLog.frameHeaderLength, count: pageSize)
    return first == frame.bigEndian32(16) && second == frame.bigEndian32(20)
  }
}
