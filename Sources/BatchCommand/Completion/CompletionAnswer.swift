import ArgumentParser
import Batch
import Foundation
import Glibc
import Streams

/// What the program prints for the shells: a completion script, or what it offers for a command line.
enum CompletionAnswer {
  /// Before the name of a shell and a command line up to the cursor.
  static let request = "---complete-line"
  /// Seconds after which nothing is offered: a model may be huge, a disk far away.
  private static let mostSeconds: UInt32 = 2

  /// The answer to a program's arguments; nil if they ask for something else.
  static func text(_ arguments: [String]) -> String? {
    if arguments.first == request, arguments.count == 3 {
      return CompletionShell(rawValue: arguments[1]).map { offer(arguments[2], $0) } ?? ""
    }
    guard arguments.first == "--generate-completion-script", arguments.count < 3 else { return nil }
    let shell = arguments.count == 2 ? CompletionShell(rawValue: arguments[1]) : CompletionShell.autodetected()
    return shell.map { CompletionScript.text($0, Program.name) }
  }

  /// A line for each candidate. Nothing goes wrong aloud: this is printed while somebody types.
  private static func offer(_ line: String, _ shell: CompletionShell) -> String {
    signal(SIGALRM) { _ in _exit(0) }
    alarm(mostSeconds)
    guard let root = try? CommandShape.root() else { return "" }
    let found = LineCompletion(ShellLine(line), of: root)
    switch found.offer {
    case .words(let words):
      return lines("words", candidates: words.map { text($0, found: found, shell: shell) }, shell: shell)
    // zsh completes paths itself, in its user's style.
    case .paths(let extensions) where shell == .zsh:
      return lines(extensions == nil ? "folders" : "files", candidates: extensions ?? [], shell: shell)
    case .paths(let extensions):
      let paths = PathCandidates(found.typed, extensions: extensions).paths
      return lines(
        "paths", candidates: paths.map { text(LineCompletion.Word(text: $0), found: found, shell: shell) }, shell: shell
      )
    }
  }

  private static func lines(_ kind: String, candidates: [String?], shell: CompletionShell) -> String {
    ((shell == .zsh ? [kind] : []) + candidates.compactMap(\.self)).map { $0 + "\n" }.joined()
  }

  /// Names of files are other people's: only what is one line is offered.
  private static func text(_ word: LineCompletion.Word, found: LineCompletion, shell: CompletionShell) -> String? {
    guard VisibleText.isLine(word.text) else { return nil }
    let meaning = word.meaning.map { $0.split(separator: "\n").first.map(String.init) ?? "" }
    switch shell {
    case .zsh:
      let name = word.text.replacing(["\\": "\\\\", ":": "\\:"])
      return name + (meaning.map { ":" + $0 } ?? "")
    case .fish: return found.prefix + word.text + (meaning.map { "\t" + $0 } ?? "")
    default: return bash(word.text, found)
    }
  }

  /// bash takes a word without quotation marks apart at : and =, and replaces what is after the last of them. It does
  /// not quote what it would expand.
  private static func bash(_ text: String, _ found: LineCompletion) -> String? {
    guard text.hasPrefix(found.typed), !text.contains(where: "$`".contains) else { return nil }
    guard !found.isQuoted else { return text }
    let kept = found.typed.lastIndex { ":=".contains($0) }.map {
      found.typed.distance(from: found.typed.startIndex, to: $0) + 1
    }
    return String(text.dropFirst(kept ?? 0))
  }
}
