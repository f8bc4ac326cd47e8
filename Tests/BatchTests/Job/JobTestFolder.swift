import Foundation
import GRDB
import Streams

@testable import MigrationJobs

/// A directory of one test, removed when the test ends, with a job directory for `Store.sqlite` in it.
final class JobTestFolder: Sendable {
  let path: String

  init() throws {
    let name = "godwit-job-\(UUID().uuidString)"
    path = try JobDirectory.resolve(FileManager.default.temporaryDirectory.path) + "/" + name
    try LocalFileSystem().makeDirectory(path)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  var destination: String { file("Store.sqlite") }

  func file(_ name: String) -> String { FilePaths.join(path, name) }

  func job() throws -> JobDirectory {
    let job = try JobDirectory(destination: destination)
    try job.create(DyingFileSystem())
    return job
  }

  /// Every path below the folder with the bytes of its file, to prove that nothing was written.
  func contents() throws -> [String: Data] {
    var found: [String: Data] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
      found[name] = FileManager.default.contents(atPath: file(name)) ?? Data()
    }
    return found
  }
}

extension JobDirectory {
  /// Removes the directory as whoever has its lease.
  func remove(_ fileSystem: any FileSystem) throws {
    let lease = try Lease.take(in: self, LocalFileSystem())
    defer { lease.release() }
    try remove(fileSystem, under: lease)
  }
}

/// Counts the calls that change something and lets the process "die" at one of them: that call and all after it throw.
/// A process that dies takes nothing with it that the kernel has, so nothing is really synced.
final class DyingFileSystem: FileSystem, @unchecked Sendable {
  enum Moment: CaseIterable { case before, after }

  private let base = LocalFileSystem()
  private let lock = NSLock()
  private var count = 0
  private var syncCount = 0
  private var opened: [String] = []
  private let last: Int
  private let moment: Moment
  private let knowsLinks: Bool
  /// Gets the number of each call before it is done.
  private let hears: @Sendable (Int) -> Void

  init(
    at last: Int = .max, _ moment: Moment = .before, knowsLinks: Bool = true,
    hears: @escaping @Sendable (Int) -> Void = { _ in }
  ) {
    self.hears = hears
    self.last = last
    self.moment = moment
    self.knowsLinks = knowsLinks
  }

  var calls: Int { lock.withLock { count } }
  /// Calls that wait for the disk.
  var syncs: Int { lock.withLock { syncCount } }
  /// Files that were opened to be written.
  var written: [String] { lock.withLock { opened } }

  func sync(_ call: () throws -> Void = {}) throws {
    lock.withLock { syncCount += 1 }
    try step(call)
  }

  func step<Result>(_ call: () throws -> Result) throws -> Result {
    let number = lock.withLock {
      count += 1
      return count
    }
    hears(number)
    if number > last || (number == last && moment == .before) { throw Self.death }
    let result = try call()
    if number == last { throw Self.death }
    return result
  }

  static let death = StreamsError(.inputOutput, "the process died here")

  func open(_ path: String, _ mode: OpenMode) throws -> any File {
    if case .read = mode { return try base.open(path, mode) }
    lock.withLock { opened.append(path) }
    return DyingFile(try step { try base.open(path, mode) }, self)
  }
  func rename(_ source: String, to destination: String) throws {
    try step { try base.rename(source, to: destination) }
  }
  func link(_ source: String, to destination: String) throws {
    try step {
      guard knowsLinks else { throw StreamsError(.unsupported, "no links here", path: source) }
      try base.link(source, to: destination)
    }
  }
  func remove(_ path: String) throws { try step { try base.remove(path) } }
  func makeDirectory(_ path: String) throws { try step { try base.makeDirectory(path) } }
  func removeDirectory(_ path: String) throws { try step { try base.removeDirectory(path) } }
  func list(_ path: String) throws -> [String] { try base.list(path) }
  func status(_ path: String) throws -> FileStatus? { try base.status(path) }
  func syncDirectory(_ path: String) throws { try sync() }
  func availableSpace(_ path: String) throws -> UInt64 { try base.availableSpace(path) }
  func adopt(_ status: FileStatus, on path: String) throws { try sync { try base.adopt(status, on: path) } }
}

private final class DyingFile: File {
  private let base: any File
  private let owner: DyingFileSystem

  init(_ base: any File, _ owner: DyingFileSystem) {
    self.base = base
    self.owner = owner
  }

  var path: String { base.path }
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int {
    try base.read(into: buffer, at: offset)
  }
  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {
    try owner.step { try base.write(bytes, at: offset) }
  }
  func sync() throws { try owner.sync() }
  func truncate(to length: UInt64) throws { try owner.step { try base.truncate(to: length) } }
  func size() throws -> UInt64 { try base.size() }
  func lock(_ kind: LockKind, start: UInt64, length: UInt64) throws -> Bool {
    try base.lock(kind, start: start, length: length)
  }
  func close() { base.close() }
}

/// Small stores that look like those an interrupted program leaves behind.
enum StoreFixture: String, CaseIterable, Sendable {
  case closed, walOnly, hotJournal

  /// Rows that the old store has, wherever they are.
  static let oldRows = 60
  static let newRows = 7

  /// Writes the store to `path`.
  func write(to path: String, in folder: JobTestFolder) throws {
    let scratch = folder.file("scratch.sqlite")
    var configuration = Configuration()
    configuration.prepareDatabase { db in
      try db.execute(sql: "PRAGMA journal_mode = \(self == .walOnly ? "WAL" : "DELETE")")
      try db.execute(sql: "PRAGMA synchronous = OFF; PRAGMA cache_size = 2; PRAGMA wal_autocheckpoint = 0")
    }
    let queue = try DatabaseQueue(path: scratch, configuration: configuration)
    try queue.inDatabase { db in
      try db.execute(sql: "CREATE TABLE ZROW(Z_PK INTEGER PRIMARY KEY, ZTEXT)")
      // With a WAL, the rows come after the last checkpoint and so are in no main file.
      if self == .walOnly { try db.checkpoint(.truncate) }
      try Self.insert(1...Self.oldRows, "old", db)
      if self == .hotJournal {
        // Spilled to the main file, never committed: only the journal can undo it.
        try db.execute(sql: "BEGIN; UPDATE ZROW SET ZTEXT = 'torn' || ZTEXT")
      }
      for suffix in self == .walOnly ? ["", "-wal"] : self == .hotJournal ? ["", "-journal"] : [""] {
        try FileManager.default.copyItem(atPath: scratch + suffix, toPath: path + suffix)
      }
      if self == .hotJournal { try db.execute(sql: "ROLLBACK") }
    }
    try queue.close()
    for suffix in ["", "-wal", "-shm", "-journal"] { try LocalFileSystem().remove(scratch + suffix) }
  }

  /// The store that a migration would have built.
  static func writeNew(to path: String) throws {
    let queue = try DatabaseQueue(path: path)
    try queue.inDatabase { db in
      try db.execute(sql: "PRAGMA synchronous = OFF")
      try db.execute(sql: "CREATE TABLE ZROW(Z_PK INTEGER PRIMARY KEY, ZTEXT)")
      try insert(1...newRows, "new", db)
    }
    try queue.close()
  }

  private static func insert(_ keys: ClosedRange<Int>, _ word: String, _ db: Database) throws {
    try db.inTransaction {
      for key in keys {
        try db.execute(
          sql: "INSERT INTO ZROW VALUES(?, ?)", arguments: [key, word + String(repeating: "x", count: 500)])
      }
      return .commit
    }
  }

  /// What SQLite finds at a path, looked at in a copy with everything beside it, as after a crash.
  static func look(at path: String, in folder: JobTestFolder) throws -> String {
    let copy = folder.file("look.sqlite")
    defer { for suffix in ["", "-wal", "-shm", "-journal"] { try? LocalFileSystem().remove(copy + suffix) } }
    for suffix in ["", "-wal", "-journal"] where try LocalFileSystem().status(path + suffix) != nil {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
    }
    let queue = try DatabaseQueue(path: copy)
    defer { try? queue.close() }
    return try queue.read { db in
      let check = try String.fetchAll(db, sql: "PRAGMA integrity_check")
      let words = try String.fetchAll(db, sql: "SELECT DISTINCT substr(ZTEXT, 1, 3) FROM ZROW")
      return "\(try Int.fetchOne(db, sql: "SELECT count(*) FROM ZROW") ?? -1) \(words) \(check)"
    }
  }

  static let wholeOld = "\(oldRows) [\"old\"] [\"ok\"]"
  static let wholeNew = "\(newRows) [\"new\"] [\"ok\"]"
}
