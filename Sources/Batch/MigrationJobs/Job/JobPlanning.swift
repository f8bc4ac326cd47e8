import CoreDataStore
import CoreMetrics
import Foundation
import Logging
import MappingModels
import Migrations
import RunSupport
import Streams

// What a job can say before it begins.
extension MigrationJob {
  /// Plans a migration. Nothing is written. `command` is the one that asks: who only looks is sent to no migration.
  ///
  /// - Throws: ``BatchError``: what a migration of the request would be refused for.
  public func plan(_ request: Request, for command: PlanningCommand = .migrate) throws -> MigrationPlan {
    try BatchError.looking { try plan(request, countsRows: true, for: command).plan }
  }

  /// Foresees what a plan takes: a sample of the store goes through its steps and their proof, into a folder of the
  /// temporary directory that is removed then, or by the next trial if the process is killed; the disk is tried with a
  /// file without a name. Takes about a second: some 24 MiB of the store are read, less where memory is short, and once
  /// more where policies find objects by many names. Policies are called with objects of the sample.
  ///
  /// Nil for a plan with nothing to do.
  ///
  /// - Throws: ``BatchError``: what a run would throw over these rows (`policyFailed`, `refused`, `badStore`), and
  ///   `refused` where they make more than scratch files are for, or where these cannot be made.
  public func forecast(
    _ request: Request, _ plan: MigrationPlan, progress: @escaping (Double) -> Void = { _ in }
  ) throws -> MigrationForecast? {
    // The run itself has its own share.
    let free = MemoryLimit().find().map { Double($0.bytes) - Double(request.memory.total) } ?? .infinity
    let bytes = min(Rehearsal.sampleBytes, max(1_048_576, free / 10))
    return try BatchError.looking { try forecast(request, plan, sampleBytes: bytes, progress: progress) }
  }

  func forecast(
    _ request: Request, _ plan: MigrationPlan, sampleBytes: Double, progress: @escaping (Double) -> Void = { _ in }
  ) throws -> MigrationForecast? {
    guard !plan.isUpToDate else { return nil }
    let source = try SourceStore.opened(request.source, fileSystem, locking: .shared, logs: logs)
    defer { source.close() }
    return try Rehearsal(
      plan: plan, policies: policies, memory: request.memory, extras: request.extras, validation: request.validation,
      verification: request.verification,
      directory: FilePaths.directory(of: JobDirectory(destination: request.output ?? request.source).destination),
      planning: plan.planningSeconds, copies: copies(request, source), smallStore: smallStore,
      sampleBytes: sampleBytes, progress: progress
    ).run(source)
  }

  /// Of a run that may be over before it is written down, nothing.
  func copies(_ request: Request, _ source: StoreReader) -> ModelCopies? {
    mayEndUnwritten(request, source) ? nil : ModelCopies(request.models + request.mappings, fileSystem)
  }

  /// A plan, and what it was made of.
  func plan(
    _ request: Request, countsRows: Bool, for command: PlanningCommand = .migrate
  ) throws -> (plan: MigrationPlan, seen: StoreSighting) {
    let begin = ContinuousClock.now
    let source = try SourceStore.opened(request.source, fileSystem, locking: .shared, logs: logs)
    defer { source.close() }
    let seen = try StoreSighting(source, fileSystem)
    let (library, mappings) = (try ModelLibrary(paths: request.models), try mappings(request))
    let planner = planner(request, library: library, mappings: mappings)
    var plan: MigrationPlan
    do { plan = try planner.plan(source, target: request.target, countsRows: countsRows) } catch let error as BatchError
    {
      let advice = MappingAdvice(request: request, command: command, library: library, mappings: mappings)
      throw advised(advice.told(error), planner: planner, source: source, request, by: command)
    }
    plan.notes += [source.metadata.newerFramework].compactMap { $0 }
    if source.isRecovered { plan.notes.append(SourceStore.recoveryNote) }
    plan.notes += try otherFileSystem(request)
    plan.notes += usersOfSource(request)
    try look(at: &plan, request, source)
    // Last: a mapping that cannot work at all is a better answer than what it would lose.
    plan.notes += try PlanJudge(
      request, command, plan: plan, library: library, mappings: mappings, policies: policies
    ).notes(source)
    if command == .plan, countsRows, let step = plan.steps.first.map({ ($0.passed + [$0])[0] }) {
      let objects = LeftOutObjects(step: step, reader: source, policies: policies, memory: request.memory)
      let foretold = try objects.foretold(plan.accounts[0])
      plan.accounts[0] = foretold.account
      plan.notes += foretold.notes
    }
    plan.planningSeconds = (ContinuousClock.now - begin) / .seconds(1) - plan.countingSeconds
    return (plan, seen)
  }

  /// What a person should know of those who may write the store.
  private func usersOfSource(_ request: Request) -> [String] {
    let isReadOnly = request.output == nil && !mayWrite(request.source)
    let writers = FileUsers.writing(request.source)
    return
      (isReadOnly
      ? ["this user may read the store but not replace it: migrate it as its owner, or elsewhere with --output"] : [])
      + (writers.isEmpty
        ? []
        : [
          "\(writers.joined(separator: ", ")) has the store open to write: end it, because what it writes later may be lost"
        ])
  }

  /// What the engine would refuse, the plan refuses.
  private func look(at plan: inout MigrationPlan, _ request: Request, _ source: StoreReader) throws {
    let key = StepsLook.Key(request.extras, request.validation)
    let look = try plan.looks?[key] ?? looked(at: plan, request, source)
    if look.isForAll { plan.looks?[key] = look }
    plan.notes += look.notes.filter { !plan.notes.contains($0) }
    for (version, lines) in look.triggers { plan.accounts[version].lines += lines }
    if let binding = plan.binding, !plan.steps.isEmpty {
      plan.notes += try ExternalDataSurvey(source, binding, fileSystem: fileSystem)?.notes ?? []
    }
  }

  /// Later steps read stores that do not exist yet, but their layout is known, and which triggers they have.
  private func looked(at plan: MigrationPlan, _ request: Request, _ source: StoreReader) throws -> StepsLook {
    var (reader, version, look) = (source, 0, StepsLook())
    var history: HistoryRows?
    for (index, planned) in plan.steps.enumerated() {
      let files = StepFiles(prefix: request.source, fileSystem: fileSystem, budget: request.memory)
      let step = try StepPlan(
        step: planned, reader: reader, policies: policies, files: files, now: 0, extras: request.extras,
        validation: request.validation)
      if index == 0 { history = step.carried.history }
      history = try history.flatMap { try step.carried.fates?.pass($0, isForeseen: index > 0) }
      look.add(step, version: version)
      version += planned.passed.count + 1
      if index + 1 < plan.steps.count {
        let triggers = step.carried.texts.filter { $0.type == "trigger" }
        reader = try EmptyStore.reader(of: plan.steps[index + 1].origin, triggers: triggers)
      }
    }
    return look
  }

  func planner(_ request: Request) throws -> MigrationPlanner {
    planner(request, library: try ModelLibrary(paths: request.models), mappings: try mappings(request))
  }

  private func planner(_ request: Request, library: ModelLibrary, mappings: [PlanJudge.Mappings])
    -> MigrationPlanner
  {
    var policies = policies
    for found in mappings.flatMap(\.files) { policies.mappings[found.model.name] = found.file }
    var planner = MigrationPlanner(
      library: library, mappings: mappings.flatMap(\.models), policies: policies, order: request.order,
      fuses: request.makesOnePass, parts: request.parts, inference: request.inference,
      fromTables: request.fromTables,
      now: request.moment ?? Date().timeIntervalSinceReferenceDate.rounded())
    planner.unread = request.unread
    return planner
  }

  /// The error with whole commands, where an order of the versions leads on.
  private func advised(
    _ error: BatchError, planner: MigrationPlanner, source: StoreReader, _ request: Request,
    by command: PlanningCommand
  ) -> BatchError {
    switch error.code {
    case .noPath:
      planner.orderAdvice(source, target: request.target).map { order($0, in: error, request, by: command) } ?? error
    case .noModel: choice(planner.tableOrders(source, target: request.target), in: error, request, by: command)
    default: error
    }
  }

  /// The error with the whole command that names the order of the versions, if that order is known.
  private func order(
    _ advice: OrderAdvice, in error: BatchError, _ request: Request, by command: PlanningCommand
  ) -> BatchError {
    guard let command = self.command(request, advice.versions, by: command) else { return error }
    let sentence =
      switch advice.reason {
      case .back: "To go back all the same: \(command)"
      case .turned(let store, let target):
        "If \(target) comes after \(store), name them in that order: \(command)"
      case .missing(let names): "With \(names.joined(separator: " and ")) in the list: \(command)"
      case .identifiers: "By their identifiers they have another order: \(command)"
      case .unknown: "If their order is another one, give that with --versions"
      }
    var error = error
    error.hint = [error.hint, sentence].compactMap { $0 }.joined(separator: ". ")
    if advice.reason != .unknown { error.next = [command.line] }
    return error
  }

  /// The error with the whole commands that begin at the versions of which the tables may be.
  private func choice(
    _ orders: [[String]], in error: BatchError, _ request: Request, by command: PlanningCommand
  ) -> BatchError {
    let commands = orders.compactMap { self.command(request, $0, by: command) }
    guard !commands.isEmpty else { return error }
    let choices = zip(orders, commands).map { "to begin at \($0[0]): \($1)" }
    var error = error
    error.hint = "Name the one that made the tables first; " + choices.joined(separator: "; ")
    error.next = commands.map(\.line)
    return error
  }

  private func command(_ request: Request, _ versions: [String], by command: PlanningCommand) -> AdvisedCommand? {
    ReplayCommand.words(
      request.arguments, source: absolute(request.source), output: request.output.map(absolute), order: versions
    ).map { ProgramName.command(command.words($0)) }
  }

  private func absolute(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }

  private func mappings(_ request: Request) throws -> [PlanJudge.Mappings] {
    try request.mappings.map(PlanJudge.Mappings.init(path:))
  }

  /// What a person should know of an output elsewhere.
  private func otherFileSystem(_ request: Request) throws -> [String] {
    guard let output = request.output else { return [] }
    let bytes = try ExternalDataCopy(fileSystem: fileSystem).bytes(of: request.source)
    let directories = [request.source, output].map(FilePaths.directory(of:))
    guard try fileSystem.status(directories[0])?.device != fileSystem.status(directories[1])?.device else { return [] }
    let external =
      bytes > 0
      ? "; \(bytes.counted("byte")) of external data \(bytes.verb("is", "are")) copied to it, not linked" : ""
    return ["the output lies on another file system than the store: disk space is needed there\(external)"]
  }
}
