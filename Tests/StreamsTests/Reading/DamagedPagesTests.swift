import Foundation
import GRDB
import TestSupport
import Testing

@testable import Streams

/// Single kinds of damage, each made on purpose: every one is an error that names the file.
@Suite(.endsWithin(minutes: 5)) struct DamagedPagesTests {
  let folder: FilesTestFolder
  let path: String
  let bytes: [UInt8]
  static let pageSize = 1024
  static let root: UInt32 = 2

  /// A table with two interior levels' worth of rows, and one row with an overflow chain.
  init() throws {
    folder = try FilesTestFolder()
    path = folder.file("d")
    let queue = try DatabaseQueue(path: path)
    try queue.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA page_size = \(Self.pageSize); CREATE TABLE t (a)")
      try db.execute(sql: "INSERT INTO t VALUES (zeroblob(5000))")
      try db.execute(
        sql:
          "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO t SELECT zeroblob(100) FROM n"
      )
    }
    try queue.close()
    bytes = try LocalFileSystem().readAll(path, cap: 1 << 24)
  }

  func offset(_ page: UInt32) -> Int { Int(page - 1) * Self.pageSize }
  func number(_ offset: Int, _ count: Int) -> Int { bytes[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) } }
  func child(_ page: UInt32, _ index: Int) -> UInt32 {
    UInt32(number(offset(page) + number(offset(page) + 12 + 2 * index, 2), 4))
  }

  /// Reads the table with some bytes changed, or copies it, long values page by page; returns rows.
  func read(_ changes: (offset: Int, bytes: [UInt8])..., copies: Bool = false) throws -> Int {
    var changed = bytes
    for change in changes {
      changed.replaceSubrange(change.offset..<change.offset + change.bytes.count, with: change.bytes)
    }
    try Data(changed).write(to: URL(fileURLWithPath: path))
    let snapshot = try Streams.DatabaseSnapshot(path: path, fileSystem: LocalFileSystem(), locking: .none)
    defer { snapshot.close() }
    guard copies else { return try DamagedDatabaseTests.read(snapshot, root: Self.root) }
    return Int(try DamagedDatabaseTests.copy(snapshot, root: Self.root))
  }

  func expectDamage(
    _ what: String, code: StreamsError.Code = .damagedDatabase, at page: UInt32? = nil, cell: Int? = nil,
    _ body: () throws -> Int
  ) {
    let error = #expect(throws: StreamsError.self, "\(what)") { try body() }
    #expect(error?.code == code && error?.path == path, "\(what): \(String(describing: error))")
    if let page { #expect(error?.page == page && error?.cell == cell, "\(what): \(String(describing: error))") }
  }

  static func four(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }

  @Test("The undamaged table is read")
  func undamaged() throws {
    #expect(try read() == 301)
    #expect(try read(copies: true) == 301)
  }

  @Test("A b-tree that loops or shares pages is an error")
  func loops() throws {
    let root = offset(Self.root)
    let first = root + number(root + 12, 2)
    expectDamage("root below itself") { try read((root + 8, Self.four(Self.root))) }
    expectDamage("first child is the root") { try read((first, Self.four(Self.root))) }
    expectDamage("last child is the first one") { try read((root + 8, Self.four(child(Self.root, 0)))) }
    expectDamage("child 0") { try read((first, Self.four(0))) }
    expectDamage("child past the end") { try read((first, Self.four(.max))) }
    // Two interior pages below each other.
    let other = child(Self.root, 1)
    let interior: [UInt8] = [5, 0, 0, 0, 0, 4, 0, 0] + Self.four(Self.root)
    expectDamage("two pages below each other") { try read((offset(other), interior), (root + 8, Self.four(other))) }
  }

  @Test(
    "An overflow chain that loops, ends early, goes on too long or leaves the file is an error that names page and cell"
  )
  func overflow() throws {
    let page = child(Self.root, 0)
    let leaf = offset(page)
    let cell = leaf + number(leaf + 8, 2)
    // Payload length in two bytes, rowid in one, then what stays on the page.
    let payload = (number(cell, 1) & 0x7f) << 7 | number(cell + 1, 1)
    #expect(payload > 5000)
    let geometry = try #require(PageGeometry(pageSize: Self.pageSize, hasPointerMap: false))
    let pointer = cell + 3 + geometry.localLength(payload: payload, maximum: geometry.maximumTableLocal)
    let chain = UInt32(number(pointer, 4))
    // The table's own chain: the first row has five pages or so.
    var pages = [chain]
    while number(offset(pages[pages.count - 1]), 4) > 0 {
      pages.append(UInt32(number(offset(pages[pages.count - 1]), 4)))
    }
    #expect(pages.count > 3)
    for (from, to) in [(0, 0), (1, 0), (1, 1), (3, 2), (pages.count - 1, 0), (pages.count - 1, pages.count - 2)] {
      expectDamage("overflow page \(from) leads to \(to)", at: page, cell: 0) {
        try read((offset(pages[from]), Self.four(pages[to])))
      }
      expectDamage("overflow page \(from) of a long value leads to \(to)", at: page, cell: 0) {
        try read((offset(pages[from]), Self.four(pages[to])), copies: true)
      }
    }
    expectDamage("a chain that goes on", at: page, cell: 0) {
      try read((offset(pages[pages.count - 1]), Self.four(page)))
    }
    for (what, target) in [("0", UInt32(0)), ("page 1", 1), ("past the end", 1 << 30)] {
      for copies in [false, true] {
        expectDamage("overflow \(what)", at: page, cell: 0) { try read((pointer, Self.four(target)), copies: copies) }
        expectDamage("later overflow \(what)", at: page, cell: 0) {
          try read((offset(chain), Self.four(target)), copies: copies)
        }
      }
    }
    // A reference is no value of a file, neither by its type nor by the mark before it.
    let header = cell + 3
    #expect(throws: StreamsError.self, "the reserved type") { try read((header, [2, 10])) }
    for copies in [false, true] {
      expectDamage("a mark", at: page, cell: 0) { try read((header, [0, 2, 10]), copies: copies) }
    }
    expectDamage("payload longer than the file") { try read((cell, [0xff, 0xff, 0x7f])) }
    expectDamage("payload beyond SQLite's limit") { try read((cell, [UInt8](repeating: 0xff, count: 9))) }
  }

  @Test("Cells outside their page are errors")
  func cells() throws {
    let leaf = offset(child(Self.root, 2))
    for target in [0, 1, 7, 9, Self.pageSize - 1, 0xffff] {
      let two = [UInt8(target >> 8), UInt8(target & 255)]
      expectDamage("cell at \(target)", at: child(Self.root, 2), cell: 0) { try read((leaf + 8, two)) }
    }
    expectDamage("overlapping cells", at: child(Self.root, 2), cell: 1) {
      try read((leaf + 10, Array(bytes[leaf + 8..<leaf + 10])))
    }
    expectDamage("too many cells") { try read((leaf + 3, [0xff, 0xff])) }
    expectDamage("unknown kind") { try read((leaf, [7])) }
    expectDamage("a leaf of an index") { try read((leaf, [10])) }
    expectDamage("rows out of order") { try read((leaf + 8, Array(bytes[leaf + 10..<leaf + 12]))) }
  }

  @Test("Impossible header fields are errors")
  func header() throws {
    expectDamage("magic", code: .notADatabase) { try read((3, [0])) }
    for size in [[0, 0], [0, 1 << 7], [4, 1], [0x7f, 0xff]] as [[UInt8]] {
      expectDamage("page size \(size)") { try read((16, size)) }
    }
    expectDamage("versions", code: .unsupported) { try read((18, [9])) }
    expectDamage("reserved") { try read((20, [255]), (16, [2, 0])) }
    expectDamage("fractions") { try read((21, [63])) }
    expectDamage("more pages than the file") { try read((28, Self.four(.max))) }
    expectDamage("schema format") { try read((44, Self.four(5))) }
    expectDamage("encoding") { try read((56, Self.four(4))) }
  }

  @Test("A row larger than the memory budget is refused before memory is taken")
  func budget() throws {
    let snapshot = try Streams.DatabaseSnapshot(path: path, fileSystem: LocalFileSystem(), locking: .none)
    defer { snapshot.close() }
    let scan = TableScan(snapshot: snapshot, root: Self.root, rowLimit: 4000)
    let error = #expect(throws: StreamsError.self) { try scan.next(into: RowPage()) }
    #expect(error?.code == .tooLarge && error?.hint != nil)
    let lookup = RowLookup(snapshot: snapshot, root: Self.root, cacheBytes: 1 << 14, rowLimit: 4000)
    #expect(throws: StreamsError.self) { try lookup.withRecord(1) { $0.count } }
    #expect(try lookup.withRecord(2) { $0.count } ?? 0 > 100)
  }
}
