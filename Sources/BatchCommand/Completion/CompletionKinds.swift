import ArgumentParser
import Batch
import Foundation

/// What values of arguments are completed with.
extension CompletionKind {
  static var store: CompletionKind { .file() }
  static var models: CompletionKind { .file(extensions: LineContents.modelExtensions) }
  static var mappings: CompletionKind { .file(extensions: LineContents.mappingExtensions) }
  static var documents: CompletionKind { .file(extensions: ["yaml", "yml", "json"]) }

  static var versions: CompletionKind { .custom { words, current, _ in LineContents(words, current: current).versions } }

  /// `A,B,C`.
  static var versionList: CompletionKind {
    .custom { words, current, typed in
      let kept = typed.lastIndex(of: ",").map { String(typed[...$0]) } ?? ""
      let given = Set(kept.split(separator: ",").map(String.init))
      return LineContents(words, current: current).versions.filter { !given.contains($0) }.map { kept + $0 }
    }
  }

  static var entities: CompletionKind { .custom { words, current, _ in LineContents(words, current: current).entities } }

  /// `Book` or `Book.title`.
  static var droppable: CompletionKind {
    .custom { words, current, typed in LineContents(words, current: current).properties(typed) }
  }

  static var parts: CompletionKind { .custom { words, current, _ in LineContents(words, current: current).parts } }

  /// `MODEL`, `MODEL:VERSION`, or a store.
  static var side: CompletionKind {
    .custom { _, _, typed in
      guard let colon = typed.lastIndex(of: ":") else { return PathCandidates(typed, extensions: []).paths }
      let model = String(typed[..<colon])
      return LineContents(["--models", model], current: -1).versions.map { "\(model):\($0)" }
    }
  }
}
