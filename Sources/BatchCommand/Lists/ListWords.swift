import Foundation

/// The words of a command with a list: what each of its stores is given, and how the whole is said again.
struct ListWords: Sendable {
  /// The command.
  let verb: [String]
  /// All that was typed behind it.
  let line: [String]

  init(verb: String, line: [String]) {
    self.verb = [verb]
    self.line = Array(line.drop { $0 != verb }.dropFirst())
  }

  /// What each store's command is given. What was interrupted is continued, unless it is to start
  /// over.
  var options: [String] {
    let options = StoreCommandWords.options(line, resuming: false)
    let goesOn = verb == ["migrate"] && !options.contains("--restart") && !options.contains("--continue")
    return options + (goesOn ? ["--continue"] : [])
  }

  /// How many stores to work on at a time, which any command with a list takes.
  var jobs: [[String]] { StoreCommandWords.groups(line).filter { Self.name($0) == "--jobs" } }

  /// The command with other options, and without its list.
  func again(_ more: [[String]] = []) -> [String] {
    var named = Set(more.map { $0[0] })
    if named.contains("--versions") { named.insert("--by-identifier") }
    let kept = StoreCommandWords.groups(line).filter { group in
      let name = Self.name(group)
      return name != "--manifest" && name != "--deadline" && !named.contains(name)
    }
    return verb + (kept + more).flatMap { $0 }
  }

  /// Whether an option that a message names was typed just so. Messages have whole paths; `folder` is where it was
  /// typed, nil for here.
  func says(_ option: [String], in folder: String?) -> Bool {
    let typed = StoreCommandWords.groups(line).filter { Self.name($0) == option[0] }
    let values = typed.flatMap { group in
      (group[0].contains("=") ? [String(group[0].drop { $0 != "=" }.dropFirst())] : []) + group.dropFirst()
    }
    let base = URL(fileURLWithPath: folder ?? FileManager.default.currentDirectoryPath, isDirectory: true)
    func whole(_ value: String) -> String { URL(fileURLWithPath: value, relativeTo: base).standardizedFileURL.path }
    return !typed.isEmpty && values.map(whole) == option.dropFirst().map(whole)
  }

  /// Options of `resume` that mean the same in `migrate`, wherever they were typed.
  private static let shared: Set = [
    "--jobs", "--memory", "--max-rejects", "--reject-values", "--drop", "--accept-loss", "--history", "--throttle",
    "--nice", "--workers",
  ]

  /// Consents: one more takes none back.
  private static let consents: Set = ["--drop", "--accept-loss"]

  /// What was typed behind the command, with what a `resume` of the same list has chosen since.
  func adding(_ resume: ListWords) -> [String] {
    let more = StoreCommandWords.groups(resume.line).filter { Self.shared.contains(Self.name($0)) }
    let named = Set(more.map(Self.name)).subtracting(Self.consents)
    let kept = StoreCommandWords.groups(line).filter { !named.contains(Self.name($0)) }
    return (kept + more).flatMap { $0 }
  }

  private static func name(_ group: [String]) -> String { String(group[0].prefix { $0 != "=" }) }
}
