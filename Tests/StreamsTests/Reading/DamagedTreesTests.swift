import TestSupport
import Testing

@testable import Streams

/// Damage to indexes, to roots, and to what a reader does not need; and what stays readable beside a damaged table.
@Suite(.endsWithin(minutes: 5)) struct DamagedTreesTests {
  static let pageSize = 512
  let bytes: [UInt8]
  /// Root pages by name.
  let roots: [String: UInt32]

  init() throws {
    let database = try MemoryDatabase()
    try database.execute(
      """
      PRAGMA page_size = 512; PRAGMA auto_vacuum = 2;
      CREATE TABLE t (a, b); CREATE INDEX i ON t (b); CREATE TABLE other (a);
      CREATE TABLE w (k PRIMARY KEY, v) WITHOUT ROWID;
      WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
      INSERT INTO t SELECT i, 'text ' || i || hex(zeroblob(CASE WHEN i = 7 THEN 1000 ELSE 0 END)) FROM n;
      INSERT INTO other SELECT a FROM t; INSERT INTO w SELECT a, b FROM t;
      DELETE FROM other WHERE a > 200;
      """)
    bytes = try database.bytes()
    let rows = try database.statement("SELECT name, rootpage FROM sqlite_schema")
    var roots: [String: UInt32] = [:]
    while try rows.step() { roots[rows.value(0).text ?? ""] = UInt32(rows.integer(1)) }
    self.roots = roots
  }

  func root(_ name: String) -> UInt32 { roots[name] ?? 0 }
  func offset(_ page: UInt32) -> Int { Int(page - 1) * Self.pageSize }
  func number(_ offset: Int, _ count: Int) -> Int { bytes[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) } }
  func child(_ page: UInt32, _ index: Int) -> UInt32 {
    UInt32(number(offset(page) + number(offset(page) + 12 + 2 * index, 2), 4))
  }

  func snapshot(_ changes: [(offset: Int, bytes: [UInt8])]) throws -> DatabaseSnapshot {
    var changed = bytes
    for change in changes {
      changed.replaceSubrange(change.offset..<change.offset + change.bytes.count, with: change.bytes)
    }
    return try MemoryFile(changed).snapshot()
  }

  func records(_ snapshot: DatabaseSnapshot, _ root: UInt32) throws -> Int {
    let scan = try IndexScan(snapshot: snapshot, root: root, rowLimit: 1 << 20)
    let page = RowPage()
    var count = 0
    while try scan.next(into: page) { count += page.count }
    return count
  }

  func expectDamage(
    _ what: String, at page: UInt32? = nil, _ changes: (offset: Int, bytes: [UInt8])..., in root: UInt32
  ) {
    let error = #expect(throws: StreamsError.self, "\(what)") { try records(try snapshot(changes), root) }
    #expect(error?.code == .damagedDatabase && error?.path != nil, "\(what): \(String(describing: error))")
    if let page { #expect(error?.page == page, "\(what): \(String(describing: error))") }
    // Counting ends too, with an error or with a number.
    _ = try? TreeCount.rows(root: root, in: snapshot(changes))
  }

  @Test("Every kind of damage to an index's b-tree is an error that names its page", arguments: ["i", "w"])
  func indexes(name: String) throws {
    let root = root(name)
    #expect(try records(try snapshot([]), root) == 300)
    let (start, four) = (offset(root), DamagedPagesTests.four)
    #expect(bytes[start] == 2 && number(start + 3, 2) > 1)
    let first = start + number(start + 12, 2)
    expectDamage("root below itself", (start + 8, four(root)), in: root)
    expectDamage("first child is the root", (first, four(root)), in: root)
    for target in [UInt32(0), 1, 2, UInt32(bytes.count / Self.pageSize) + 1, .max] {
      expectDamage("child \(target)", at: root, (first, four(target)), in: root)
      expectDamage("last child \(target)", at: root, (start + 8, four(target)), in: root)
    }
    let leaf = child(root, 1)
    expectDamage("a page of a table", at: leaf, (offset(leaf), [13]), in: root)
    expectDamage("an unknown kind", at: leaf, (offset(leaf), [3]), in: root)
    expectDamage("too many cells", (offset(leaf) + 3, [0xff, 0xff]), in: root)
    expectDamage("a cell in the header", (start + 12, [0, 9]), in: root)
    expectDamage("a cell at the end", (start + 12, [1, 255]), in: root)
    expectDamage("overlapping cells", at: root, (start + 14, Array(bytes[start + 12..<start + 14])), in: root)
    let interior: [UInt8] = [2, 0, 0, 0, 0, 2, 0, 0] + four(root)
    expectDamage("two pages below each other", (offset(leaf), interior), in: root)
  }

  @Test(
    "A root that is page 0, the schema's, a pointer map, or past the end is an error",
    arguments: [0, 2, 100_000, UInt32.max])
  func roots(root: UInt32) throws {
    let snapshot = try snapshot([])
    let error = #expect(throws: StreamsError.self) {
      try TableScan(snapshot: snapshot, root: root, rowLimit: 1 << 20).next(into: RowPage())
    }
    #expect(error?.code == .damagedDatabase && error?.page == root)
    #expect(throws: StreamsError.self) { try IndexScan(snapshot: snapshot, root: root, rowLimit: 1 << 20) }
    #expect(throws: StreamsError.self) { try TreeCount.rows(root: root, in: snapshot) }
    #expect(throws: StreamsError.self) { try TablePages.count(snapshot, root: root) }
    #expect(throws: StreamsError.self) { try TreeKind.isTable(root: root, in: snapshot) }
    let lookup = RowLookup(snapshot: snapshot, root: root, cacheBytes: 1 << 14, rowLimit: 1 << 20)
    #expect(throws: StreamsError.self) { try lookup.withRecord(1) { _ in } }
  }

  @Test("A page that is no part of its tree is named with the cell that leads to it, by every reader")
  func parents() throws {
    for (name, kind) in [("t", UInt8(10)), ("i", 13), ("t", 3), ("i", 3)] {
      let root = root(name)
      let leaf = child(root, 1)
      let snapshot = try snapshot([(offset(leaf), [kind])])
      let parent = "to which cell 1 of page \(root) leads"
      let scanned = #expect(throws: StreamsError.self) {
        _ = try name == "i" ? records(snapshot, root) : DamagedDatabaseTests.read(snapshot, root: root)
      }
      #expect(scanned?.page == leaf && scanned?.message.contains(parent) == true, "\(String(describing: scanned))")
      guard name == "t" else { continue }
      let rowid = try firstRowid(below: leaf)
      let lookup = RowLookup(snapshot: snapshot, root: root, cacheBytes: 1 << 14, rowLimit: 1 << 20)
      let looked = #expect(throws: StreamsError.self) { try lookup.contains(rowid) }
      #expect(looked?.page == leaf && looked?.message.contains(parent) == true, "\(String(describing: looked))")
    }
  }

  /// The rowid of the first row on a leaf of the undamaged table.
  func firstRowid(below leaf: UInt32) throws -> Int64 {
    let (snapshot, buffer) = (try snapshot([]), PageBuffer(size: Self.pageSize))
    try snapshot.read(page: leaf, into: buffer.bytes)
    return try TreePage(number: leaf, bytes: UnsafeRawBufferPointer(buffer.bytes), snapshot: snapshot).rowid(0)
  }

  @Test("A damaged table does not keep the others from being read")
  func others() throws {
    let table = root("t")
    let snapshot = try snapshot([(offset(table), [UInt8](repeating: 0xff, count: Self.pageSize))])
    #expect(throws: StreamsError.self) { try DamagedDatabaseTests.read(snapshot, root: table) }
    #expect(try DamagedDatabaseTests.read(snapshot, root: root("other")) == 200)
    #expect(try records(snapshot, root("w")) == 300)
    #expect(try records(snapshot, root("i")) == 300)
  }

  @Test("Free pages and pointer maps may hold anything: no reader looks at them")
  func unused() throws {
    let trunk = UInt32(number(32, 4))
    #expect(trunk > 0 && number(36, 4) > 0)
    let garbage = [UInt8](repeating: 0xa5, count: Self.pageSize)
    let free = [(offset(trunk), garbage), (offset(2), garbage), (32, DamagedPagesTests.four(.max))]
    let snapshot = try snapshot(free)
    #expect(try DamagedDatabaseTests.read(snapshot, root: root("t")) == 300)
    #expect(try records(snapshot, root("i")) == 300)
  }

  @Test("Rows that share an overflow chain end a scan before the chain was read more often than the file has pages")
  func sharedChains() throws {
    let database = try MemoryDatabase()
    try database.execute("PRAGMA page_size = 512; CREATE TABLE t (a)")
    for _ in 0..<6 { try database.execute("INSERT INTO t VALUES (zeroblob(7000))") }
    var bytes = try database.bytes()
    let geometry = try #require(PageGeometry(pageSize: 512, hasPointerMap: false))
    let local = geometry.localLength(payload: 7003, maximum: geometry.maximumTableLocal)
    var chain: ArraySlice<UInt8>?
    var changed = 0
    // Cells of all leaves; the payload's length takes two bytes, the rowid one.
    for page in stride(from: 512, to: bytes.count, by: 512) where bytes[page] == 13 {
      for cell in 0..<Int(bytes[page + 4]) {
        let start = page + Int(bytes[page + 8 + 2 * cell]) << 8 + Int(bytes[page + 9 + 2 * cell])
        let pointer = start + 3 + local
        chain = chain ?? bytes[pointer..<pointer + 4]
        bytes.replaceSubrange(pointer..<pointer + 4, with: chain!)
        changed += 1
      }
    }
    #expect(changed == 6)
    let pages = bytes.count / 512
    bytes.replaceSubrange(28..<32, with: DamagedPagesTests.four(UInt32(pages)))
    let snapshot = try MemoryFile(bytes).snapshot()
    // Six rows read no more pages than there are.
    #expect(try DamagedDatabaseTests.read(snapshot, root: 2) == 6)
    let small = OverflowReader(snapshot: snapshot, limit: 1 << 20, isScan: true)
    let cell = TreePage.Cell(
      rowid: 1, payloadLength: 7003 - local, local: UnsafeRawBufferPointer(start: nil, count: 0), localOffset: 0,
      overflow: chain!.reduce(0) { $0 << 8 | UInt32($1) }, index: 4, place: 0..<1)
    let error = #expect(throws: StreamsError.self) { for _ in 0..<100 { try small.checkChain(cell, page: 9) } }
    #expect(error?.page == 9 && error?.cell == 4 && error?.message.contains("shares") == true)
  }
}
