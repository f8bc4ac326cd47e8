import Codecs
import Foundation
import RunSupport
import Streams

/// The files of an import.
enum ImportFiles {
  private static let suffixes = [".jsonl", ".ndjson", ".csv"]

  /// Files as they are named, and those of folders in the order of their names; and what else is in those folders,
  /// except for hidden files. Throws ``BatchError``, `refused` for a file that is given twice or is of another kind.
  static func all(_ paths: [String], _ fileSystem: any FileSystem) throws -> (files: [String], others: [String]) {
    let (files, others) = try named(paths, fileSystem)
    guard !files.isEmpty else {
      throw BatchError(
        .refused, "there is nothing to import",
        hint: "Name files that end with .jsonl, .ndjson or .csv, or a folder of them",
        effect: .nothingWritten, path: paths.first)
    }
    if let (file, first) = try repeated(files, fileSystem) {
      throw BatchError(
        .refused, "the file is given twice" + (file == first ? "" : ": it is \(first) as well"),
        hint: "Name it once, or its folder alone", effect: .nothingWritten, path: file)
    }
    for path in files { try ImportFileKind.refuseOthers(path, fileSystem) }
    return (files, others)
  }

  private static func named(
    _ paths: [String], _ fileSystem: any FileSystem
  ) throws -> (files: [String], others: [String]) {
    var (files, others): ([String], [String]) = ([], [])
    for path in paths {
      guard let status = try fileSystem.status(path) else { throw missing(path) }
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
    return (files, others)
  }

  private static func missing(_ path: String) -> BatchError {
    path == "-" ? ImportFileKind.noFile(path) : NearName.noSuchFile(path)
  }

  /// The first file that is one of those before it by device and inode, and that one.
  private static func repeated(
    _ files: [String], _ fileSystem: any FileSystem
  ) throws -> (file: String, first: String)? {
    var seen: [[UInt64]: String] = [:]
    for path in files {
      // What is on no disk has neither.
      guard let status = try fileSystem.status(path), status.inode != 0 else { continue }
      if let first = seen.updateValue(path, forKey: [status.device, status.inode]) { return (path, first) }
    }
    return nil
  }

  /// The path without dots.
  static func whole(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }

  static func isCSV(_ path: String) -> Bool { path.lowercased().hasSuffix(".csv") }

  /// The name of a file without folder and extension: an entity's, perhaps.
  static func stem(_ path: String) -> String {
    let name = FilePaths.name(of: path)
    return name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name
  }

  /// The digest of a file's contents.
  static func digest(_ path: String, _ fileSystem: any FileSystem) throws -> [UInt8] {
    var sum = ImportDigest()
    try FileCopy.forEachPiece(of: path, fileSystem) { bytes, _ in sum.add(bytes) }
    return sum.value
  }

  /// The digest of its first bytes; nil if it has fewer.
  static func digest(_ path: String, _ fileSystem: any FileSystem, upTo count: UInt64) throws -> [UInt8]? {
    var (sum, read) = (ImportDigest(), UInt64(0))
    try FileCopy.forEachPiece(of: path, fileSystem, upTo: count) { bytes, _ in
      sum.add(bytes)
      read += UInt64(bytes.count)
    }
    return read == count ? sum.value : nil
  }

  /// A UUID of version 8 that follows from the digests of the files' contents.
  static func uuid(_ digests: [[UInt8]]) -> String {
    var bytes = Array(SHA256.hash(digests.joined()).prefix(16))
    bytes[6] = bytes[6] & 0x0F | 0x80
    bytes[8] = bytes[8] & 0x3F | 0x80
    let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }
    return digits.enumerated().map { [4, 6, 8, 10].contains($0) ? "-" + $1 : $1 }.joined()
  }

  /// Whether two files have the same bytes.
  static func areEqual(_ first: String, to second: String, _ fileSystem: any FileSystem) throws -> Bool {
    guard try fileSystem.status(first)?.size == fileSystem.status(second)?.size else { return false }
    let other = try fileSystem.open(second, .read)
    defer { other.close() }
    var (buffer, isEqual) = ([UInt8](repeating: 0, count: FileCopy.pieceBytes), true)
    try FileCopy.forEachPiece(of: first, fileSystem) { bytes, place in
      guard isEqual else { return }
      let count = try buffer.withUnsafeMutableBytes { try other.read(into: $0, at: place) }
      isEqual = buffer[..<count].elementsEqual(bytes)
    }
    return isEqual
  }
}
