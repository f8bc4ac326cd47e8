import Streams

/// By what a file of ordinary tables is known: the application ID of its header (SQLite, "Database File Format", 1.3.17).
package enum PlainMark {
  /// `GdwP`.
  package static let number: UInt32 = 0x4764_7750
  /// What a report calls such a destination: ``RunReport/form``.
  package static let form = "plain"

  package static func isThere(_ path: String, _ fileSystem: any FileSystem) -> Bool {
    guard let status = try? fileSystem.status(path), status.isRegularFile, let file = try? fileSystem.open(path, .read)
    else { return false }
    defer { file.close() }
    var head = [UInt8](repeating: 0, count: 72)
    guard (try? head.withUnsafeMutableBytes({ try file.read(into: $0, at: 0) })) == head.count else { return false }
    return head.starts(with: Array("SQLite format 3\0".utf8))
      && head[68...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } == number
  }
}
