import Batch
import Foundation
import Streams

/// A list of stores: one a line, its output behind a tab. Empty lines and those that begin with # mean nothing.
struct Manifest {
  struct Entry: Equatable {
    var store: String
    var output: String?
  }

  var entries: [Entry]

  init(path: String) throws {
    let bytes = try LocalFileSystem().readAll(path, cap: 16 << 20)
    try self.init(text: String(decoding: bytes, as: UTF8.self), path: path)
  }

  /// Throws `refused` where a store or an output comes twice: two runs would be in each other's way.
  init(text: String, path: String) throws {
    entries = text.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("#") && !$0.allSatisfy(\.isWhitespace) }.map {
      line in
      let parts = line.split(separator: "\t", omittingEmptySubsequences: true).map(String.init)
      return Entry(store: parts.first ?? "", output: parts.count > 1 ? parts[1] : nil)
    }
    var seen: Set<String> = []
    for entry in entries where !seen.insert(entry.output ?? entry.store).inserted {
      throw BatchError(
        .refused, "\(entry.output ?? entry.store) comes twice in the list", hint: "Name it once; nothing was written", path: path)
    }
    guard !entries.isEmpty else {
      throw BatchError(.refused, "the list names no store", hint: "Write one a line; nothing was written", path: path)
    }
  }
}

/// What became of one store.
struct ManifestResult: Encodable {
  var store: String
  var output: String?
  /// As the command for this store alone would have ended; 75 also for one that was not begun.
  var exitCode: Int32
  /// Was an interrupted run gone on with?
  var isResumed: Bool
  var seconds: Double
  /// What the command said of the error.
  var error: String?
  /// The summary, as `migrate --json` prints it.
  var summary: RunSummary?

  private enum CodingKeys: String, CodingKey { case store, output, exitCode, isResumed = "resumed", seconds, error, summary }
}
