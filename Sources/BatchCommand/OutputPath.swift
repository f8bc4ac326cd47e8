import Batch
import Foundation
import Glibc
import Streams

/// A file that a command is asked to write beside its result. It must be no store, no part of one, and nothing that the
/// command reads: whatever stood there would be gone.
struct OutputPath {
  private static let companions = ["-wal", "-shm", "-journal"]

  let option: String
  let path: String

  init(_ option: String, _ path: String) { (self.option, self.path) = (option, path) }

  /// Throws `refused` if the path is one of the stores of the command, belongs to one, or is any other SQLite database
  /// or its log; and if the command reads it. `words`: what the command reads beside what its line names.
  func check(_ stores: [String] = [], reading words: [String] = []) throws {
    let target = Self.resolved(path)
    let status = try LocalFileSystem().status(path)
    for store in stores {
      for name in [""] + Self.companions {
        guard Self.resolved(store) + name != target else { throw refusal(name.isEmpty ? "is" : "belongs to", store) }
        guard let status, let other = try LocalFileSystem().status(store + name) else { continue }
        guard (status.device, status.inode) != (other.device, other.inode) else {
          throw refusal(name.isEmpty ? "leads to" : "leads to a file of", store)
        }
      }
    }
    try checkCompanion()
    if status?.isRegularFile == true, let kind = Self.kind(path) { throw refusal("is \(kind)", nil) }
    guard let input = InputPaths(option, and: words).first(at: target, status) else { return }
    throw BatchError(
      .refused, "\(option) would write over what the command reads: \(input)", hint: "Choose another path",
      effect: .nothingWritten, path: path)
  }

  /// Refuses the names that SQLite gives to files beside a database which is there.
  func checkCompanion() throws {
    let target = Self.resolved(path)
    for name in Self.companions where target.hasSuffix(name) {
      let store = String(target.dropLast(name.count))
      guard Self.kind(store) == nil else { throw refusal("belongs to", store) }
    }
  }

  private func refusal(_ what: String, _ store: String?) -> BatchError {
    BatchError(
      .refused, "\(option) would write over a store: the path \(what)\(store.map { " the store \($0)" } ?? "")",
      hint: "Choose another path", effect: .nothingWritten, path: path)
  }

  /// What a file is by its first bytes; nil for what may be written over.
  private static func kind(_ path: String) -> String? {
    guard let status = try? LocalFileSystem().status(path), status.isRegularFile,
      let file = try? LocalFileSystem().open(path, .read)
    else { return nil }
    defer { file.close() }
    var head = [UInt8](repeating: 0, count: 16)
    let count = (try? head.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }) ?? 0
    let bytes = head[..<count]
    if bytes.elementsEqual("SQLite format 3\0".utf8) { return "an SQLite database" }
    if bytes.starts(with: [0x37, 0x7f, 0x06]), count > 3, head[3] & ~1 == 0x82 {
      return "the log of an SQLite database"
    }
    let journal: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
    return bytes.starts(with: journal) ? "the rollback journal of an SQLite database" : nil
  }

  /// The path without links; of a file that is not there yet, that of its folder and its name.
  static func resolved(_ path: String, depth: Int = 0) -> String {
    if let whole = realpath(path, nil) {
      defer { free(whole) }
      return String(cString: whole)
    }
    if depth < 8, let next = try? FileManager.default.destinationOfSymbolicLink(atPath: path) {
      return resolved(
        next.hasPrefix("/") ? next : FilePaths.join(FilePaths.directory(of: path), next), depth: depth + 1)
    }
    guard let folder = realpath(FilePaths.directory(of: path), nil) else { return path }
    defer { free(folder) }
    return FilePaths.join(String(cString: folder), FilePaths.name(of: path))
  }
}
