import Batch
import Foundation

/// A command for some stores of a list, ready to paste.
struct ListAdvice {
  /// Options that a message may add to a command, and that are not the store's own, with the number of their values:
  /// what follows them may be the store.
  private static let added = [
    "--accept-loss": 0, "--drop": 1000, "--restart": 0, "--max-rejects": 1, "--memory": 1, "--allow-cloudkit": 0,
    "--from-tables": 0, "--take-over": 0, "--bundle": 1, "--by-identifier": 0, "--force": 0, "--all": 0,
  ]
  /// Commands that take a list.
  private static let listed: Set = ["plan", "migrate", "resume", "status", "report", "clean", "rollback"]

  private let list: Manifest
  private let words: ListWords

  init(_ list: Manifest, _ words: ListWords) { (self.list, self.words) = (list, words) }

  /// The command that leads on; nil if there is nothing to do, or nobody knows.
  func command(_ group: ListSummary.Group, first: ListResult) -> String? {
    guard group.tone == .failed || group.tone == .waiting, !first.needsOutput else { return nil }
    guard let kept = first.kept else { return command(group, next: first.next, by: words) }
    return kept.words.flatMap { command(group, next: first.next, by: $0, like: kept) }
  }

  /// `kept`: whose words they are, if they were not typed here and now.
  private func command(
    _ group: ListSummary.Group, next advised: [String]?, by words: ListWords, like kept: KeptResult? = nil
  ) -> String? {
    let next = advised?.first.flatMap { ShellLine($0).whole }?.dropFirst().map { $0 } ?? []
    // Who is busy with a store ends by himself.
    guard let verb = next.first, group.exitCode != ExitCodes.leaseHeld else {
      return ["status", "report"].contains(words.verb[0]) ? nil : line(words.again(), group.stores, like: kept)
    }
    let more = StoreCommandWords.groups(next).compactMap { group in
      Self.added[group[0]].map { Array(group.prefix($0 + 1)) }
    }
    if [verb] == words.verb || verb == "resume" && words.verb == ["migrate"] {
      return line(words.again(more), group.stores, like: kept)
    }
    if verb == "migrate" {
      // A run that is started over has all its options in the command.
      let options = StoreCommandWords.groups(next).filter { $0[0] != "--output" }
      return line([verb] + options.flatMap { $0 }, group.stores, like: kept)
    }
    guard Self.listed.contains(verb) else { return advised?.first }
    return line([verb] + (words.jobs + more).flatMap { $0 }, group.stores, like: kept)
  }

  /// The command on the lines of these stores alone. Another program may lack the policies, and another folder has
  /// other files.
  private func line(_ command: [String], _ stores: [Int], like kept: KeptResult?) -> String? {
    let isElsewhere = kept.map { $0.folder != FileManager.default.currentDirectoryPath } ?? false
    let path = isElsewhere ? URL(fileURLWithPath: list.path).path : list.path
    let change = isElsewhere ? ShellWords.line(["cd", kept?.folder ?? ""]) + " && " : ""
    let program = kept?.program ?? ProgramName.current
    func named(_ path: String) -> String {
      ShellWords.line([program, command[0], "--manifest", path] + command.dropFirst())
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
