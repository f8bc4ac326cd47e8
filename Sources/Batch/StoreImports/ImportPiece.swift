import Glibc
import Streams

/// Lines of a file that are read together, and what the shapes of lines made of them. One thread at a time uses it.
final class ImportPiece: @unchecked Sendable {
  // Sendable: it is handed on, and whoever had it is done with it.

  /// A line, without its end.
  struct Line {
    let start: Int
    let end: Int
    /// From 1.
    let number: Int
    /// The number of the last one, where a quotation takes several together.
    let last: Int
  }

  /// What is in the piece, in the order of lines.
  enum Item {
    case rows(ImportStretch)
    /// A line that none of the shapes fits.
    case line(Line)
  }

  /// What a new piece holds: the first ones are small, so that little is read before anything is known of the lines.
  static func bytes(ofPiece number: Int) -> Int { number < 16 ? (1 << 14) << (number / 4) : 1 << 18 }

  private var bytes: [UInt8] = []
  /// Lines that are known one by one.
  private var known: [Line] = []
  private var first = 1
  private(set) var lineCount = 0
  /// Where the next piece begins.
  var place: LineReader.Place?
  private(set) var items: [Item] = []
  /// The rows that the next line may continue.
  @exclusivity(unchecked) private var open: ImportStretch?
  /// The rows of all stretches.
  private let rows = ByteRoom()

  var isEmpty: Bool { lineCount == 0 }
  var byteCount: Int { bytes.count }

  func begin(line: Int) { (first, lineCount) = (line, 0) }

  /// Adds lines that all end here.
  func add(_ lines: UnsafeRawBufferPointer) {
    bytes.append(contentsOf: lines)
    // A loop that the compiler turns into one over vectors.
    var count = 0
    for byte in lines { count &+= byte == 0x0A ? 1 : 0 }
    lineCount += count
  }

  /// Adds a line.
  func add(_ line: UnsafeRawBufferPointer, number: Int, last: Int) {
    known.append(Line(start: bytes.count, end: bytes.count + line.count, number: number, last: last))
    bytes.append(contentsOf: line)
    lineCount += 1
  }

  /// Reads the lines by shapes, as far as they fit.
  func read(_ shapes: [ImportShape]) {
    bytes.withUnsafeBytes { bytes in
      if known.isEmpty {
        split(bytes) { read($0, of: bytes, by: shapes) }
      } else {
        for line in known { read(line, of: bytes, by: shapes) }
      }
    }
    closeRows()
  }

  private func closeRows() {
    if let open { items.append(.rows(open)) }
    open = nil
  }

  private func split(_ bytes: UnsafeRawBufferPointer, _ body: (Line) -> Void) {
    guard let base = bytes.baseAddress else { return }
    var (start, number) = (0, first)
    while start < bytes.count, let found = memchr(base + start, 0x0A, bytes.count - start) {
      let end = UnsafeRawPointer(found) - base
      body(Line(start: start, end: end > start && bytes[end - 1] == 0x0D ? end - 1 : end, number: number, last: number))
      (start, number) = (end + 1, number + 1)
    }
  }

  @inline(__always)
  private func read(_ line: Line, of bytes: UnsafeRawBufferPointer, by shapes: [ImportShape]) {
    guard line.end > line.start else { return }
    let text = UnsafeRawBufferPointer(rebasing: bytes[line.start..<line.end])
    for shape in shapes where shape.reads(text) { return add(shape, line.number) }
    closeRows()
    items.append(.line(line))
  }

  @inline(__always)
  private func add(_ shape: ImportShape, _ line: Int) {
    let entity = shape.entityNumber
    if open?.goesOn(entity, key: shape.key, line: line) != true {
      closeRows()
      open = ImportStretch(shape.entity.table, entity, key: shape.key, line: line, at: rows.count)
    }
    open?.add(shape.key, shape.row, to: rows)
  }

  func withBytes<R>(of line: Line, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try bytes.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[line.start..<line.end])) }
  }

  func bytes(of stretch: ImportStretch) -> UnsafeRawBufferPointer { rows.bytes(stretch.range) }
}
