import ArgumentParser
import Batch
import Streams

struct RollbackCommand: ListedCommand {
  static let configuration = CommandConfiguration(
    commandName: "rollback", abstract: "Puts back the store that a migration replaced.",
    discussion: """
      The newest backup gets the store's name again, with its external data. The present store is set aside as \
      STORE.rolled-back-TIME. A rollback is refused if the present store was written to since its migration.
      """)

  @Argument(help: "The store that was migrated in place.", completion: .store) var store: String?
  @OptionGroup var list: ListArguments
  @Flag(name: .long, help: "Roll back even if the store was written to since its migration.") var force = false
  @Flag(name: .long, help: .json) var json = false

  var changed: String? { store }

  static let takesOutput = false

  static func state(of outcome: StoreOutcome) -> ListState {
    outcome.code == 0 ? ListState("restored", .done) : ListState(failed: outcome)
  }

  func validate() throws { try list.check(store) }

  func run() throws {
    guard let store else { return try ListRun(self, Manifest(path: list.manifest ?? "")).run() }
    let report = try rollBack(store)
    // What a list said of the store that is set aside holds no longer.
    try? KeptResults().forget(report.store)
    if json { return Console.print(try JSONOutput.text(report)) }
    Console.print("\(report.store): restored from \(report.restored)")
    if let path = report.setAside { Console.print("set aside: \(path)") }
  }

  private func rollBack(_ store: String) throws -> MigrationJob.RollbackReport {
    let job = MigrationJob(policies: Program.policies)
    do { return try job.rollback(store, force: force) } catch let error as BatchError where error.code == .refused {
      // A store that is missing may have a backup.
      if case .unknown? = job.withoutBackup(store) { try MissingStore.refuse(store) }
      throw error
    }
  }
}

struct CleanCommand: ListedCommand {
  static let configuration = CommandConfiguration(
    commandName: "clean", abstract: "Removes the files of runs that cannot be resumed, and backups over a limit.",
    discussion: """
      Running migrations, loads and imports are kept. So are interrupted ones that `resume` could finish, unless you add --all. Without --keep-backups \
      all backups are kept, and without --keep-rolled-back all stores that a rollback set aside. No store in use is touched. Of a \
      load into a file that was killed nothing is kept: it cannot be resumed. The tables of a load into a server stay there.
      """)

  @Argument(
    help: ArgumentHelp("A directory, or a store. Default: the current folder.", valueName: "path"), completion: .file())
  var store: String?
  @OptionGroup var list: ListArguments
  @Flag(name: .long, help: "Give up interrupted runs that could be resumed, too.") var all = false
  @Option(name: .long, help: .keepBackups) var keepBackups: BackupLimit?
  @Option(
    name: .long,
    help: ArgumentHelp(
      "How many stores that a rollback set aside to keep, for each store: a number, or an age as 30d. Default: all.",
      valueName: "count"))
  var keepRolledBack: BackupLimit?
  @Flag(
    name: .long,
    help:
      "Remove all run records of finished migrations, and not only those whose store is gone, and their lists of rejected objects."
  )
  var reports = false
  @Flag(name: .long, help: "Remove nothing; list what would be removed.") var dryRun = false
  @Flag(name: .long, help: .json) var json = false

  var changed: String? { dryRun ? nil : store ?? "." }

  static let takesOutput = false

  static func state(of outcome: StoreOutcome) -> ListState {
    guard outcome.code == 0, let text = outcome.document.flatMap({ CleanText($0) }) else {
      return ListState(failed: outcome)
    }
    return text.state
  }

  func validate() throws {
    guard store == nil || list.manifest == nil else {
      throw ValidationError("Name a folder or a store, or a list of stores with --manifest")
    }
  }

  func run() throws {
    if let manifest = list.manifest { return try ListRun(self, Manifest(path: manifest)).run() }
    let (job, place) = (MigrationJob(policies: Program.policies), store ?? ".")
    try MissingStore.refuse(FilePaths.directory(of: place), "folder")
    var report = try job.clean(
      place, all: all, backups: keepBackups, setAside: keepRolledBack, reports: reports, dryRun: dryRun)
    for more in [
      try job.cleanLoads(place, all: all, dryRun: dryRun), try job.cleanImports(place, all: all, dryRun: dryRun),
    ] {
      report.removed += more.removed
      report.kept += more.kept
    }
    // What was left of a store that is gone is found all the same.
    if report.removed.isEmpty, report.kept.isEmpty { try MissingStore.refuse(place, "file or folder") }
    Console.print(json ? try JSONOutput.text(report) : CleanText(report).text)
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
