import LoadTables
import Streams

/// The bytes of a row with the values that lie elsewhere in their places, one piece after the other.
final class PlainRowReader {
  private enum Part {
    case bytes(UnsafeRawBufferPointer)
    case outside(OutsideValue)
  }

  /// Bytes of the whole row.
  let length: Int
  private let longValues: LongValueReader
  private let fileSystem: any FileSystem
  private var parts: [Part] = []
  private var index = 0
  private var position = 0
  private var reader: OutsideReader?

  /// The record must stay in memory as long as the reader.
  init(
    _ record: UnsafeRawBufferPointer, _ insertions: [PlainPage.Insertion], longValues: LongValueReader,
    fileSystem: any FileSystem
  ) {
    (self.longValues, self.fileSystem) = (longValues, fileSystem)
    var (start, header) = (0, 0)
    // A record begins with the length of its header.
    let body = Varint.read(record, at: &header).map { Int($0) } ?? 0
    for insertion in insertions {
      parts.append(.bytes(UnsafeRawBufferPointer(rebasing: record[start..<(body + insertion.offset)])))
      if insertion.value.byteCount > 0 { parts.append(.outside(insertion.value)) }
      start = body + insertion.offset
    }
    parts.append(.bytes(UnsafeRawBufferPointer(rebasing: record[start...])))
    length = record.count + insertions.reduce(0) { $0 + $1.value.byteCount }
  }

  /// Copies the next bytes.
  func read(into target: UnsafeMutableRawPointer, _ count: Int) throws {
    var done = 0
    while done < count, index < parts.count {
      let length: Int
      switch parts[index] {
      case .bytes(let bytes):
        length = bytes.count
        let part = min(count - done, length - position)
        if let base = bytes.baseAddress { (target + done).copyMemory(from: base + position, byteCount: part) }
        (done, position) = (done + part, position + part)
      case .outside(let value):
        length = value.byteCount
        let reader = try reader ?? OutsideReader(value, longValues: longValues, fileSystem: fileSystem)
        self.reader = reader
        let part = min(count - done, length - position)
        try reader.read(into: target + done, part)
        (done, position) = (done + part, position + part)
      }
      if position == length { (index, position, reader) = (index + 1, 0, nil) }
    }
  }
}
