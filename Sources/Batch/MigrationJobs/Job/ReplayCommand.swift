import Migrations
import RunSupport

/// Commands that ask once more for what a run was asked for. The options come from a run's files: those that name
/// programs to run, or files to write, are not taken from there.
package enum ReplayCommand {
  /// Options that say what is migrated to what, and how.
  private static let options: Set<String> = [
    "--models", "--app", "--bundle", "--mappings", "--to", "--versions", "--stages", "--by-identifier", "--identity",
    "--from-tables", "--no-fuse", "--only", "--skip",
    "--history", "--allow-cloudkit", "--drop", "--accept-loss", "--validate", "--path", "--swift-types", "--define",
  ]
  /// Options that only the same run needs again.
  private static let ownOptions: Set<String> = [
    "--memory", "--checkpoint-every", "--verify", "--index-builder", "--keep-backups", "--max-rejects",
    "--reject-values", "--postpone-cut-over",
  ]

  /// The command that migrates the old store once more, to a path of its own: how rejected objects are replayed after a
  /// fix. One line for a POSIX shell. `arguments` are options of `migrate`, `store` is what the old store is called
  /// now. Nil if another option is among them.
  static func line(_ arguments: [String], store: String, destination: String) -> String? {
    guard store.hasPrefix("/"), hasOnly(options.union(ownOptions), arguments) else { return nil }
    let output = ["--output", destination + ".replayed"]
    return ShellWords.line([ProgramName.current, "migrate", store] + without(ownOptions, arguments) + output)
  }

  /// The words after the program's name that ask for a run again: with `restarts` one that gives up the run that is
  /// there. Nil if another option is among the arguments, or none at all.
  package static func words(_ arguments: [String], source: String, output: String?, restarts: Bool) -> [String]? {
    guard source.hasPrefix("/"), !arguments.isEmpty, hasOnly(options.union(ownOptions), arguments) else { return nil }
    return ["migrate", source] + arguments + (output.map { ["--output", $0] } ?? []) + (restarts ? ["--restart"] : [])
  }

  /// The words that ask for a migration over these versions in their order. Nil as above, and if the name of a version
  /// does not fit into the list.
  static func words(_ arguments: [String], source: String, output: String?, order: [String]) -> [String]? {
    guard order.allSatisfy({ !$0.contains(",") }) else { return nil }
    let others = without(["--versions", "--by-identifier"], arguments)
    return words(others, source: source, output: output, restarts: false).map {
      $0 + ["--versions", order.joined(separator: ",")]
    }
  }

  /// The words that ask for a migration with these mapping models. Nil as above.
  static func words(_ arguments: [String], source: String, output: String?, mappings: [String]) -> [String]? {
    words(without(["--mappings"], arguments), source: source, output: output, restarts: false).map {
      $0 + ["--mappings"] + mappings
    }
  }

  /// The arguments with another limit of rejects.
  static func arguments(_ arguments: [String], with limit: RejectLimit) -> [String] {
    without(["--max-rejects", "--reject-values"], arguments) + limit.arguments
  }

  private static func hasOnly(_ allowed: Set<String>, _ arguments: [String]) -> Bool {
    arguments.allSatisfy { !$0.hasPrefix("-") || allowed.contains($0) }
  }

  /// The arguments without some options and their values.
  private static func without(_ options: Set<String>, _ arguments: [String]) -> [String] {
    var (kept, isLeftOut) = ([String](), false)
    for argument in arguments {
      if argument.hasPrefix("-") { isLeftOut = options.contains(argument) }
      if !isLeftOut { kept.append(argument) }
    }
    return kept
  }
}
