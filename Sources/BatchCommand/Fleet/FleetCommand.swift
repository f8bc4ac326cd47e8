import ArgumentParser
import Batch
import Foundation

struct FleetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fleet",
    abstract: "Migrates many stores on many machines: each ends once, as done, rejected, or failed.",
    discussion: """
      You make a plan once, and tasks carry it out: an array job of Slurm, an indexed job of Kubernetes, an array job of AWS Batch, or \
      tasks that you start. How each store ended is recorded beside the plan, or in --state, which all tasks must share.
      """,
    subcommands: [FleetPlanCommand.self, FleetRunCommand.self, FleetSubmitCommand.self, FleetStatusCommand.self])
}

struct FleetPlanCommand: ModelCommand {
  static let configuration = CommandConfiguration(
    commandName: "plan", abstract: "Prints which task migrates which stores. Writes nothing.",
    discussion: """
      It reads stores as `inspect` does, and balances them over the tasks by their bytes, the largest first. A store that cannot be read \
      stays in the plan, with the reason, and ends as failed.
      """)

  @Option(
    name: .long,
    help: ArgumentHelp(
      "A list of stores, one a line and its output after a tab; or a folder to search for stores.", valueName: "path"),
    completion: .file())
  var manifest: String
  @Option(name: .long, help: ArgumentHelp("The number of tasks to balance the stores over.", valueName: "count"))
  var tasks: Int
  @OptionGroup var migration: FleetMigrationOptions

  var named: ModelArguments { migration.models.named }

  func validate() throws {
    guard (1...FleetPlan.mostTasks).contains(tasks) else {
      throw ValidationError("--tasks is from 1 to \(FleetPlan.mostTasks)")
    }
  }

  func run() throws {
    let migration = try migration.resolved()
    let models = migration.models
    // What no store could be migrated with is found here, and not by every task.
    let library = try models.named.library()
    if let to = models.to { _ = try library?.target(named: to) }
    try DestinationArguments.refuseDestination(in: models.mappings)
    for path in models.mappings { _ = try MappingModelReader.read(path: path) }
    _ = try models.request("")
    let survey = FleetSurvey(models: library)
    let named = try stores(survey)
    let looked = try survey.look(named.filter { $0.problem == nil })
    let stores = looked + named.filter { $0.problem != nil }
    let plan = try FleetPlan(
      stores, tasks: tasks, options: migration.words, models: try FleetInputs.digest(migration.paths))
    Console.writeOutput(try plan.text() + "\n")
    Console.error(Self.summary(plan))
  }

  private func stores(_ survey: FleetSurvey) throws -> [FleetPlan.Store] {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: manifest, isDirectory: &isFolder), isFolder.boolValue else {
      return try Manifest(path: manifest).entries.map(Self.store)
    }
    let found = try survey.stores(in: FleetArguments.absolute(manifest))
    guard !found.isEmpty else {
      throw BatchError(
        .refused, "there is no Core Data store in it", hint: "Name another folder", effect: .nothingWritten,
        path: manifest)
    }
    return found.map { $0.problem == nil ? Self.store(Manifest.Entry(store: $0.path)) : $0 }
  }

  /// Without symbolic links: two names of one store are one.
  private static func store(_ entry: Manifest.Entry) -> FleetPlan.Store {
    func whole(_ path: String) -> String {
      (try? JobDirectory(destination: path).destination) ?? FleetArguments.absolute(path)
    }
    return FleetPlan.Store(path: whole(entry.store), output: entry.output.map(whole))
  }

  private static func summary(_ plan: FleetPlan) -> String {
    let loads = (0..<plan.tasks).map { task in plan.stores.reduce(0) { $0 + ($1.shard == task ? $1.bytes : 0) } }
    let faulty = plan.stores.count { $0.problem != nil }
    let bytes = Console.size(loads.reduce(0, +))
    return
      "\(plan.stores.count.counted("store")), \(bytes), \(plan.tasks.counted("task")) of \(Console.size(loads.min() ?? 0)) to \(Console.size(loads.max() ?? 0))"
      + (faulty == 0 ? "" : "; \(faulty) cannot be read, and will end as failed")
  }
}
