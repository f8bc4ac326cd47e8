// floor STORE: the processor time of decode + transform + encode for all rows of W1's store. Reading is not counted.
// Prints the seconds and the rows.
import Glibc
import Kernels
import Streams

func processorTime() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

func end(_ message: String, _ code: Int32) -> Never {
  let line = message + "\n"
  _ = line.withCString { write(2, $0, line.utf8.count) }
  exit(code)
}

guard CommandLine.arguments.count == 2 else { end("usage: floor STORE", 64) }
let snapshot = try DatabaseSnapshot(path: CommandLine.arguments[1], fileSystem: LocalFileSystem(), locking: .shared)
let (page, decoder) = (RowPage(), RecordDecoder())

var root: UInt32?
let schema = TableScan(snapshot: snapshot, root: 1, rowLimit: 1 << 20)
while try schema.next(into: page) {
  for row in 0..<page.count where decoder.decode(page.record(row)) {
    guard try decoder.value(1) == .text("ZROW") else { continue }
    root = decoder.integer(3).map { UInt32($0) }
  }
}
guard let root else { end("the store has no table ZROW", 1) }

let (scan, kernel) = (TableScan(snapshot: snapshot, root: root, rowLimit: 1 << 20), RowKernel())
var (seconds, rows, bytes) = (0.0, 0, 0)
while try scan.next(into: page) {
  let begin = processorTime()
  for row in 0..<page.count { bytes += kernel.transform(page.record(row)).count }
  seconds += processorTime() - begin
  rows += page.count
}
print("{\"seconds\": \(seconds), \"rows\": \(rows), \"bytes\": \(bytes)}")
