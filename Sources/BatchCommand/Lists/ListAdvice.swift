import Batch
import Foundation

/// A command for some stores of a list, ready to paste.
struct ListAdvice {
  /// The line, and whether it would end as the last one did, as long as nothing is corrected.
  struct Command {
    var line: String
    var isToCorrect = false
  }

  /// Options that a message may add to a command, and that are not the store's own, with the number of their values:
  /// what follows them may be the store.
  private static let added = [
    "--accept-loss": 0, "--drop": 1000, "--restart": 0, "--max-rejects": 1, "--reject-values": 0, "--memory": 1,
    "--allow-cloudkit": 0, "--from-tables": 0, "--take-over": 0, "--bundle": 1, "--by-identifier": 0, "--force": 0,
    "--all": 0, "--versions": 1, "--to": 1, "--history": 1, "--mappings": 1000,
  ]
  /// Ends of a run that come again if it is started over as it was.
  private static let comeAgain: Set = [1, ExitCodes.tooManyRejects, ExitCodes.mismatch]
  /// Commands that take a list.
  private static let listed: Set = ["plan", "migrate", "resume", "status", "report", "clean", "rollback"]

  private let list: Manifest
  private let words: ListWords

  init(_ list: Manifest, _ words: ListWords) { (self.list, self.words) = (list, words) }

  /// The command that leads on; nil if there is nothing to do, or nobody knows.
  func command(_ group: ListSummary.Group, first: ListResult) -> Command? {
    guard group.tone == .failed || group.tone == .waiting, !first.needsOutput else { return nil }
    guard let kept = first.kept else { return command(group, next: first.next, by: words) }
    return kept.words.flatMap { command(group, next: first.next, by: $0, like: kept) }
  }

  /// `kept`: whose words they are, if they were not typed here and now.
  private func command(
    _ group: ListSummary.Group, next advised: [String]?, by words: ListWords, like kept: KeptResult? = nil
  ) -> Command? {
    let whole = advised?.first.flatMap { ShellLine($0).whole } ?? []
    let next = Array(whole.dropFirst())
    let program = kept?.program ?? whole.first ?? ProgramName.current
    func made(_ words: [String], isToCorrect: Bool = false) -> Command? {
      // Another program may do what this one cannot.
      let comesAgain = isToCorrect && group.tone == .failed && (kept != nil || program == ProgramName.current)
      return line(words, group.stores, by: program, in: kept?.folder).map { Command(line: $0, isToCorrect: comesAgain) }
    }
    // Who is busy with a store ends by himself.
    guard let verb = next.first, group.exitCode != ExitCodes.leaseHeld else {
      let isLook = ["status", "report"].contains(words.verb[0])
      return isLook ? nil : made(words.again(), isToCorrect: next.isEmpty)
    }
    let more = StoreCommandWords.groups(next).compactMap { group in
      Self.added[group[0]].map { Array(group.prefix($0 + 1)) }
    }
    let isToCorrect = more.contains(["--restart"]) && Self.comeAgain.contains(group.exitCode)
    if [verb] == words.verb || verb == "resume" && words.verb == ["migrate"] {
      let new = more.filter { !words.says($0, in: kept?.folder) }
      return made(words.again(new), isToCorrect: isToCorrect || new.isEmpty)
    }
    if verb == "migrate" {
      // A run that is started over has all its options in the command.
      let options = StoreCommandWords.groups(next).filter { $0[0] != "--output" }
      return made([verb] + options.flatMap { $0 }, isToCorrect: isToCorrect)
    }
    guard Self.listed.contains(verb) else { return advised?.first.map { Command(line: $0) } }
    return made([verb] + (words.jobs + more).flatMap { $0 })
  }

  /// The command on the lines of these stores alone. Another program may lack the policies, and another folder has
  /// other files.
  private func line(_ command: [String], _ stores: [Int], by program: String, in folder: String?) -> String? {
    let other = folder == FileManager.default.currentDirectoryPath ? nil : folder
    let path = other == nil ? list.path : URL(fileURLWithPath: list.path).path
    let change = other.map { ShellWords.line(["cd", $0]) + " && " } ?? ""
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
