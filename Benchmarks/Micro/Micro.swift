import Benchmark
import Glibc
import Kernels
import Streams

/// Nanoseconds of processor time for a record, all threads together.
private let perRecord = BenchmarkMetric.custom("CPU ns/record", polarity: .prefersSmaller, useScalingFactor: false)
/// What is taken in, in decimal megabytes, for a second of processor time.
private let perSecond = BenchmarkMetric.custom("MB/s of CPU", polarity: .prefersLarger, useScalingFactor: false)

private func processorTime() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// Defines a benchmark of which one run takes `records` records, of `bytes` bytes in all where it is bytes that count.
private func measure(_ name: String, records: Int, bytes: Int?, _ body: @escaping @Sendable () throws -> Void) {
  let configuration = Benchmark.Configuration(
    metrics: [.wallClock, .throughput, perRecord] + (bytes == nil ? [] : [perSecond]), warmupIterations: 3,
    maxDuration: .seconds(3), maxIterations: 200)
  Benchmark(name, configuration: configuration) { benchmark in
    let begin = processorTime()
    try body()
    let spent = max(1, processorTime() - begin)
    benchmark.measurement(perRecord, Int(spent) / records)
    if let bytes { benchmark.measurement(perSecond, bytes * 1000 / Int(spent)) }
  }
}

let benchmarks: @Sendable () -> Void = {
  let records = MadeRecords(count: 100_000)
  let count = records.count
  let bytes = records.byteCount

  measure("Record: decode", records: count, bytes: bytes) {
    let kernel = RowKernel()
    records.page.forEach { _, _, record in blackHole(kernel.decode(record)) }
  }
  measure("Record: decode, encode", records: count, bytes: bytes) {
    let kernel = RowKernel()
    records.page.forEach { _, _, record in
      blackHole(kernel.decode(record))
      blackHole(kernel.encode())
    }
  }
  measure("Record: decode, transform, encode (W1)", records: count, bytes: bytes) {
    let kernel = RowKernel()
    records.page.forEach { _, _, record in blackHole(kernel.transform(record)) }
  }
  measure("Table: pages built", records: count, bytes: bytes) { try buildTable(records, hasPointerMap: false) }
  measure("Table: pages built, pointer map", records: count, bytes: bytes) {
    try buildTable(records, hasPointerMap: true)
  }
  sorting()
  compression(records)
  handOff()
}

private func buildTable(_ records: MadeRecords, hasPointerMap: Bool) throws {
  let geometry = PageGeometry(pageSize: 4096, hasPointerMap: hasPointerMap)!
  let writer = PageWriter(file: NoFile(), geometry: geometry)
  let builder = TableBuilder(root: try writer.allocate(), writer: writer)
  try records.page.forEach { _, rowid, record in try builder.append(rowid: rowid, record: record) }
  try builder.finish()
  try writer.flush()
}

/// Keys of an index on a foreign key: an integer and the rowid.
private struct Keys: Sendable {
  let rows: RecordPage
  let count: Int
  static let columns = [SortColumn(0)]

  init(count: Int, range: UInt64) {
    let (page, encoder) = (RecordPage(), RecordEncoder())
    var numbers = Numbers(seed: 7)
    for key in 1...Int64(count) {
      encoder.reset()
      encoder.append(Int64(numbers.next() % range))
      page.append(table: 0, rowid: key, encoder)
    }
    (rows, self.count) = (page, count)
  }

  func forEachKey(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    let decoder = RecordDecoder()
    var key: [UInt8] = []
    try rows.forEach { _, rowid, record in
      key.removeAll(keepingCapacity: true)
      precondition(decoder.decode(record))
      precondition(SortKey.encode(columns: Self.columns, of: decoder, rowidColumn: nil, rowid: rowid, to: &key))
      try key.withUnsafeBytes(body)
    }
  }
}

private func sorting() {
  let keys = Keys(count: 500_000, range: 100_000)
  let (count, bytes) = (keys.count, keys.count * 20)
  measure("Sorting: keys made", records: count, bytes: bytes) { try keys.forEachKey { blackHole($0.count) } }
  measure("Sorting: in memory", records: count, bytes: bytes) {
    try sort(keys, memory: 64 << 20) { blackHole($0.count) }
  }
  measure("Sorting: by runs on disk", records: count, bytes: bytes) {
    try sort(keys, memory: 4 << 20) { blackHole($0.count) }
  }
  measure("Index: sorted and built", records: count, bytes: bytes) { try buildIndex(keys) }
}

private func sort(_ keys: Keys, memory: Int, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
  let path = "/tmp/godwit-micro-\(getpid()).sort"
  let sorter = ExternalSorter(memoryBytes: memory, path: path, fileSystem: LocalFileSystem())
  try keys.forEachKey { try sorter.add($0) }
  try sorter.drain(body)
}

private func buildIndex(_ keys: Keys) throws {
  let writer = PageWriter(file: NoFile(), geometry: PageGeometry(pageSize: 4096, hasPointerMap: true)!)
  let builder = IndexBuilder(root: try writer.allocate(), writer: writer)
  let encoder = RecordEncoder()
  let buffer = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 8)
  defer { buffer.deallocate() }
  try sort(keys, memory: 64 << 20) { key in
    precondition(SortKey.decode(key, columns: Keys.columns, into: encoder) && encoder.length <= 64)
    encoder.write(to: buffer)
    try builder.append(UnsafeRawBufferPointer(start: buffer, count: encoder.length))
  }
  try builder.finish()
  try writer.flush()
}

private func compression(_ records: MadeRecords) {
  var content: [UInt8] = []
  records.page.forEach { _, _, record in if content.count < 4 << 20 { content.append(contentsOf: record) } }
  let raw = content
  guard let frame = try? LZ4Frame.compress(raw) else { return }
  let blocks = raw.count / 65536
  measure("LZ4: frame made, a record is 64 KiB", records: blocks, bytes: raw.count) {
    blackHole(try LZ4Frame.compress(raw))
  }
  measure("LZ4: frame opened, a record is 64 KiB", records: blocks, bytes: raw.count) {
    blackHole(try LZ4Frame.decompress(frame, cap: raw.count))
  }
}

/// Pages of rows go through the three stages of a pipeline and nothing is done with them: a record is a page here.
private func handOff() {
  measure("Pipeline: hand-off, a record is a page", records: 20_000, bytes: nil) {
    var left = 20_000
    let source = Countdown(20_000)
    try Pipeline<Int, Int>.run(
      read: { source.next() },
      transform: {
        left -= 1
        return $0
      }, write: { blackHole($0) })
    precondition(left == 0)
  }
}

/// Counts down, for one thread at a time.
private final class Countdown: @unchecked Sendable {
  // Sendable: one thread of the pipeline at a time reads.
  private var left: Int
  init(_ left: Int) { self.left = left }
  func next() -> Int? {
    guard left > 0 else { return nil }
    left -= 1
    return left
  }
}
