import Streams

/// The lines of a file of JSON lines, one after the other, with bounded memory.
struct JSONLines {
  /// A line that is longer counts, and is not given.
  static let longest = 1 << 20
  private let file: (any File)?
  private var buffer: [UInt8] = []
  private var read: UInt64 = 0
  /// Bytes up to the end of the last line that was given.
  private(set) var position: UInt64 = 0

  /// Of a file that cannot be opened there are none.
  init(path: String) { file = try? LocalFileSystem().open(path, .read) }

  /// The next whole line, empty for one that is too long; nil at the end.
  mutating func next() throws -> [UInt8]? {
    var (isTooLong, searched) = (false, 0)
    while true {
      if let end = buffer[searched...].firstIndex(of: 0x0A) {
        let line = isTooLong ? [] : Array(buffer[..<end])
        position += UInt64(end + 1)
        buffer.removeFirst(end + 1)
        return line
      }
      if buffer.count > Self.longest {
        position += UInt64(buffer.count)
        buffer.removeAll()
        isTooLong = true
      }
      searched = buffer.count
      guard try fill() else { return nil }
    }
  }

  private mutating func fill() throws -> Bool {
    guard let file else { return false }
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    let count = try chunk.withUnsafeMutableBytes { try file.read(into: $0, at: read) }
    read += UInt64(count)
    buffer += chunk[..<count]
    return count > 0
  }
}
