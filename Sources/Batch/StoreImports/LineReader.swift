import Glibc
import RunSupport
import Streams

/// Reads a file line by line within a bound of memory. A line of CSV goes on while a quotation is open.
final class LineReader {
  private static let pieceBytes = 1 << 20

  private let file: any File
  private let path: String
  private let limit: Int
  private let quotes: Bool
  private var buffer: [UInt8] = []
  private var start = 0
  private var end: UInt64 = 0
  private var isAtEnd = false
  /// The number of the line at hand, from 1: the first one, if it goes over several.
  private(set) var number = 0
  private var nextNumber = 1
  /// Bytes of the file that were read.
  var bytesRead: UInt64 { end }

  /// `limit` is the longest line in bytes.
  init(_ path: String, _ fileSystem: any FileSystem, limit: Int, quotes: Bool) throws {
    guard try fileSystem.status(path) != nil else { throw NearName.noSuchFile(path) }
    (self.path, self.limit, self.quotes) = (path, limit, quotes)
    file = try fileSystem.open(path, .read)
  }

  func close() { file.close() }

  /// Calls `body` with the next line, without its end; false at the end of the file.
  func next(_ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
    var (place, isQuoted, lines) = (start, false, 1)
    while true {
      while let end = lineEnd(from: place) {
        // A pair of marks is as much as none.
        if quotes, marks(place..<end) & 1 == 1 { isQuoted.toggle() }
        if !isQuoted {
          try deliver(to: end, next: end + 1, lines, body)
          return true
        }
        lines += 1
        place = end + 1
      }
      if quotes, marks(place..<buffer.count) & 1 == 1 { isQuoted.toggle() }
      place = buffer.count
      let kept = place - start
      guard try fill() else { break }
      place = kept
    }
    guard start < buffer.count else { return false }
    try deliver(to: buffer.count, next: buffer.count, lines, body)
    return true
  }

  private func lineEnd(from place: Int) -> Int? {
    buffer.withUnsafeBytes { bytes in
      guard place < bytes.count, let base = bytes.baseAddress,
        let found = memchr(base + place, 0x0A, bytes.count - place)
      else { return nil }
      return UnsafeRawPointer(found) - base
    }
  }

  /// Quotation marks in a part of the buffer.
  private func marks(_ range: Range<Int>) -> Int {
    buffer.withUnsafeBytes { bytes in
      var count = 0
      for place in range where bytes[place] == 0x22 { count += 1 }
      return count
    }
  }

  private func deliver(
    to last: Int, next: Int, _ lines: Int, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    (number, nextNumber) = (nextNumber, nextNumber + lines)
    let isCarriage = last > start && buffer[last - 1] == 0x0D
    let first = number == 1 && buffer[start..<last].starts(with: [0xEF, 0xBB, 0xBF]) ? start + 3 : start
    start = next
    try buffer.withUnsafeBytes {
      try body(UnsafeRawBufferPointer(rebasing: $0[first..<(isCarriage ? last - 1 : last)]))
    }
  }

  /// Reads on; false at the end of the file.
  private func fill() throws -> Bool {
    guard !isAtEnd else { return false }
    buffer.removeSubrange(..<start)
    start = 0
    let kept = buffer.count
    guard kept <= limit else {
      throw BatchError(
        .refused, "line \(nextNumber) has more than \(limit >> 20) MiB", hint: "Import with a larger --memory",
        effect: .nothingWritten, path: path)
    }
    buffer += [UInt8](repeating: 0, count: Self.pieceBytes)
    let count = try buffer.withUnsafeMutableBytes {
      try file.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[kept...]), at: end)
    }
    buffer.removeLast(Self.pieceBytes - count)
    end += UInt64(count)
    isAtEnd = count == 0
    return !isAtEnd
  }
}
