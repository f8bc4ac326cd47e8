// The target of scripts/fuzz-reader: the page reader, and the readers of a run's own files, on any bytes. Compiled together with
// Sources/Streams. Flags 2 and 4 choose among databases (neither), checkpoints, runs of look-ups, and open pages (both).
//
// An input is one byte of flags and the bytes of a database; with flag 1, four bytes of a length come first, and what lies
// behind that length is its -wal file, whose checksums are made right, since no mutation would hit them.

import Glibc

/// A file of the disk, in memory.
private final class FuzzFile: File, @unchecked Sendable {
  let path: String
  let bytes: [UInt8]
  init(_ path: String, _ bytes: [UInt8]) { (self.path, self.bytes) = (path, bytes) }
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int {
    guard offset < UInt64(bytes.count), let target = buffer.baseAddress else { return 0 }
    let count = min(buffer.count, bytes.count - Int(offset))
    bytes.withUnsafeBytes { target.copyMemory(from: $0.baseAddress! + Int(offset), byteCount: count) }
    return count
  }
  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws { fatalError("a reader writes") }
  func sync() throws { fatalError("a reader syncs") }
  func truncate(to length: UInt64) throws { fatalError("a reader cuts") }
  func size() throws -> UInt64 { UInt64(bytes.count) }
  func lock(_ kind: LockKind, start: UInt64, length: UInt64) throws -> Bool { true }
  func close() {}
}

private struct FuzzDisk: FileSystem {
  let main: FuzzFile
  let log: FuzzFile?
  private var refusal: StreamsError { StreamsError(.unsupported, "this disk is only read") }
  func open(_ path: String, _ mode: OpenMode) throws -> any File {
    if path == main.path { return main }
    guard let log else { throw refusal }
    return log
  }
  func rename(_ source: String, to destination: String) throws { throw refusal }
  func link(_ source: String, to destination: String) throws { throw refusal }
  func remove(_ path: String) throws { throw refusal }
  func makeDirectory(_ path: String) throws { throw refusal }
  func list(_ path: String) throws -> [String] { throw refusal }
  func status(_ path: String) throws -> FileStatus? {
    guard let log, path == log.path else { return nil }
    return FileStatus(
      size: UInt64(log.bytes.count), modified: 0, device: 0, inode: 0, mode: 0, owner: 0, group: 0, isDirectory: false)
  }
  func syncDirectory(_ path: String) throws { throw refusal }
  func availableSpace(_ path: String) throws -> UInt64 { 0 }
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>, _ size: Int) -> CInt {
  guard size > 5 else { return 0 }
  if start[0] & 6 != 0 {
    let bytes = Array(UnsafeBufferPointer(start: start + 1, count: size - 1))
    switch start[0] & 6 {
    case 2: readCheckpoint(bytes)
    case 4: readRun(bytes)
    default: restoreBuilder(bytes)
    }
    return 0
  }
  var main = Array(UnsafeBufferPointer(start: start + 1, count: size - 1))
  var log: FuzzFile?
  if start[0] & 1 == 1 {
    let length = min(main[0..<4].reduce(0) { $0 << 8 | Int($1) }, main.count - 4)
    var tail = Array(main[(4 + length)...])
    main = Array(main[4..<4 + length])
    repairLog(&tail)
    log = FuzzFile("d-wal", tail)
  }
  let disk = FuzzDisk(main: FuzzFile("d", main), log: log)
  guard let snapshot = try? DatabaseSnapshot(path: "d", fileSystem: disk, locking: .none) else { return 0 }
  for root in 1...min(UInt32(7), max(1, snapshot.pageCount)) { read(snapshot, root) }
  read(snapshot, snapshot.pageCount)
  return 0
}

private func read(_ snapshot: DatabaseSnapshot, _ root: UInt32) {
  let limit = 1 << 18
  _ = try? TablePages.count(snapshot, root: root)
  _ = try? TreeCount.rows(root: root, in: snapshot)
  let lookup = RowLookup(snapshot: snapshot, root: root, cacheBytes: 1 << 13, rowLimit: limit)
  _ = try? lookup.lastRowid()
  for rowid in [0, 7, Int64.max] { _ = try? lookup.withRecord(rowid) { $0.count } }
  let later = TableScan(snapshot: snapshot, root: root, after: 5, rowLimit: limit)
  _ = try? later.next(into: page)
  let scan = TableScan(snapshot: snapshot, root: root, rowLimit: limit)
  while (try? scan.next(into: page)) == true { use(page) }
  guard let records = try? IndexScan(snapshot: snapshot, root: root, rowLimit: limit) else { return }
  while (try? records.next(into: page)) == true { use(page) }
}

/// As it is, and as a payload whose check value is right.
private func readCheckpoint(_ bytes: [UInt8]) {
  if let checkpoint = try? UnverifiedCheckpoint(bytes).verified() { readSections(checkpoint) }
  var writer = ByteWriter()
  writer.writeRaw(bytes)
  writer.writeUInt64(CRC64.checksum(bytes))
  guard let frame = try? LZ4Frame.compress(writer.bytes), let checkpoint = try? UnverifiedCheckpoint(frame).verified() else {
    return
  }
  readSections(checkpoint)
  guard let again = try? UnverifiedCheckpoint(checkpoint.encoded()).verified(), again == checkpoint else {
    fatalError("the checkpoint does not come back")
  }
}

private func readSections(_ checkpoint: Checkpoint) {
  for name in checkpoint.sections.keys {
    guard var reader = checkpoint.reader(of: name) else { continue }
    _ = try? reader.readArray { (try $0.readString(), try $0.readOptional { try $0.readBytes() }) }
  }
}

private let runKeys: [[UInt8]] = (0..<9).map { Array("key \($0)".utf8) } + [[UInt8](repeating: 7, count: 1500)]

private func readRun(_ bytes: [UInt8]) {
  let disk = FuzzDisk(main: FuzzFile("r", bytes), log: nil)
  guard let run = try? SpilledRun(path: "r", fileSystem: disk) else { return }
  for isKept in [false, true] {
    _ = try? run.keepFilter(isKept)
    for key in runKeys { key.withUnsafeBytes { _ = try? run.find(TaggedKey($0), hash: hashBytes($0), RunMemory()) } }
  }
}

/// Open pages that a checkpoint names, gone on with. The file is one that forgets.
private func restoreBuilder(_ bytes: [UInt8]) {
  let writer = PageWriter(file: Forgetting(), geometry: smallPages, nextPage: 900)
  let table = TableBuilder(root: 3, writer: writer)
  var reader = ByteReader(bytes, subject: "open pages")
  guard (try? table.restore(from: &reader)) != nil else { return }
  for row in 0..<40 { _ = try? record([.integer(Int64(row)), .text("x")]).withUnsafeBytes { try table.append(rowid: .max - 50 + Int64(row), record: $0) } }
  _ = try? table.finish()
}

private final class Forgetting: File, @unchecked Sendable {
  let path = "forgetting"
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int { 0 }
  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {}
  func sync() throws {}
  func truncate(to length: UInt64) throws {}
  func size() throws -> UInt64 { 1 << 20 }
  func lock(_ kind: LockKind, start: UInt64, length: UInt64) throws -> Bool { true }
  func close() {}
}

private func record(_ values: [Value]) -> [UInt8] {
  encoder.reset()
  for value in values { encoder.append(value) }
  var bytes = [UInt8](repeating: 0, count: encoder.length)
  bytes.withUnsafeMutableBytes { encoder.write(to: $0.baseAddress!) }
  return bytes
}

private let smallPages = PageGeometry(pageSize: 512, reserved: 0, hasPointerMap: true)!
private let page = RowPage()
nonisolated(unsafe) private let decoder = RecordDecoder()
nonisolated(unsafe) private let encoder = RecordEncoder()
private let columns = [
  SortColumn(1, collation: .foldingCase), SortColumn(0, isDescending: true), SortColumn(2, collation: .trimmingRight),
]

/// Takes records apart and makes index keys of them, which must come back.
private func use(_ page: RowPage) {
  for row in 0..<page.count {
    guard decoder.decode(page.record(row)) else { continue }
    for column in 0..<min(decoder.columnCount, 8) { _ = try? decoder.value(column) }
    var key: [UInt8] = []
    guard SortKey.encode(columns: columns, of: decoder, rowidColumn: nil, rowid: page.rowid(row), to: &key) else {
      fatalError("no key")
    }
    key.withUnsafeBytes {
      guard SortKey.decode($0, columns: columns, into: encoder), SortKey.rowid($0, columns: columns) == page.rowid(row) else {
        fatalError("the key does not come back")
      }
    }
  }
}

/// Sets a log's salts and checksums so that its frames count.
private func repairLog(_ log: inout [UInt8]) {
  guard log.count >= 32 else { return }
  let size = log[8..<12].reduce(0) { $0 << 8 | Int($1) }
  var sum: (UInt32, UInt32) = (0, 0)
  let isBig = log[3] & 1 == 1
  func word(_ place: Int) -> UInt32 {
    var word: UInt32 = 0
    for byte in 0..<4 { word |= UInt32(log[place + byte]) << UInt32(8 * (isBig ? 3 - byte : byte)) }
    return word
  }
  func add(_ range: Range<Int>) {
    for place in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
      sum.0 = sum.0 &+ word(place) &+ sum.1
      sum.1 = sum.1 &+ word(place + 4) &+ sum.0
    }
  }
  func put(at place: Int) {
    for (index, value) in [sum.0, sum.1].enumerated() {
      for byte in 0..<4 { log[place + 4 * index + byte] = UInt8(truncatingIfNeeded: value >> UInt32(24 - 8 * byte)) }
    }
  }
  add(0..<24)
  put(at: 24)
  guard size >= 512, size <= 65536, size.isMultiple(of: 8) else { return }
  for frame in stride(from: 32, to: log.count - 24 - size + 1, by: 24 + size) {
    log.replaceSubrange(frame + 8..<frame + 16, with: log[16..<24])
    add(frame..<frame + 8)
    add(frame + 24..<frame + 24 + size)
    put(at: frame + 16)
  }
}

// MARK: Seeds

/// Writes the first inputs into the folder that GODWIT_FUZZ_SEEDS names, built by the engine itself.
@_cdecl("LLVMFuzzerInitialize")
public func fuzzInitialize(
  _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>
) -> CInt {
  guard let folder = getenv("GODWIT_FUZZ_SEEDS").map({ String(cString: $0) }) else { return 0 }
  let files = LocalFileSystem()
  do {
    var number = 0
    for (vacuum, reserved) in [(0, 0), (1, 8), (2, 0)] {
      for rows in [0, 3, 40, 90] {
        let path = folder + "/work"
        try build(path, rows: rows, vacuum: vacuum, reserved: reserved)
        var bytes = try files.readAll(path, cap: 1 << 24)
        // One of three in UTF-16: its texts are then others, which is as good.
        if vacuum == 1 { bytes[59] = rows == 3 ? 2 : 3 }
        try files.writeAndSync([0] + bytes, to: folder + "/seed-\(number)")
        if rows == 3 { try writeLogged(bytes, path, to: folder + "/log-\(number)") }
        try files.remove(path)
        number += 1
      }
    }
    try writeRunFiles(to: folder)
  } catch { fatalError("\(error)") }
  return 0
}

/// A checkpoint, its payload, a run of a look-up, and the open pages of a table.
private func writeRunFiles(to folder: String) throws {
  let files = LocalFileSystem()
  let fingerprint = [UInt8](repeating: 3, count: 32)
  let checkpoint = Checkpoint(
    sequence: 7, planFingerprint: fingerprint, sourceFingerprint: fingerprint,
    sections: ["position": [1, 2, 3], "state": [UInt8](repeating: 9, count: 300)])
  try files.writeAndSync([2] + checkpoint.encoded(), to: folder + "/checkpoint")
  try files.writeAndSync([2] + checkpoint.payload().dropLast(8), to: folder + "/payload")
  let hashed = runKeys.map { key in (key.withUnsafeBytes { hashBytes($0) }, key) }.sorted { $0.0 < $1.0 }
  let run = try SpilledRunWriter(path: folder + "/work", fileSystem: files, largestCount: UInt64(hashed.count))
  for (hash, key) in hashed { try key.withUnsafeBytes { try run.append(hash: hash, .init(key: 5, entity: 1), $0) } }
  try run.finish()
  try files.writeAndSync([4] + files.readAll(folder + "/work", cap: 1 << 20), to: folder + "/run")
  try files.remove(folder + "/work")
  for rows in [1, 30, 500] {
    let table = TableBuilder(
      root: 3, writer: PageWriter(file: Forgetting(), geometry: smallPages, nextPage: 10))
    for row in 0..<rows { try record([.text("row")]).withUnsafeBytes { try table.append(rowid: Int64(row), record: $0) } }
    var writer = ByteWriter()
    table.encode(into: &writer)
    try files.writeAndSync([6] + writer.bytes, to: folder + "/open-\(rows)")
  }
}

private func build(_ path: String, rows: Int, vacuum: Int, reserved: Int) throws {
  let file = try LocalFileSystem().open(path, .create)
  defer { file.close() }
  let header = DatabaseHeader(pageSize: 512, reserved: reserved, autoVacuum: vacuum, version: .rollback)
  let database = try DatabaseBuilder(
    file: file, header: header,
    schema: [
      .init(type: "table", name: "t", tableName: "t", sql: "CREATE TABLE t (a, b, c)"),
      .init(type: "index", name: "i", tableName: "t", sql: "CREATE INDEX i ON t (b)"),
    ])
  let table = TableBuilder(root: database.root(of: "t")!, writer: database.writer)
  let index = IndexBuilder(root: database.root(of: "i")!, writer: database.writer)
  for row in 0..<rows {
    let long = row % 17 == 2 ? 1300 : row % 5 * 20
    let values: [Value] = [
      .integer(Int64(row * row)), .text(String(repeating: "aB ", count: long / 3)), row % 3 == 0 ? .null : .real(0.5),
    ]
    try record(values).withUnsafeBytes { try table.append(rowid: Int64(row * 3 - 5), record: $0) }
    let key: [Value] = [.blob([UInt8](repeating: UInt8(row), count: row == 4 ? 900 : 9)), .integer(Int64(row))]
    try record(key).withUnsafeBytes { try index.append($0) }
  }
  try table.finish()
  try index.finish()
  try database.finish()
}

private func writeLogged(_ bytes: [UInt8], _ path: String, to target: String) throws {
  let files = LocalFileSystem()
  let (main, log) = (try files.open(path, .update), try files.open(path + "-wal", .create))
  var builder = LogBuilder(salts: (1, 2))
  try builder.write(main, pageSize: 512, to: log)
  let frames = try files.readAll(path + "-wal", cap: 1 << 24)
  let length = [0, 0, UInt8(bytes.count >> 8), UInt8(bytes.count & 255)]
  try files.writeAndSync([1] + length + bytes + frames, to: target)
  try files.remove(path + "-wal")
}
