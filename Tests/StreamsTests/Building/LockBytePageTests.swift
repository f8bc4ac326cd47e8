import Foundation
import Testing

@testable import Streams

/// Where pages may lie: pointer maps and the page of the lock byte at 1 GiB (trap 20).
@Suite struct LockBytePageTests {
  static let sizes = [512, 1024, 2048, 4096, 8192, 16384, 32768, 65536]

  /// Pointer-map pages up to a page, found one by one: each describes as many pages behind it as it has entries.
  static func pointerMaps(usable: Int, lockByte: UInt32, upTo last: UInt32) -> [UInt32] {
    var found: [UInt32] = []
    var place: UInt32 = 2
    while place <= last {
      found.append(place == lockByte ? place + 1 : place)
      place += UInt32(usable / 5) + 1
    }
    return found
  }

  @Test("Trap 20: pointer-map pages and the lock byte's page lie where the file format says", arguments: sizes)
  func geometry(pageSize: Int) throws {
    for reserved in [0, 8, 32] where pageSize - reserved >= 480 {
      let geometry = try #require(PageGeometry(pageSize: pageSize, reserved: reserved, hasPointerMap: true))
      let plain = try #require(PageGeometry(pageSize: pageSize, reserved: reserved, hasPointerMap: false))
      let lock = UInt32(0x4000_0000 / pageSize) + 1
      #expect(geometry.lockBytePage == lock)
      let last = lock + 30_000
      let maps = Self.pointerMaps(usable: pageSize - reserved, lockByte: lock, upTo: last)
      let isMap = Set(maps)
      for page in Array(UInt32(2)..<20_000) + Array(lock - 20_000 / 2..<last - 20_000) where page > 1 {
        let expected = isMap.contains(page)
        guard geometry.isPointerMap(page) == expected, geometry.isData(page) == (!expected && page != lock),
          plain.isData(page) == (page != lock), !plain.isPointerMap(page)
        else {
          Issue.record("page \(page) of \(pageSize)/\(reserved)")
          return
        }
        guard !expected, page != lock else { continue }
        let map = geometry.pointerMapPage(for: page)
        // The entry lies within the map's page.
        guard isMap.contains(map), map < page, 5 * Int(page - map) <= pageSize - reserved else {
          Issue.record("page \(page) of \(pageSize)/\(reserved): map \(map)")
          return
        }
      }
    }
  }

  @Test("Trap 20: with pages of 1,024 bytes a pointer map would lie on the lock byte's page; it lies behind")
  func pointerMapOnLockByte() throws {
    let geometry = try #require(PageGeometry(pageSize: 1024, hasPointerMap: true))
    let lock = geometry.lockBytePage
    #expect((lock - 2) % (1024 / 5 + 1) == 0)
    #expect(!geometry.isPointerMap(lock) && !geometry.isData(lock))
    #expect(geometry.isPointerMap(lock + 1) && geometry.isData(lock + 2))
    #expect(geometry.pointerMapPage(for: lock + 2) == lock + 1)
  }

  @Test("Trap 20: a table that crosses 1 GiB leaves out the lock byte's page and is read back", arguments: sizes)
  func crossing(pageSize: Int) throws {
    let geometry = try #require(PageGeometry(pageSize: pageSize, hasPointerMap: true))
    try expectEmpty(geometry.lockBytePage, in: try build(around: geometry.lockBytePage, geometry), pageSize)
  }

  @Test("Tables beyond 4 GiB, and up to the largest page number that SQLite has, are read back", arguments: sizes)
  func beyond(pageSize: Int) throws {
    let geometry = try #require(PageGeometry(pageSize: pageSize, hasPointerMap: true))
    for place in [UInt32((UInt64(1) << 32) / UInt64(pageSize)), 1 << 31, UInt32.max - 100] {
      _ = try build(around: place, geometry)
    }
  }

  @Test("Pages end where SQLite's numbers end, in an error", arguments: [false, true])
  func last(hasPointerMap: Bool) throws {
    let geometry = try #require(PageGeometry(pageSize: 512, hasPointerMap: hasPointerMap))
    let writer = PageWriter(file: SparseFile(), geometry: geometry, nextPage: UInt32.max - 5)
    var last: UInt32 = 0
    let error = #expect(throws: StreamsError.self) { while true { last = try writer.allocate() } }
    #expect(error?.code == .tooLarge && last < UInt32.max - 1 && last > UInt32.max - 6)
  }

  /// Builds a table from some pages before a place to some pages behind it, and checks rows and pointer maps.
  private func build(around place: UInt32, _ geometry: PageGeometry) throws -> SparseFile {
    let (file, pageSize) = (SparseFile(), geometry.pageSize)
    let writer = PageWriter(file: file, geometry: geometry, nextPage: place - 30)
    let root = try writer.allocate()
    let table = TableBuilder(root: root, writer: writer)
    let encoder = RecordEncoder()
    var row: Int64 = 0
    // Every third row has an overflow chain of some pages, so that chains cross the gap too.
    while writer.nextPage < place + 60 {
      row += 1
      encoder.reset()
      encoder.append(
        .blob([UInt8](repeating: UInt8(truncatingIfNeeded: row), count: row % 3 == 0 ? pageSize * 5 / 2 : pageSize / 4))
      )
      var bytes = [UInt8](repeating: 0, count: encoder.length)
      try bytes.withUnsafeMutableBytes {
        encoder.write(to: $0.baseAddress!)
        try table.append(rowid: row, record: UnsafeRawBufferPointer($0))
      }
      if row % 40 == 0 { try writer.flush() }
    }
    try table.finish()
    try writer.flush()
    try expectRows(row, root: root, file, geometry, pages: writer.nextPage - 1)
    try expectEntries(from: root, to: writer.nextPage - 1, file, geometry)
    return file
  }

  private func expectEmpty(_ page: UInt32, in file: SparseFile, _ pageSize: Int) throws {
    var bytes = [UInt8](repeating: 1, count: pageSize)
    _ = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: UInt64(page - 1) * UInt64(pageSize)) }
    #expect(bytes.allSatisfy { $0 == 0 })
  }

  private func expectRows(_ rows: Int64, root: UInt32, _ file: SparseFile, _ geometry: PageGeometry, pages: UInt32)
    throws
  {
    let header = DatabaseHeader(pageSize: geometry.pageSize, autoVacuum: 2, version: .rollback)
    let snapshot = try DatabaseSnapshot.building(
      path: file.path, fileSystem: SingleFileSystem(file: file), header: header, pageCount: pages)
    let scan = TableScan(snapshot: snapshot, root: root, rowLimit: 1 << 24)
    let (page, decoder) = (RowPage(), RecordDecoder())
    var expected: Int64 = 0
    while try scan.next(into: page) {
      for index in 0..<page.count {
        expected += 1
        #expect(decoder.decode(page.record(index)))
        #expect(page.rowid(index) == expected)
        #expect(decoder.body(0).allSatisfy { $0 == UInt8(truncatingIfNeeded: expected) })
      }
    }
    #expect(expected == rows)
  }

  /// Every data page has an entry whose parent is a data page.
  private func expectEntries(from first: UInt32, to last: UInt32, _ file: SparseFile, _ geometry: PageGeometry) throws {
    for page in first...last where geometry.isData(page) {
      let map = geometry.pointerMapPage(for: page)
      // Maps that begin before the first page are not part of this test's file.
      guard map > first else { continue }
      var entry = [UInt8](repeating: 0, count: 5)
      let position = UInt64(map - 1) * UInt64(geometry.pageSize) + 5 * UInt64(page - map - 1)
      _ = try entry.withUnsafeMutableBytes { try file.read(into: $0, at: position) }
      let parent = entry[1...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      #expect(
        [3, 4, 5].contains(entry[0]) && geometry.isData(parent) && (first...last).contains(parent), "page \(page)")
    }
  }
}

/// A disk with one file, for reading.
struct SingleFileSystem: FileSystem {
  let file: any File
  private var refusal: StreamsError { StreamsError(.unsupported, "there is one file only") }
  func open(_ path: String, _ mode: OpenMode) throws -> any File { file }
  func rename(_ source: String, to destination: String) throws { throw refusal }
  func link(_ source: String, to destination: String) throws { throw refusal }
  func remove(_ path: String) throws { throw refusal }
  func makeDirectory(_ path: String) throws { throw refusal }
  func list(_ path: String) throws -> [String] { throw refusal }
  func status(_ path: String) throws -> FileStatus? { nil }
  func syncDirectory(_ path: String) throws { throw refusal }
  func availableSpace(_ path: String) throws -> UInt64 { 0 }
}
