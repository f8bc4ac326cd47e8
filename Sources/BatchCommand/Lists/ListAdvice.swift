import Batch
import Foundation

/// A command for some stores of a list, ready to paste.
struct ListAdvice {
  /// Options that a message may add to a command, and that are not the store's own.
  private static let added: Set = [
    "--accept-loss", "--drop", "--restart", "--max-rejects", "--memory", "--allow-cloudkit", "--from-tables",
    "--take-over", "--bundle", "--by-identifier", "--force", "--all",
  ]
  /// Commands that take a list.
  private static let listed: Set = ["plan", "migrate", "resume", "status", "report", "clean", "rollback"]

  private let list: Manifest
  private let words: ListWords

  init(_ list: Manifest, _ words: ListWords) { (self.list, self.words) = (list, words) }

  /// The command that leads on; nil if there is nothing to do, or nobody knows.
  func command(_ group: ListSummary.Group, first: ListResult) -> String? {
    guard group.tone == .failed || group.tone == .waiting else { return nil }
    if let kept = first.kept {
      return kept.words.flatMap { command(group, next: first.next, by: $0, in: kept.folder) }
    }
    return command(group, next: first.next, by: words)
  }

  /// `folder`: where the words were typed, if it was not here.
  private func command(
    _ group: ListSummary.Group, next advised: [String]?, by words: ListWords, in folder: String? = nil
  ) -> String? {
    let next = advised?.first.flatMap { ShellLine($0).whole }?.dropFirst().map { $0 } ?? []
    guard let verb = next.first else {
      return ["status", "report"].contains(words.verb[0]) ? nil : line(words.again(), group.stores, in: folder)
    }
    let more = StoreCommandWords.groups(next).filter { Self.added.contains($0[0]) }
    if verb == "migrate" || verb == "resume", words.verb == ["migrate"], !more.contains(["--take-over"]) {
      return line(words.again(more), group.stores, in: folder)
    }
    if verb == "migrate" {
      // A run that is started over has all its options in the command.
      let options = StoreCommandWords.groups(next).filter { $0[0] != "--output" }
      return line([verb] + options.flatMap { $0 }, group.stores, in: folder)
    }
    guard Self.listed.contains(verb) else { return advised?.first }
    return line([verb] + more.flatMap { $0 }, group.stores, in: folder)
  }

  /// The command on the lines of these stores alone.
  private func line(_ command: [String], _ stores: [Int], in folder: String?) -> String? {
    let isElsewhere = folder.map { $0 != FileManager.default.currentDirectoryPath } ?? false
    let path = isElsewhere ? URL(fileURLWithPath: list.path).path : list.path
    let change = isElsewhere ? ShellWords.line(["cd", folder ?? ""]) + " && " : ""
    func named(_ path: String) -> String {
      ProgramName.command([command[0], "--manifest", path] + command.dropFirst()).line
    }
    guard stores.count < list.entries.count || list.path == Manifest.standardInput else { return change + named(path) }
    let source: String
    if list.path == Manifest.standardInput {
      let entries = stores.map { list.entries[$0] }
      guard entries.count <= 20, entries.allSatisfy({ $0.output == nil }) else { return nil }
      source = "printf '%s\\n' " + ShellWords.line(entries.map(\.store))
    } else {
      source = "sed -n '\(Self.ranges(stores.map { list.entries[$0].line }))' " + ShellWords.line([path])
    }
    return "\(change)\(source) | \(named(Manifest.standardInput))"
  }

  /// `3p;5,7p`
  static func ranges(_ lines: [Int]) -> String {
    var ranges: [ClosedRange<Int>] = []
    for line in lines.sorted() {
      if let last = ranges.last, last.upperBound + 1 == line {
        ranges[ranges.count - 1] = last.lowerBound...line
      } else {
        ranges.append(line...line)
      }
    }
    return ranges.map { $0.count == 1 ? "\($0.lowerBound)p" : "\($0.lowerBound),\($0.upperBound)p" }
      .joined(separator: ";")
  }
}
