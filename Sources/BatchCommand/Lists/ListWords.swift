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
    // So that a path that leads nowhere is told from a store without a migration.
    let isAsked = verb == ["status"] && !options.contains("--check")
    return options + (goesOn ? ["--continue"] : []) + (isAsked ? ["--check"] : [])
  }

  /// How many stores to work on at a time, which any command with a list takes.
  var jobs: [[String]] { StoreCommandWords.groups(line).filter { $0[0].prefix { $0 != "=" } == "--jobs" } }

  /// The command with other options, and without its list.
  func again(_ more: [[String]] = []) -> [String] {
    let named = Set(more.map { $0[0] })
    let kept = StoreCommandWords.groups(line).filter { group in
      let name = String(group[0].prefix { $0 != "=" })
      return name != "--manifest" && name != "--deadline" && !named.contains(name)
    }
    return verb + (kept + more).flatMap { $0 }
  }
}
