/// Writes a database's pages into a write-ahead log: frames up to one commit, as SQLite leaves them when nothing was
/// checkpointed.
///
/// Source of the rule: SQLite, "WAL-mode File Format", sections 4.1 and 4.2.
public struct LogBuilder {
  private static let headerLength = 32
  private static let frameHeaderLength = 24
  private static let framesPerWrite = 64

  private var first: UInt32 = 0
  private var second: UInt32 = 0
  private let salts: (UInt32, UInt32)

  /// Prepares a log. Its salts need not be secret, only differ from those of an older log of the same file.
  public init(salts: (UInt32, UInt32)) { self.salts = salts }

  /// Writes every page of `database` to `log`, which is empty; page 1 says that the log counts. Not durable before a
  /// sync.
  ///
  /// - Throws: ``StreamsError``.
  public mutating func write(_ database: any File, pageSize: Int, to log: any File) throws {
    let pages = try database.size() / UInt64(pageSize)
    guard pages > 0, pages <= UInt64(UInt32.max) else {
      throw StreamsError(.unsupported, "a log of \(pages) pages cannot be written", path: log.path)
    }
    try writeHeader(pageSize: pageSize, to: log)
    let frameLength = Self.frameHeaderLength + pageSize
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.framesPerWrite * frameLength, alignment: 8)
    defer { buffer.deallocate() }
    var page: UInt64 = 0
    while page < pages {
      let count = min(UInt64(Self.framesPerWrite), pages - page)
      for index in 0..<count {
        let frame = UnsafeMutableRawBufferPointer(
          rebasing: buffer[Int(index) * frameLength..<Int(index + 1) * frameLength])
        try fill(frame, with: page + index, of: pages, from: database, pageSize: pageSize)
      }
      let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<(Int(count) * frameLength)])
      try log.write(bytes, at: UInt64(Self.headerLength) + page * UInt64(frameLength))
      page += count
    }
  }

  private mutating func writeHeader(pageSize: Int, to log: any File) throws {
    var header = [UInt8](repeating: 0, count: Self.headerLength)
    try header.withUnsafeMutableBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      // The magic number of checksums over little-endian words.
      for (index, word) in [0x377f_0682, 3_007_000, UInt32(pageSize), 0, salts.0, salts.1].enumerated() {
        base.storeBigEndian(word, at: 4 * index)
      }
      add(base, count: 24)
      base.storeBigEndian(first, at: 24)
      base.storeBigEndian(second, at: 28)
      try log.write(UnsafeRawBufferPointer(bytes), at: 0)
    }
  }

  private mutating func fill(
    _ frame: UnsafeMutableRawBufferPointer, with page: UInt64, of pages: UInt64, from database: any File, pageSize: Int
  ) throws {
    guard let base = frame.baseAddress else { return }
    let body = UnsafeMutableRawBufferPointer(rebasing: frame[Self.frameHeaderLength...])
    guard try database.read(into: body, at: page * UInt64(pageSize)) == pageSize else {
      throw StreamsError(.damagedDatabase, "the database ended while it was read", path: database.path)
    }
    if page == 0 { (body[18], body[19]) = (2, 2) }
    base.storeBigEndian(UInt32(page + 1), at: 0)
    base.storeBigEndian(page + 1 == pages ? UInt32(pages) : 0, at: 4)
    base.storeBigEndian(salts.0, at: 8)
    base.storeBigEndian(salts.1, at: 12)
    add(base, count: 8)
    add(base + Self.frameHeaderLength, count: pageSize)
    base.storeBigEndian(first, at: 16)
    base.storeBigEndian(second, at: 20)
  }

  private mutating func add(_ bytes: UnsafeRawPointer, count: Int) {
    for offset in stride(from: 0, to: count, by: 8) {
      first &+= UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) &+ second
      second &+= UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)) &+ first
    }
  }
}
