/// One consistent state of a database: the main file and the committed frames of its `-wal`, read under locks that
/// SQLite respects. Nothing is ever written (I1).
///
/// SQLite's locks are taken on the bytes it uses itself ("File Locking And Concurrency", section 3), as locks of the
/// open file, so that closing another descriptor in this process does not drop them.
public final class DatabaseSnapshot: Sendable {
  /// How others are kept away while the snapshot is open.
  public enum Locking: Sendable {
    /// Nobody may write; reading continues. In WAL mode writers continue too, but the snapshot keeps its frames only
    /// while no checkpoint runs: use it for short looks.
    case shared
    /// Nobody may write for as long as the snapshot is open. On media that cannot be written a shared lock serves.
    case exclusive
    /// For files that this process owns.
    case none
  }

  static let pendingByte: UInt64 = 0x4000_0000
  static let reservedByte: UInt64 = 0x4000_0001
  static let sharedRange: (start: UInt64, length: UInt64) = (0x4000_0002, 510)

  /// The main file's path.
  public let path: String
  /// The header in force, from the log if it holds page 1.
  public let header: DatabaseHeader
  /// Sizes that follow from the header.
  public let geometry: PageGeometry
  /// Pages of the database.
  public let pageCount: UInt32
  /// Pages that are really there: no walk through the file visits more, whatever a damaged header or log claims.
  let readablePages: UInt64
  /// Bytes of the main file.
  public let fileSize: UInt64
  /// Committed frames that were read from the log.
  public var logFrames: Int { log?.frameCount ?? 0 }
  /// The salts of the log in force, 0 without one.
  public var logSalts: UInt64 { log?.salts ?? 0 }

  private let file: any File
  private let log: WriteAheadLog?

  /// Opens a snapshot. Errors name it by `name`, where the file is a copy of another. `logs` knows the log from an
  /// earlier opening.
  ///
  /// - Throws: ``StreamsError``: `locked`, `notADatabase`, `damagedDatabase`, `unsupported`, `inputOutput`.
  public init(path: String, fileSystem: any FileSystem, locking: Locking, name: String? = nil, logs: LogMemory? = nil)
    throws
  {
    self.path = name ?? path
    let file = try Self.hold(path, in: fileSystem, locking)
    var bytes = [UInt8](repeating: 0, count: DatabaseHeader.length)
    let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
    fileSize = try file.size()
    let main = try bytes[0..<count].withUnsafeBytes { try DatabaseHeader($0, path: name ?? path) }
    var log: WriteAheadLog?
    if let status = try fileSystem.status(path + "-wal"), status.size > 0 {
      log = try WriteAheadLog(
        file: try fileSystem.open(path + "-wal", .read), pageSize: main.pageSize, status: status, memory: logs)
    }
    if let log, let offset = log.offset(of: 1) {
      _ = try bytes.withUnsafeMutableBytes { try log.file.read(into: $0, at: offset) }
      header = try bytes.withUnsafeBytes { try DatabaseHeader($0, path: path) }
    } else {
      header = main
    }
    guard let geometry = header.geometry, header.pageSize == main.pageSize else {
      throw StreamsError(.damagedDatabase, "the log and the main file differ in page size", path: path, page: 1)
    }
    self.file = file
    self.geometry = geometry
    self.log = log
    pageCount = try Self.pages(log, header, fileSize: fileSize, path: path)
    readablePages = min(UInt64(pageCount), fileSize / UInt64(header.pageSize) + UInt64(log?.frameCount ?? 0))
  }

  private init(path: String, file: any File, header: DatabaseHeader, pageCount: UInt32) throws {
    guard let geometry = header.geometry else {
      throw StreamsError(.damagedDatabase, "the database header has impossible values", path: path, page: 1)
    }
    (self.path, self.file, self.header, self.geometry, self.pageCount) = (path, file, header, geometry, pageCount)
    fileSize = try file.size()
    readablePages = UInt64(pageCount)
    log = nil
  }

  private static func pages(_ log: WriteAheadLog?, _ header: DatabaseHeader, fileSize: UInt64, path: String) throws
    -> UInt32
  {
    if let log { return log.pageCount }
    guard let inFile = UInt32(exactly: fileSize / UInt64(header.pageSize)) else {
      throw StreamsError(.damagedDatabase, "the file is larger than a database can be", path: path)
    }
    if header.pageCountIsValid, header.pageCount <= inFile { return header.pageCount }
    guard !header.pageCountIsValid else {
      throw StreamsError(
        .damagedDatabase, "the file is truncated: its header says \(header.pageCount) pages, and \(inFile) are there",
        path: path, hint: "Restore the file from a backup")
    }
    return inFile
  }

  /// Opens a database's file and takes the locks, for as long as the file is open. Its bytes are not looked at.
  ///
  /// - Throws: ``StreamsError``.
  public static func hold(_ path: String, in fileSystem: any FileSystem, _ locking: Locking) throws -> any File {
    guard locking == .exclusive else {
      let file = try fileSystem.open(path, .read)
      if locking == .shared { try lock(file, .shared) }
      return file
    }
    if let file = try? fileSystem.open(path, .update) {
      try lock(file, .exclusive)
      return file
    }
    let file = try fileSystem.open(path, .read)
    try lock(file, .shared)
    return file
  }

  private static func lock(_ file: any File, _ kind: LockKind) throws {
    var taken = true
    if kind == .exclusive {
      taken = try file.lock(.exclusive, start: pendingByte, length: 2)
    }
    if taken { taken = try file.lock(kind, start: sharedRange.start, length: sharedRange.length) }
    guard taken else {
      let users = FileUsers.locking([file.path, file.path + "-shm"])
      let who = users.isEmpty ? "" : ": " + users.joined(separator: ", ")
      throw StreamsError(
        .locked, "another program has this database open\(who)", path: file.path,
        hint: "Close the application that uses it and run again")
    }
  }

  /// Whether the page can be part of a b-tree, below its root, or of an overflow chain.
  func holdsData(_ page: UInt32) -> Bool { page >= 2 && page <= pageCount && geometry.isData(page) }

  /// Reads one page. The buffer has the page's size.
  ///
  /// - Throws: ``StreamsError``.
  public func read(page: UInt32, into buffer: UnsafeMutableRawBufferPointer) throws {
    guard page >= 1, page <= pageCount else {
      throw StreamsError(
        .damagedDatabase, "a page number is out of range: \(page) of \(pageCount)", path: path, page: page)
    }
    let read: Int
    if let log, let offset = log.offset(of: page) {
      read = try log.file.read(into: buffer, at: offset)
    } else {
      read = try file.read(into: buffer, at: UInt64(page - 1) * UInt64(geometry.pageSize))
    }
    guard read == geometry.pageSize else {
      throw StreamsError(.damagedDatabase, "the file ends within a page", path: path, page: page)
    }
  }

  /// Reads neighbouring pages, in as few calls as their places allow. The buffer holds `count` pages.
  package func read(run first: UInt32, count: Int, into buffer: UnsafeMutableRawBufferPointer) throws {
    guard first >= 1, UInt64(first) + UInt64(count) - 1 <= UInt64(pageCount) else {
      let wrong = first < 1 ? first : max(first, pageCount &+ 1)
      throw StreamsError(
        .damagedDatabase, "a page number is out of range: \(wrong) of \(pageCount)", path: path, page: wrong)
    }
    var done = 0
    while done < count {
      let page = first + UInt32(done)
      let (offset, length) = (log?.offset(of: page), neighbours(from: page, most: count - done))
      let size = geometry.pageSize
      let part = UnsafeMutableRawBufferPointer(rebasing: buffer[done * size..<(done + length) * size])
      if let offset, let log {
        try log.read(length, at: offset, into: part, path: path, page: page)
      } else {
        guard try file.read(into: part, at: UInt64(page - 1) * UInt64(size)) == part.count else {
          throw StreamsError(.damagedDatabase, "the file ends within a page", path: path, page: page)
        }
      }
      done += length
    }
  }

  /// How many pages from one on follow each other: in the file, or in frames of the log.
  private func neighbours(from page: UInt32, most: Int) -> Int {
    guard let log else { return most }
    var (length, last) = (1, log.offset(of: page))
    while length < most {
      let next = log.offset(of: page + UInt32(length))
      guard next == last.map({ $0 + UInt64(log.frameLength) }) else { break }
      (length, last) = (length + 1, next)
    }
    return length
  }

  /// Ends the snapshot and its locks.
  public func close() {
    log?.file.close()
    file.close()
  }
}

extension DatabaseSnapshot {
  /// Reads a file that is being built and has no header yet: trees whose roots are written can be scanned.
  ///
  /// - Throws: ``StreamsError``.
  public static func building(path: String, fileSystem: any FileSystem, header: DatabaseHeader, pageCount: UInt32)
    throws
    -> DatabaseSnapshot
  {
    try DatabaseSnapshot(
      path: path, file: try fileSystem.open(path, .read), header: header, pageCount: pageCount)
  }
}
