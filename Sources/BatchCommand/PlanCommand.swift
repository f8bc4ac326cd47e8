import ArgumentParser
import Batch
import Foundation

struct PlanCommand: ListedCommand, ModelCommand {
  static let configuration = CommandConfiguration(
    commandName: "plan",
    abstract:
      "Shows how a store would be migrated, with an estimate of time, disk and memory. Writes only the file of --graph."
  )

  @Argument(help: .store, completion: .store) var store: String?
  @OptionGroup var list: ListArguments
  @OptionGroup var models: ModelOptions
  @OptionGroup var extras: ExtrasArguments
  @OptionGroup var parts: PartArguments
  @Option(name: .long, help: .output, completion: .store) var output: String?
  @Flag(name: .long, help: "Exit with 3 if there is nothing to do.") var check = false
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Draw the parts and what they wait for: a file that ends in .svg, or in .dot for Graphviz.", valueName: "path"),
    completion: .file(extensions: ["svg", "dot"]))
  var graph: String?
  @Flag(
    inversion: .prefixedNo,
    help:
      "Estimate time, disk and memory by a trial: a sample of rows goes through the steps, into scratch files (TMPDIR). Policies are called."
  )
  var rehearsal = true
  @Option(name: .long, help: .memory, transform: ByteCount.memory) var memory = ByteCount.standardMemory
  @Option(name: .long, help: .verify) var verify = VerificationMode.fast
  @OptionGroup var database: DestinationArguments
  @Flag(name: .long, help: .json) var json = false

  var changed: String? { nil }
  // What is wrong with a plan is wrong with the migration, which says that.
  var onlyReads: Bool { false }
  var named: ModelArguments { models.named }
  var place: String? { store }

  static func state(of outcome: StoreOutcome) -> ListState {
    guard let plan = outcome.document, outcome.failure == nil, [0, ExitCodes.nothingToDo].contains(outcome.code) else {
      return ListState(failed: outcome)
    }
    guard plan["steps"]?.elements.isEmpty == false else { return ListState("nothing to do", .done) }
    let time =
      plan["forecast"]?["seconds"]?.double.map { ", estimate \($0 < 1 ? "under 1 s" : Console.duration($0))" } ?? ""
    return ListState(
      "to migrate", .done,
      detail:
        "\(plan["version"]?.text ?? "") to \(plan["target"]?.text ?? ""), \(Console.size(plan["bytes"]?.count ?? 0))\(time)"
    )
  }

  /// With --check, 3 if no store needs anything.
  static func code(of results: [ListResult]) -> Int32 {
    let codes = results.map(\.exitCode)
    guard codes.contains(where: { $0 != ExitCodes.nothingToDo }) else { return ExitCodes.nothingToDo }
    return ExitCodes.worst(codes.filter { $0 != ExitCodes.nothingToDo })
  }

  func run() throws {
    guard let store else {
      try DestinationArguments.refuseDestination(in: models.mappings)
      return try ListRun(self, Manifest(path: list.manifest ?? "")).run()
    }
    if let graph { try OutputPath("--graph", graph).check([store, output].compactMap { $0 }) }
    if let xml = try XMLSource(store) { throw xml.refusePlan(models) }
    var request = try models.request(store, output: output)
    request.extras = extras.options
    request.arguments = models.arguments + extras.arguments + parts.arguments
    request.parts = parts.selection
    request.memory = MemoryBudget(total: Int(clamping: memory.bytes))
    request.verification = verify
    let job = MigrationJob(policies: Program.policies)
    var (plan, forecast) = try planned(job, request)
    if let graph { try draw(plan, graph) }
    let destination = try database.destination(request)
    let ddl = destination != nil || database.ddlOnly ? try database.script(&plan) : nil
    var text = PlanText(plan, forecast)
    text.ddl = ddl
    text.destination = destination?.place
    if database.ddlOnly, !json { return Console.writeOutput((ddl ?? "") + "\n") }
    Console.print(json ? try text.json() : text.text)
    if let forecast { try job.refuse(request, plan, forecast: forecast) }
    if let destination { try job.refuse(destination) }
    if check, plan.isUpToDate, destination == nil { throw ExitCode(ExitCodes.nothingToDo) }
  }

  private func planned(
    _ job: MigrationJob, _ request: MigrationJob.Request
  ) throws -> (MigrationPlan, MigrationForecast?) {
    let display = ProgressDisplay(json ? .none : ProgressMode.auto.resolved(json: false))
    defer { display.end() }
    display.show(0, "counting rows")
    var plan = try job.plan(request, for: .plan)
    let forecast = try rehearse(job, request, plan: &plan, display: display)
    return (plan, forecast)
  }

  /// What a sample cannot be migrated for does not make the plan wrong.
  private func rehearse(
    _ job: MigrationJob, _ request: MigrationJob.Request, plan: inout MigrationPlan, display: ProgressDisplay
  ) throws -> MigrationForecast? {
    guard rehearsal, !check else { return nil }
    do {
      return try job.forecast(request, plan) { display.show(0.5 + 0.5 * $0, "trial with a sample") }
    } catch let error as BatchError
      where [.policyFailed, .refused].contains(error.code)
    {
      plan.notes.append("there is no estimate: the trial ended with an error, which a run may meet as well: \(error)")
      return nil
    }
  }

  func validate() throws {
    try list.check(store)
    guard store != nil || (output == nil && graph == nil && !database.isNamed && !database.ddlOnly) else {
      throw ValidationError(
        "--output, --graph, --to-postgres, --to-sqlite and --ddl-only take one store, and no --manifest")
    }
    guard graph.map({ $0.hasSuffix(".svg") || $0.hasSuffix(".dot") }) ?? true else {
      throw ValidationError("--graph takes a file that ends in .svg or .dot")
    }
  }

  private func draw(_ plan: MigrationPlan, _ path: String) throws {
    let drawing = SplitDrawing(plan)
    let text = path.hasSuffix(".dot") ? drawing.dot : try drawing.svg
    do { try text.write(toFile: path, atomically: false, encoding: .utf8) } catch {
      throw BatchError(
        .failed, "the drawing cannot be written", hint: "Name a file in a folder that is there", path: path,
        cause: error)
    }
  }
}
