import ArgumentParser
import Batch
import Foundation

/// What values of arguments are completed with.
extension CompletionKind {
  static var store: CompletionKind { .file() }
  static var models: CompletionKind { .file(extensions: LineContents.modelExtensions + LineContents.storeExtensions) }
  static var mappings: CompletionKind { .file(extensions: LineContents.mappingExtensions) }
  static var application: CompletionKind { .file(extensions: LineContents.archiveExtensions) }
  static var bundles: CompletionKind { names { line, _ in line.bundles } }
  static var documents: CompletionKind { .file(extensions: ["yaml", "yml", "json"]) }

  static var versions: CompletionKind { names { line, _ in line.versions } }

  /// `A,B,C`.
  static var versionList: CompletionKind {
    names { line, typed in
      let kept = typed.lastIndex(of: ",").map { String(typed[...$0]) } ?? ""
      let given = Set(kept.split(separator: ",").map(String.init))
      return line.versions.filter { !given.contains($0) }.map { kept + $0 }
    }
  }

  static var entities: CompletionKind { names { line, _ in line.entities } }

  /// `Book` or `Book.title`.
  static var droppable: CompletionKind { names { line, typed in line.properties(typed) } }

  static var parts: CompletionKind { names { line, _ in line.parts } }

  /// `MODEL`, `MODEL:VERSION`, or a store.
  static var side: CompletionKind {
    names { _, typed in
      guard let colon = typed.lastIndex(of: ":") else { return PathCandidates(typed, extensions: []).paths }
      let model = String(typed[..<colon])
      return LineContents(["--models", model], current: -1).versions.map { "\(model):\($0)" }
    }
  }

  /// Names come from files of others, and are printed one a line: only what is one line is offered.
  private static func names(_ find: @escaping @Sendable (LineContents, String) -> [String]) -> CompletionKind {
    .custom { words, current, typed in
      find(LineContents(words, current: current), typed).filter(VisibleText.isLine)
    }
  }
}
