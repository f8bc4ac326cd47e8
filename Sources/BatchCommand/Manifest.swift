import Batch
import Foundation
import Streams

/// A list of stores: one a line, and its output after a tab. Empty lines and those that begin with # mean nothing.
struct Manifest {
  struct Entry: Equatable {
    var store: String
    var output: String?
  }

  var entries: [Entry]

  init(path: String) throws {
    guard try LocalFileSystem().status(path) != nil else {
      var error = NearName.noSuchFile(path, "list")
      error.effect = .nothingWritten
      throw error
    }
    try self.init(bytes: try LocalFileSystem().readAll(path, cap: 16 << 20), path: path)
  }

  /// Throws `refused` if a store or an output comes twice: two runs would be in each other's way.
  init(bytes: [UInt8], path: String) throws {
    entries = try Self.lines(bytes, path).filter { !$0.hasPrefix("#") && !$0.allSatisfy(\.isWhitespace) }.map { line in
      let parts = line.split(separator: "\t", omittingEmptySubsequences: true).map(String.init)
      return Entry(store: parts.first ?? "", output: parts.count > 1 ? parts[1] : nil)
    }
    var seen: Set<String> = []
    for entry in entries where !seen.insert(entry.output ?? entry.store).inserted {
      throw BatchError(
        .refused, "\(entry.output ?? entry.store) comes twice in the list", hint: "Name it once",
        effect: .nothingWritten,
        path: path)
    }
    guard !entries.isEmpty else {
      throw BatchError(
        .refused, "the list names no store", hint: "Write one a line", effect: .nothingWritten, path: path)
    }
  }
}

extension Manifest {
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

/// The outcome of one store.
struct ManifestResult: Encodable {
  var store: String
  var output: String?
  /// The exit code of the command for this store alone; 75 also if it was not begun.
  var exitCode: Int32
  /// Whether an interrupted run was resumed.
  var isResumed: Bool
  var seconds: Double
  /// What the command printed about the error.
  var error: String?
  /// What the failure has left behind, and the commands that lead on, as `migrate --json` prints them.
  var effect: String?
  var next: [String]?
  /// The summary, as `migrate --json` prints it.
  var summary: RunSummary?

  private enum CodingKeys: String, CodingKey {
    case store, output, exitCode, isResumed = "resumed", seconds, error, effect, next, summary
  }
}
