import Glibc
import RunSupport
import Streams

/// Reads a file line by line within a bound of memory. A line of CSV goes on while a quotation is open.
///
/// One thread at a time uses it.
final class LineReader: @unchecked Sendable {
  // Sendable: whoever uses it next has waited for the one before.
  /// Where a line begins, and what was read by then, or already behind it.
  struct Place {
    let offset: UInt64
    let line: Int
    let bytesRead: UInt64
    let digest: ImportDigest
  }

  private static let pieceBytes = 1 << 20

  private let file: any File
  private let path: String
  private let limit: Int
  private let quotes: Bool
  private var buffer: [UInt8] = []
  private var start = 0
  private var end: UInt64 = 0
  private var isAtEnd = false
  /// Of the bytes that were read.
  private var sum = ImportDigest()
  /// The number of the line at hand, from 1: the first one, if it goes over several.
  private(set) var number = 0
  private var nextNumber = 1
  /// What is wrong behind the lines that were given.
  private var failure: (any Error)?
  /// The number of its last line.
  var lastNumber: Int { nextNumber - 1 }
  /// Bytes of the file that were read.
  var bytesRead: UInt64 { end }

  /// `limit` is the longest line in bytes.
  init(_ path: String, _ fileSystem: any FileSystem, limit: Int, quotes: Bool) throws {
    guard try fileSystem.status(path) != nil else { throw NearName.noSuchFile(path) }
    (self.path, self.limit, self.quotes) = (path, limit, quotes)
    file = try fileSystem.open(path, .read)
  }

  deinit { file.close() }

  /// Where the next line begins.
  var place: Place {
    Place(offset: end - UInt64(buffer.count - start), line: nextNumber, bytesRead: end, digest: sum)
  }

  /// Of what was read; of the whole file, at its end.
  var digest: [UInt8] { sum.value }

  /// Goes on at a place, and gives it; nil if the file has other bytes before it than were read.
  func resume(at offset: UInt64, line: Int, bytesRead: UInt64, digest: [UInt8]) throws -> Place? {
    guard offset <= bytesRead, line > 0 else { return nil }
    var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
    func add(to last: UInt64) throws {
      while end < last {
        let want = min(piece.count, Int(clamping: last - end))
        let count = try piece.withUnsafeMutableBytes {
          try file.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[..<want]), at: end)
        }
        guard count > 0 else { return }
        piece.withUnsafeBytes { sum.add(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        end += UInt64(count)
      }
    }
    try add(to: offset)
    let before = sum
    try add(to: bytesRead)
    guard end == bytesRead, self.digest == digest else { return nil }
    let place = Place(offset: offset, line: line, bytesRead: bytesRead, digest: sum)
    (sum, end, nextNumber) = (before, offset, line)
    return place
  }

  /// Calls `body` with the next line, without its end; false at the end of the file.
  func next(_ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
    // The line at hand begins at `line`; what lies before `place` has no end of a line.
    var (line, place, lines) = (start, start, 1)
    var opened: Int?
    while true {
      while let end = lineEnd(from: place) {
        if quotes { opened = quotation(line..<end, opened, number: nextNumber + lines - 1) }
        if opened == nil {
          try deliver(to: end, next: end + 1, lines, body)
          return true
        }
        lines += 1
        (line, place) = (end + 1, end + 1)
      }
      let (before, kept) = (line - start, buffer.count - start)
      let isMore = try fill(opened)
      (line, place) = (start + before, start + kept)
      guard isMore else { break }
    }
    guard start < buffer.count else { return false }
    if quotes, let opened = quotation(line..<buffer.count, opened, number: nextNumber + lines - 1) {
      throw BatchError(
        .refused, "line \(opened): a quotation mark opens here, and nothing closes it before the end of the file",
        hint: "Correct the file: a quotation mark within a field is doubled, and the field is in such marks",
        effect: .nothingWritten, path: path)
    }
    try deliver(to: buffer.count, next: buffer.count, lines, body)
    return true
  }

  /// The line in which the quotation opened that is open at the end of a line; nil if none is. A mark opens one only
  /// where a field begins, and a doubled one closes none.
  private func quotation(_ range: Range<Int>, _ opened: Int?, number: Int) -> Int? {
    buffer.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress,
        opened != nil || memchr(base + range.lowerBound, 0x22, range.count) != nil
      else { return nil }
      var (place, opened, begins) = (range.lowerBound, opened, opened == nil)
      // What stands before the first field.
      if number == 1, bytes[range].starts(with: Self.byteOrderMark) { place += Self.byteOrderMark.count }
      while place < range.upperBound {
        let byte = bytes[place]
        place += 1
        if opened != nil {
          guard byte == 0x22 else { continue }
          if place < range.upperBound, bytes[place] == 0x22 { place += 1 } else { opened = nil }
        } else {
          if byte == 0x22, begins { opened = number }
          begins = byte == 0x2C
        }
      }
      return opened
    }
  }

  /// The end of the last whole line within so many bytes, in a place that needs no look at single lines: nil at the
  /// file's first line, in its last lines, in one that is longer, and where there are quotation marks.
  private func wholeLines(_ bytes: Int) throws -> Int? {
    guard nextNumber > 1 else { return nil }
    if buffer.count - start < bytes { _ = try fill(nil) }
    let count = min(bytes, buffer.count - start)
    return buffer.withUnsafeBytes { buffer in
      guard count > 0, let base = buffer.baseAddress, !quotes || memchr(base + start, 0x22, count) == nil else {
        return nil
      }
      return buffer[start..<(start + count)].lastIndex(of: 0x0A).map { $0 + 1 }
    }
  }

  /// Fills a piece with the next lines, of about so many bytes together; false at the end of the file. An error of a
  /// line is thrown when those before it were given.
  func fill(_ piece: ImportPiece, bytes: Int) throws -> Bool {
    if let failure { throw failure }
    piece.begin(line: nextNumber)
    let wanted = min(bytes, limit)
    if let end = try wholeLines(wanted) {
      buffer.withUnsafeBytes { piece.add(UnsafeRawBufferPointer(rebasing: $0[start..<end])) }
      (nextNumber, start) = (nextNumber + piece.lineCount, end)
    } else {
      do {
        while try next({ piece.add($0, number: number, last: lastNumber) }), quotes, piece.byteCount < wanted {}
      } catch {
        guard !piece.isEmpty else { throw error }
        failure = error
      }
    }
    piece.place = place
    return !piece.isEmpty
  }

  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  private func lineEnd(from place: Int) -> Int? {
    buffer.withUnsafeBytes { bytes in
      guard place < bytes.count, let base = bytes.baseAddress,
        let found = memchr(base + place, 0x0A, bytes.count - place)
      else { return nil }
      return UnsafeRawPointer(found) - base
    }
  }

  private func deliver(
    to last: Int, next: Int, _ lines: Int, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    (number, nextNumber) = (nextNumber, nextNumber + lines)
    let isCarriage = last > start && buffer[last - 1] == 0x0D
    let first = number == 1 && buffer[start..<last].starts(with: Self.byteOrderMark) ? start + 3 : start
    start = next
    try buffer.withUnsafeBytes {
      try body(UnsafeRawBufferPointer(rebasing: $0[first..<(isCarriage ? last - 1 : last)]))
    }
  }

  /// Reads on; false at the end of the file. `opened` is where a quotation is open.
  private func fill(_ opened: Int?) throws -> Bool {
    guard !isAtEnd else { return false }
    buffer.removeSubrange(..<start)
    start = 0
    let kept = buffer.count
    guard kept <= limit else {
      throw BatchError(
        .refused,
        opened.map { "line \($0): a quotation mark opens here, and nothing closes it within \(limit >> 20) MiB" }
          ?? "line \(nextNumber) has more than \(limit >> 20) MiB",
        hint: opened == nil ? "Import with a larger --memory" : "Close it, or import with a larger --memory",
        effect: .nothingWritten, path: path)
    }
    buffer += [UInt8](repeating: 0, count: Self.pieceBytes)
    let count = try buffer.withUnsafeMutableBytes {
      try file.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[kept...]), at: end)
    }
    buffer.removeLast(Self.pieceBytes - count)
    if count > 0 { buffer.withUnsafeBytes { sum.add(UnsafeRawBufferPointer(rebasing: $0[kept...])) } }
    end += UInt64(count)
    isAtEnd = count == 0
    return !isAtEnd
  }
}
