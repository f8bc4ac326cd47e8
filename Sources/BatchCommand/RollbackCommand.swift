import ArgumentParser
import Batch

struct RollbackCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "rollback", abstract: "Puts back the store that a migration replaced.",
    discussion: """
      The newest backup gets the store's name again, with its external data. The present store is set aside as \
      STORE.rolled-back-TIME. A rollback is refused if the present store was written to since its migration.
      """)

  @Argument(help: "The store that was migrated in place.", completion: .store) var store: String
  @Flag(name: .long, help: "Roll back even if the store was written to since its migration.") var force = false
  @Flag(name: .long, help: .json) var json = false

  var changed: String? { store }

  func run() throws {
    let report = try MigrationJob(policies: Program.policies).rollback(store, force: force)
    if json { return Console.print(try JSONOutput.text(report)) }
    Console.print("\(report.store): restored from \(report.restored)")
    if let path = report.setAside { Console.print("set aside: \(path)") }
  }
}

struct CleanCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "clean", abstract: "Removes the files of runs that cannot be resumed, and backups over a limit.",
    discussion: """
      Running migrations are kept. So are interrupted ones that `resume` could finish, unless you add --all. Without --keep-backups \
      all backups are kept, and without --keep-rolled-back all stores that a rollback set aside. No store in use is touched.
      """)

  @Argument(help: "A directory, or a store.", completion: .file()) var path = "."
  @Flag(name: .long, help: "Give up interrupted runs that could be resumed, too.") var all = false
  @Option(name: .long, help: .keepBackups) var keepBackups: BackupLimit?
  @Option(
    name: .long,
    help: ArgumentHelp(
      "How many stores that a rollback set aside to keep, for each store: a number, or an age as 30d. Default: all.",
      valueName: "count"))
  var keepRolledBack: BackupLimit?
  @Flag(name: .long, help: "Remove all run records of finished migrations, and not only those whose store is gone.")
  var reports = false
  @Flag(name: .long, help: "Remove nothing; list what would be removed.") var dryRun = false
  @Flag(name: .long, help: .json) var json = false

  var changed: String? { dryRun ? nil : path }

  func run() throws {
    let report = try MigrationJob(policies: Program.policies)
      .clean(path, all: all, backups: keepBackups, setAside: keepRolledBack, reports: reports, dryRun: dryRun)
    if json { return Console.print(try JSONOutput.text(report)) }
    func line(_ verb: String, _ item: MigrationJob.CleanReport.Item) -> String {
      "\(verb) \(item.path): \(item.reason); \(Console.size(item.bytes))"
    }
    let verb = dryRun ? "would remove" : "removed"
    let removed = report.removed.flatMap { [line(verb, $0)] + ($0.files ?? []).map { "  \($0)" } }
    let lines = removed + report.kept.map { line("kept", $0) }
    let bytes = report.removed.reduce(0) { $0 + $1.bytes }
    Console.print((lines + ["\(dryRun ? "to be freed" : "freed"): \(Console.size(bytes))"]).joined(separator: "\n"))
  }
}

/// A number of backups, or their greatest age: 3, 30d.
extension BackupLimit: ExpressibleByArgument {
  /// Reads a limit; nil for anything else.
  public init?(argument: String) {
    let isAge = argument.hasSuffix("d")
    guard let number = Int(isAge ? String(argument.dropLast()) : argument), (0...1_000_000).contains(number) else {
      return nil
    }
    self = isAge ? .days(number) : .count(number)
  }
}
