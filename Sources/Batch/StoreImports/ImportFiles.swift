import Codecs
import RunSupport
import Streams

/// The files of an import.
enum ImportFiles {
  private static let pieceBytes = 1 << 20
  private static let suffixes = [".jsonl", ".ndjson", ".csv"]

  /// Files as they are named, and those of folders in the order of their names; and what else is in those folders,
  /// except for hidden files.
  static func all(_ paths: [String], _ fileSystem: any FileSystem) throws -> (files: [String], others: [String]) {
    var (files, others): ([String], [String]) = ([], [])
    for path in paths {
      guard let status = try fileSystem.status(path) else { throw NearName.noSuchFile(path) }
      guard status.isDirectory else {
        files.append(path)
        continue
      }
      for name in try fileSystem.list(path) {
        let isOne = suffixes.contains { name.lowercased().hasSuffix($0) }
        if isOne { files.append(FilePaths.join(path, name)) }
        if !isOne, !name.hasPrefix(".") { others.append(FilePaths.join(path, name)) }
      }
    }
    guard !files.isEmpty else {
      throw BatchError(
        .refused, "there is nothing to import",
        hint: "Name files that end with .jsonl, .ndjson or .csv, or a folder of them",
        effect: .nothingWritten, path: paths.first)
    }
    return (files, others)
  }

  static func isCSV(_ path: String) -> Bool { path.lowercased().hasSuffix(".csv") }

  /// The name of a file without folder and extension: an entity's, perhaps.
  static func stem(_ path: String) -> String {
    let name = FilePaths.name(of: path)
    return name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name
  }

  private static func forEachPiece(
    of path: String, _ fileSystem: any FileSystem, _ body: (UnsafeRawBufferPointer, UInt64) throws -> Void
  ) throws {
    let file = try fileSystem.open(path, .read)
    defer { file.close() }
    var (buffer, end) = ([UInt8](repeating: 0, count: pieceBytes), UInt64(0))
    while true {
      let count = try buffer.withUnsafeMutableBytes { try file.read(into: $0, at: end) }
      guard count > 0 else { return }
      try buffer.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[..<count]), end) }
      end += UInt64(count)
    }
  }

  /// A UUID of version 8 that follows from the contents of the files.
  static func uuid(_ paths: [String], _ fileSystem: any FileSystem) throws -> String {
    var sum = SHA256()
    for path in paths { try forEachPiece(of: path, fileSystem) { bytes, _ in sum.update(bytes) } }
    var bytes = Array(sum.finalize().prefix(16))
    bytes[6] = bytes[6] & 0x0F | 0x80
    bytes[8] = bytes[8] & 0x3F | 0x80
    let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }
    return digits.enumerated().map { [4, 6, 8, 10].contains($0) ? "-" + $1 : $1 }.joined()
  }

  /// Copies a file, durably. Nothing may have the target's name.
  static func copy(_ source: String, to target: String, _ fileSystem: any FileSystem) throws {
    let new = NewFile(target, working: ".import", fileSystem)
    try new.make {
      let file = try fileSystem.open(new.working, .create)
      defer { file.close() }
      try forEachPiece(of: source, fileSystem) { try file.write($0, at: $1) }
      try file.sync()
    }
  }

  /// Whether two files have the same bytes.
  static func areEqual(_ first: String, to second: String, _ fileSystem: any FileSystem) throws -> Bool {
    guard try fileSystem.status(first)?.size == fileSystem.status(second)?.size else { return false }
    let other = try fileSystem.open(second, .read)
    defer { other.close() }
    var (buffer, isEqual) = ([UInt8](repeating: 0, count: pieceBytes), true)
    try forEachPiece(of: first, fileSystem) { bytes, place in
      guard isEqual else { return }
      let count = try buffer.withUnsafeMutableBytes { try other.read(into: $0, at: place) }
      isEqual = buffer[..<count].elementsEqual(bytes)
    }
    return isEqual
  }
}
