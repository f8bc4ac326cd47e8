import Batch
import Foundation
import Streams

/// A list of stores: one a line, and its output after a tab. Empty lines and those that begin with # mean nothing.
struct Manifest: Sendable {
  struct Entry: Equatable, Sendable {
    var store: String
    var output: String?
    /// The line in the list, from 1.
    var line = 1

    /// The path that has the result.
    var target: String { output ?? store }
  }

  /// The path without links, as far as it is there.
  static func whole(_ path: String) -> String { URL(fileURLWithPath: path).resolvingSymlinksInPath().path }

  /// What stands for standard input, in the place of a path.
  static let standardInput = "-"
  private static let mostBytes = 16 << 20

  let path: String
  var entries: [Entry]

  init(path: String) throws {
    guard path != Self.standardInput else {
      try self.init(bytes: try Self.standardInputBytes(), path: path)
      return
    }
    guard try LocalFileSystem().status(path) != nil else {
      var error = NearName.noSuchFile(path, "list")
      error.effect = .nothingWritten
      throw error
    }
    try self.init(bytes: try LocalFileSystem().readAll(path, cap: Self.mostBytes), path: path)
  }

  /// Throws `refused` if a store or an output comes twice: two runs would be in each other's way.
  init(bytes: [UInt8], path: String) throws {
    self.path = path
    entries = try Self.lines(bytes, path).enumerated().compactMap { number, line in
      guard !line.hasPrefix("#"), !line.allSatisfy(\.isWhitespace) else { return nil }
      let parts = line.split(separator: "\t", omittingEmptySubsequences: true).map(String.init)
      guard parts.count <= 2 else { throw Self.tooMany(parts, line: number + 1, of: path) }
      return Entry(store: parts.first ?? "", output: parts.count > 1 ? parts[1] : nil, line: number + 1)
    }
    try refuseTwice()
    guard !entries.isEmpty else {
      throw BatchError(
        .refused, "the list names no store", hint: "Write one a line", effect: .nothingWritten, path: path)
    }
  }
}

extension Manifest {
  private static func tooMany(_ parts: [String], line: Int, of path: String) -> BatchError {
    BatchError(
      .refused, "line \(line) of the list has more than a store and its output: \(parts[2]) comes after a second tab",
      hint: "Write one store a line, and its output after a tab", effect: .nothingWritten, path: path)
  }

  /// A path may be written in several ways, and lead over symbolic links; a file may have several names.
  private func refuseTwice() throws {
    var seen: [String: Entry] = [:]
    for entry in entries {
      let path = (try? JobDirectory.resolve(entry.target)) ?? Self.whole(entry.target)
      let file = ((try? LocalFileSystem().status(path)) ?? nil).map { "\($0.device) \($0.inode)" }
      let known = [path, file].compactMap { $0 }.compactMap { seen.updateValue(entry, forKey: $0) }
      guard let first = known.first else { continue }
      let (one, other) = (first.target, entry.target)
      let names = one == other ? "\(one) comes" : "\(one) and \(other) are one file, which comes"
      throw BatchError(
        .refused, "\(names) twice in the list", hint: "Name it once: lines \(first.line) and \(entry.line) have it",
        effect: .nothingWritten, path: self.path)
    }
  }

  private static func standardInputBytes() throws -> [UInt8] {
    let bytes = try FileHandle.standardInput.read(upToCount: mostBytes + 1) ?? Data()
    guard bytes.count <= mostBytes else {
      throw BatchError(
        .refused, "the list on standard input is longer than 16 MiB", hint: "Give it in parts", effect: .nothingWritten)
    }
    return [UInt8](bytes)
  }

  /// Lines end with LF or CRLF, and with nothing else, as names may have all else in them. Editors of some systems put
  /// a mark at the beginning.
  private static func lines(_ bytes: [UInt8], _ path: String) throws -> [String] {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let lines = bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes[...]
    return try lines.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated().map { number, line in
      let name = line.last == 0x0D ? line.dropLast() : line
      guard let text = String(validating: name, as: UTF8.self) else {
        throw BatchError(
          .refused, "line \(number + 1) of the list is not UTF-8: \(UndecodableName.escaped(name))",
          hint: "Save the list as UTF-8, or rename the file that it names", effect: .nothingWritten, path: path)
      }
      return text
    }
  }
}
