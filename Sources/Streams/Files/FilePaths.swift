/// Whole small files, read with a limit and written so that a crash leaves the old bytes or the new ones.
extension FileSystem {
  /// All bytes of a file.
  ///
  /// - Throws: ``StreamsError``: `tooLarge` beyond `cap` bytes, before memory for them is taken.
  public func readAll(_ path: String, cap: Int) throws -> [UInt8] {
    let file = try open(path, .read)
    defer { file.close() }
    var bytes: [UInt8] = []
    // Files of /proc report no size, so the end is found by reading; the size only chooses the first buffer.
    let size = Int(clamping: try file.size())
    guard size <= cap else { throw Self.tooLarge(path, cap) }
    var chunk = [UInt8](repeating: 0, count: min(max(size, 4096), 1 << 20))
    while true {
      let count = try chunk.withUnsafeMutableBytes { try file.read(into: $0, at: UInt64(bytes.count)) }
      guard count > 0 else { return bytes }
      guard count <= cap - bytes.count else { throw Self.tooLarge(path, cap) }
      bytes += chunk[..<count]
    }
  }

  /// Writes a file under the name `path` + ".new", syncs it, renames it and syncs the directory.
  ///
  /// On return the bytes are durable. After an error the file has its old bytes, its new ones, or (if it did not
  /// exist) may be missing; a leftover ".new" is overwritten by the next call. `prepare` gets the file under that name
  /// before it is renamed.
  ///
  /// - Throws: ``StreamsError``, and what `prepare` throws.
  public func writeDurably(
    _ bytes: [UInt8], to path: String, prepare: (_ temporary: String) throws -> Void = { _ in }
  ) throws {
    try writeDurably(to: path, prepare: prepare) { try $0(bytes) }
  }

  /// The same in pieces: `body` is given what takes them, one after the other.
  ///
  /// - Throws: ``StreamsError``, and what `prepare` and `body` throw.
  public func writeDurably(
    to path: String, prepare: (_ temporary: String) throws -> Void = { _ in },
    _ body: (_ take: ([UInt8]) throws -> Void) throws -> Void
  ) throws {
    let temporary = path + ".new"
    try writeAndSync(to: temporary, body)
    try prepare(temporary)
    try rename(temporary, to: path)
    try syncDirectory(FilePaths.directory(of: path))
  }

  /// Creates or replaces a file and syncs its bytes; its name is durable only after ``syncDirectory(_:)``.
  ///
  /// - Throws: ``StreamsError``.
  public func writeAndSync(_ bytes: [UInt8], to path: String) throws { try writeAndSync(to: path) { try $0(bytes) } }

  /// Replaces a file by way of the name `path` + ".new": others see the old bytes or the new ones. Nothing is durable on
  /// return.
  ///
  /// - Throws: ``StreamsError``.
  public func replace(_ path: String, with bytes: [UInt8]) throws {
    let file = try open(path + ".new", .create)
    defer { file.close() }
    try bytes.withUnsafeBytes { try file.write($0, at: 0) }
    try rename(path + ".new", to: path)
  }

  private func writeAndSync(to path: String, _ body: (_ take: ([UInt8]) throws -> Void) throws -> Void) throws {
    let file = try open(path, .create)
    defer { file.close() }
    var end: UInt64 = 0
    try body { piece in
      try piece.withUnsafeBytes { try file.write($0, at: end) }
      end += UInt64(piece.count)
    }
    try file.sync()
  }

  private static func tooLarge(_ path: String, _ cap: Int) -> StreamsError {
    StreamsError(.tooLarge, "the file is larger than the \(cap) bytes that it may have", path: path)
  }
}

/// Paths as text: no file system is asked.
public enum FilePaths {
  /// The part before the last slash, "." without one, "/" at the root.
  public static func directory(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// The part after the last slash.
  public static func name(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return path }
    return String(path[path.index(after: slash)...])
  }

  /// A name inside a directory.
  public static func join(_ directory: String, _ name: String) -> String {
    directory.hasSuffix("/") ? directory + name : directory + "/" + name
  }
}
