import Foundation
import GRDB
import Testing

@testable import Streams

/// Builds of several tables in one file that are interrupted and go on from their checkpoints.
@Suite struct ResumedBuildTests {
  struct Append { var table: Int, rowid: Int64, record: [UInt8] }

  /// What a checkpoint of this test remembers.
  struct Saved { var state: [UInt8], nextPage: UInt32, done: Int }

  /// A file, its builders, and the appends still to come.
  final class Build {
    static let tables = 3
    let file: any File
    let database: DatabaseBuilder
    let builders: [TableBuilder]

    init(_ path: String, _ header: DatabaseHeader, restoring saved: Saved? = nil) throws {
      file = try LocalFileSystem().open(path, saved == nil ? .create : .update)
      let schema = (0..<Self.tables).map {
        DatabaseBuilder.SchemaEntry(
          type: "table", name: "t\($0)", tableName: "t\($0)", sql: "CREATE TABLE t\($0) (a, b)")
      }
      let database = try DatabaseBuilder(file: file, header: header, schema: schema, resumingAt: saved?.nextPage)
      let writer = database.writer
      builders = try schema.map { TableBuilder(root: try #require(database.root(of: $0.name)), writer: writer) }
      self.database = database
      guard let saved else { return }
      try file.truncate(to: writer.length)
      var reader = ByteReader(saved.state, subject: "builders")
      for builder in builders { try builder.restore(from: &reader) }
      #expect(reader.remaining == 0)
    }

    func append(_ next: Append) throws {
      try next.record.withUnsafeBytes { try builders[next.table].append(rowid: next.rowid, record: $0) }
    }

    func save(done: Int) throws -> Saved {
      try database.writer.flush()
      try file.sync()
      var state = ByteWriter()
      for builder in builders { builder.encode(into: &state) }
      return Saved(state: state.bytes, nextPage: database.writer.nextPage, done: done)
    }

    func finish() throws {
      for builder in builders { try builder.finish() }
      try database.finish()
      file.close()
    }
  }

  static func appends(_ random: inout SeededGenerator, pageSize: Int) -> [Append] {
    var rowids = [Int64](repeating: -5, count: Build.tables)
    return (0..<200 + random.below(800)).map { _ in
      let table = random.below(Build.tables)
      rowids[table] += Int64(1 + random.below(random.below(4) == 0 ? 1 << 30 : 2))
      let longest = random.below(12) == 0 ? pageSize * 4 : 60
      return Append(
        table: table, rowid: rowids[table],
        record: SortKeyTests.record((0..<2).map { _ in random.value(longest: longest) }))
    }
  }

  @Test("I8, I5: a build that was interrupted anywhere has the bytes of one that was not", arguments: 0..<UInt64(24))
  func interrupted(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed &+ 900)
    let folder = try FilesTestFolder()
    let pageSize = 512 << random.below(4)
    let header = DatabaseHeader(pageSize: pageSize, autoVacuum: random.below(3), version: .rollback)
    let appends = Self.appends(&random, pageSize: pageSize)
    let whole = try Build(folder.file("whole"), header)
    for append in appends { try whole.append(append) }
    try whole.finish()
    var build = try Build(folder.file("resumed"), header)
    var saved = try build.save(done: 0)
    var done = 0
    var crashes = 0
    while done < appends.count {
      switch random.below(40) {
      case 0: saved = try build.save(done: done)
      case 1 where crashes < 12:
        // Some of what came later may have reached the disk.
        if random.below(2) == 0 { try build.database.writer.flush() }
        build.file.close()
        build = try Build(folder.file("resumed"), header, restoring: saved)
        done = saved.done
        crashes += 1
      default:
        try build.append(appends[done])
        done += 1
      }
    }
    try build.finish()
    let (expected, found) = (
      try Data(contentsOf: URL(fileURLWithPath: folder.file("whole"))),
      try Data(contentsOf: URL(fileURLWithPath: folder.file("resumed")))
    )
    #expect(expected == found, "seed \(seed), \(crashes) crashes")
    #expect(crashes > 0)
    let queue = try DatabaseQueue(path: folder.file("resumed"))
    #expect(try queue.inDatabase { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok", "seed \(seed)")
    try queue.close()
  }

  @Test("Damaged open pages are refused or end in a file, never in a trap", arguments: 0..<UInt64(2))
  func damagedState(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed &+ 950)
    let folder = try FilesTestFolder()
    let header = DatabaseHeader(pageSize: 512, autoVacuum: 2, version: .rollback)
    let appends = Self.appends(&random, pageSize: 512)
    let build = try Build(folder.file("built"), header)
    for append in appends.prefix(400) { try build.append(append) }
    let saved = try build.save(done: 400)
    build.file.close()
    var refused = 0
    for _ in 0..<200 {
      var damaged = saved
      if random.below(4) == 0 { damaged.state.removeLast(1 + random.below(damaged.state.count)) }
      for _ in 0..<1 + random.below(4) where !damaged.state.isEmpty {
        let place =
          random.below(2) == 0 ? random.below(min(100, damaged.state.count)) : random.below(damaged.state.count)
        damaged.state[place] = [0, 0x7f, 0xff, UInt8(truncatingIfNeeded: random.next())][random.below(4)]
      }
      do {
        let resumed = try Build(folder.file("built"), header, restoring: damaged)
        for append in appends.dropFirst(400) { try resumed.append(append) }
        try resumed.finish()
      } catch is StreamsError { refused += 1 }
    }
    #expect(refused > 20)
  }

  @Test("An open interior page with more children than a page holds is refused")
  func overfullPage() throws {
    let geometry = try #require(PageGeometry(pageSize: 512, hasPointerMap: false))
    let folder = try FilesTestFolder()
    let writer = PageWriter(file: try LocalFileSystem().open(folder.file("a"), .create), geometry: geometry)
    var state = ByteWriter()
    TableBuilder(root: 2, writer: writer).encode(into: &state)
    var bytes = state.bytes
    // The empty list of levels at the end becomes one with a level of 200 children.
    bytes.removeLast(8)
    var levels = ByteWriter()
    levels.writeArray([200]) { writer, children in
      writer.writeArray(0..<children) {
        $0.writeUInt32(UInt32($1 + 3))
        $0.writeInt64(Int64($1) << 40)
      }
    }
    var reader = ByteReader(bytes + levels.bytes, subject: "builder")
    let error = #expect(throws: StreamsError.self) { try TableBuilder(root: 2, writer: writer).restore(from: &reader) }
    #expect(error?.code == .damagedCheckpoint)
  }
}
