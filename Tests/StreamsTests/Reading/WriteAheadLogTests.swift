import Foundation
import GRDB
import Testing

@testable import Streams

/// Which frames of a `-wal` file count: those up to the last commit whose salts and checksums fit.
@Suite struct WriteAheadLogTests {
  let folder: FilesTestFolder
  let path: String
  let main: [UInt8]
  let log: [UInt8]
  /// Length of the log and rows of the table after each commit.
  let commits: [(length: Int, rows: Int)]
  static let pageSize = 512
  /// Shared by all openings, as a program does that opens a database several times.
  let logs = LogMemory()

  /// A log with several commits, written over an older, longer generation of itself.
  init() throws {
    folder = try FilesTestFolder()
    let path = folder.file("d")
    self.path = path
    let queue = try DatabaseQueue(path: path)
    let files = LocalFileSystem()
    var commits: [(length: Int, rows: Int)] = []
    try queue.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA page_size = 512; CREATE TABLE t (a)")
      _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL")
      try db.execute(sql: "PRAGMA wal_autocheckpoint = 0")
      // The older generation: longer than the new one, so that its frames follow the new one's.
      for _ in 0..<30 { try db.execute(sql: "INSERT INTO t SELECT zeroblob(300)") }
      try db.execute(sql: "PRAGMA wal_checkpoint(FULL)")
      let old = try files.status(path + "-wal")?.size ?? 0
      for count in [1, 3, 2, 5] {
        try db.inTransaction {
          for _ in 0..<count { try db.execute(sql: "INSERT INTO t SELECT zeroblob(200)") }
          return .commit
        }
        let rows = try Int.fetchOne(db, sql: "SELECT count(*) FROM t") ?? 0
        let frames = try Streams.DatabaseSnapshot(path: path, fileSystem: files, locking: .none).logFrames
        commits.append((32 + frames * (24 + 512), rows))
      }
      #expect(try files.status(path + "-wal")?.size == old)
      #expect(commits[commits.count - 1].length < old)
    }
    main = try files.readAll(path, cap: 1 << 24)
    log = try files.readAll(path + "-wal", cap: 1 << 24)
    self.commits = commits
    try queue.close()
  }

  func rows(_ log: [UInt8]) throws -> Int {
    try Data(main).write(to: URL(fileURLWithPath: path))
    try Data(log).write(to: URL(fileURLWithPath: path + "-wal"))
    let rows = try [nil, logs, logs].map { logs in
      let snapshot = try Streams.DatabaseSnapshot(path: path, fileSystem: LocalFileSystem(), locking: .none, logs: logs)
      defer { snapshot.close() }
      return try DamagedDatabaseTests.read(snapshot, root: 2)
    }
    #expect(rows.allSatisfy { $0 == rows[0] }, "what is remembered of a log is what is in it")
    return rows[0]
  }

  @Test("A commit behind what is remembered is seen, also where it overwrites frames of an older generation")
  func laterCommit() throws {
    for (earlier, later) in zip(commits, commits.dropFirst()) {
      // The frames of the later commit are there, but for its first byte: as before it was written.
      var before = log
      before[earlier.length + 8] ^= 1
      #expect(try rows(before) == earlier.rows)
      let status = try LocalFileSystem().status(path + "-wal")
      #expect(
        try rows(log) == commits[commits.count - 1].rows && later.rows > earlier.rows
          && status?.size == UInt64(log.count))
    }
  }

  /// Rows after the last commit that lies whole below a length.
  func expected(_ length: Int) -> Int { commits.last { $0.length <= length }?.rows ?? 30 }

  @Test("A log that was reset counts up to its last commit; the older frames behind it do not")
  func oldTail() throws { #expect(try rows(log) == commits[commits.count - 1].rows) }

  @Test("A log that is cut anywhere counts up to the last whole commit")
  func cut() throws {
    let end = commits[commits.count - 1].length
    for length in stride(from: 0, through: end, by: 134) {
      #expect(try rows(Array(log[0..<length])) == expected(length), "cut at \(length)")
    }
  }

  @Test("A frame with another salt, a wrong checksum, changed data or page 0 ends the log before its commit")
  func damaged() throws {
    let frame = 24 + Self.pageSize
    let end = commits[commits.count - 1].length
    for start in stride(from: 32, to: end, by: frame) {
      for place in [3, 8, 12, 16, 20, 24, frame - 1] {
        var changed = log
        changed[start + place] ^= 1
        #expect(try rows(changed) == expected(start), "byte \(place) of the frame at \(start)")
      }
    }
  }

  @Test("A log whose header is damaged does not count at all")
  func header() throws {
    for place in 0..<32 {
      var changed = log
      changed[place] ^= 0x10
      // The number of checkpoints is in the checksum as well.
      #expect(try rows(changed) == 30, "byte \(place)")
    }
  }
}
