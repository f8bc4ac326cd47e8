import RunSupport
import Streams

/// What a file is that somebody took for JSON lines or CSV, by its first bytes.
enum ImportFileKind {
  case store, parquet, gzip, zip

  private static let length = 16

  /// Throws ``BatchError`` for what is no regular file, or a file of another kind.
  static func refuseOthers(_ path: String, _ fileSystem: any FileSystem) throws {
    guard try fileSystem.status(path)?.isRegularFile == true else { throw noFile(path) }
    guard let kind = try of(path, fileSystem) else { return }
    let (what, hint) = kind.explanation(of: path)
    throw BatchError(
      .refused, "this is \(what), and import reads JSON lines and CSV", hint: hint, effect: .nothingWritten, path: path)
  }

  /// The error of standard input, or of another path where no file is.
  static func noFile(_ path: String) -> BatchError {
    BatchError(
      .noSuchFile,
      "this is no regular file; import takes no pipe and no standard input, as one that goes on reads its files again",
      hint: "Write the lines to a file, and name that", effect: .nothingWritten, path: path)
  }

  private static func of(_ path: String, _ fileSystem: any FileSystem) throws -> ImportFileKind? {
    let file = try fileSystem.open(path, .read)
    defer { file.close() }
    let head = try bytes(of: file, at: 0)
    if head.starts(with: "SQLite format 3\0".utf8) { return .store }
    if head.starts(with: [0x1F, 0x8B]) { return .gzip }
    if head.starts(with: [0x50, 0x4B, 3, 4]) { return .zip }
    // A column of CSV may have that name.
    guard head.starts(with: "PAR1".utf8), case let size = try file.size(), size >= 8 else { return nil }
    return try bytes(of: file, at: size - 4).elementsEqual("PAR1".utf8) ? .parquet : nil
  }

  private static func bytes(of file: any File, at place: UInt64) throws -> ArraySlice<UInt8> {
    var bytes = [UInt8](repeating: 0, count: length)
    let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: place) }
    return bytes[..<count]
  }

  private func explanation(of path: String) -> (what: String, hint: String) {
    switch self {
    case .store:
      let command = ProgramName.command("export", path, "--to-many", "--dates", "seconds", "--output", path + ".jsonl")
      return ("an SQLite file", "\(command) writes the objects of a store so; import that")
    case .parquet: return ("a Parquet file", "Have the program that made it write one of these")
    case .gzip:
      let file = ShellWords.quoted(path)
      let line =
        path.hasSuffix(".gz") ? "gunzip --keep \(file)" : "gzip -dc < \(file) > \(ShellWords.quoted(path + ".jsonl"))"
      return ("compressed by gzip", "`\(line)` unpacks it; import that")
    case .zip: return ("a ZIP archive", "`\(ShellWords.line(["unzip", path]))` unpacks it; import its files")
    }
  }
}
