import Glibc
import Streams

/// Reads files piece by piece, and copies them.
package enum FileCopy {
  package static let pieceBytes = 1 << 20

  /// Calls `body` with each piece of a file, or of its first `most` bytes, and where it begins.
  package static func forEachPiece(
    of path: String, _ fileSystem: any FileSystem, upTo most: UInt64 = .max,
    _ body: (UnsafeRawBufferPointer, UInt64) throws -> Void
  ) throws {
    let file = try fileSystem.open(path, .read)
    defer { file.close() }
    var (buffer, end) = ([UInt8](repeating: 0, count: pieceBytes), UInt64(0))
    while end < most {
      let wanted = min(buffer.count, Int(clamping: most - end))
      let count = try buffer.withUnsafeMutableBytes {
        try file.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[..<wanted]), at: end)
      }
      guard count > 0 else { return }
      try buffer.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[..<count]), end) }
      end += UInt64(count)
    }
  }

  /// Whether two files hold the same bytes. `heed` is called before each piece, and may throw.
  package static func areEqual(
    _ left: String, and right: String, _ fileSystem: any FileSystem, heed: () throws -> Void = {}
  ) throws -> Bool {
    let files = [try fileSystem.open(left, .read), try fileSystem.open(right, .read)]
    defer { for file in files { file.close() } }
    var buffers = [[UInt8](repeating: 0, count: pieceBytes), [UInt8](repeating: 0, count: pieceBytes)]
    var offset: UInt64 = 0
    while true {
      try heed()
      let counts = try files.indices.map { index in
        try buffers[index].withUnsafeMutableBytes { try files[index].read(into: $0, at: offset) }
      }
      guard counts[0] == counts[1], memcmp(buffers[0], buffers[1], counts[0]) == 0 else { return false }
      guard counts[0] > 0 else { return true }
      offset += UInt64(counts[0])
    }
  }

  /// Copies a file, durably. Nothing may have the target's name. Until it is whole, that ends with `.part`.
  package static func copy(_ source: String, to target: String, _ fileSystem: any FileSystem) throws {
    let new = NewFile(target, working: NewFile.part, fileSystem)
    try new.make {
      let file = try fileSystem.open(new.working, .create)
      defer { file.close() }
      try forEachPiece(of: source, fileSystem) { try file.write($0, at: $1) }
      try file.sync()
    }
  }
}
