import CoreDataStore
import MappingModels
import Migrations
import RunSupport
import Streams

// A run whose mapping models were corrected goes on where its finished steps do not depend on them.
extension MigrationJob {
  /// Gives an interrupted run other mapping models, durably. Steps that are finished stay, if these mapping models make
  /// them alike, by the fingerprints of both plans; the step at work goes on, or begins anew if it is another one now.
  ///
  /// - Throws: ``BatchError``: `refused`, with the command that starts over, if a finished step would be another one;
  ///   and what a plan with these mapping models would be refused for.
  func correct(_ plan: JobPlan, mappings: [String], job: JobDirectory, lease: Lease) throws -> JobPlan {
    let source = try SourceStore.opened(plan.source, fileSystem, locking: .shared, logs: logs)
    defer { source.close() }
    var plan = plan
    let given = plan.arguments ?? []
    plan.arguments = plan.arguments.map { Self.arguments($0, mappings: mappings) }
    let request = request(plan, mappings: mappings, job: job)
    // All that a migration with them would be refused for.
    let judged = try self.plan(request, countsRows: false)
    let before = try plan.planner(job, policies).steps(source, plan)
    let after = try plan.planner(job, policies, mappings: mappings).steps(source, plan)
    let store = CheckpointStore(directory: job.checkpoints, fileSystem: fileSystem)
    let position = try RunPosition(store.newestReadable()?.checkpoint, steps: .max)
    try refuseChangedPast(before, after, upTo: position.step, plan: plan, mappings: mappings, given: given)
    plan.correction = PlanCorrection(
      planFingerprint: plan.planFingerprint, beginsStep: try !isAlike(before, after, at: position.step, by: plan))
    plan.mappings = try copies(
      mappings, folder: freeFolder(job), job: job, find: MappingModelReader.documents(below:))
    (plan.steps, plan.policies, plan.notes) = (after.count, try policyVersions(after), judged.plan.notes)
    plan.planFingerprint = PlanFingerprint.hex(try fingerprint(after, plan, isNamed: true))
    try plan.write(to: job, fileSystem)
    try finishCorrection(of: plan, job: job, lease: lease)
    return plan
  }

  private func fingerprint(_ steps: [MigrationStep], _ plan: JobPlan, isNamed: Bool = false) throws -> [UInt8] {
    try PlanFingerprint.of(
      steps: steps, extras: plan.extras, indexes: plan.indexBuilding, policies: policies, now: plan.now,
      isNamed: isNamed)
  }

  private func refuseChangedPast(
    _ before: [MigrationStep], _ after: [MigrationStep], upTo count: Int, plan: JobPlan, mappings: [String],
    given: [String]
  ) throws {
    func isSame(_ count: Int) throws -> Bool {
      try fingerprint(Array(before.prefix(count)), plan) == fingerprint(Array(after.prefix(count)), plan)
    }
    guard count > 0, try !isSame(count) || after.count <= count && before.count != after.count else { return }
    let changed = try (1...count).first { try !isSame($0) } ?? count
    let step = before[changed - 1]
    let others = Self.others(than: mappings, in: given)
    let arguments = plan.arguments.map { Self.arguments($0, mappings: others + mappings) }
    let words = arguments.flatMap {
      ReplayCommand.words($0, source: plan.source, output: plan.isInPlace ? nil : plan.destination, restarts: true)
    }
    let restart = words.map(ProgramName.command) ?? ProgramName.command("clean", "--all", plan.destination)
    var (hint, next) = ("Start over with \(restart)", [restart])
    if !others.isEmpty {
      let resume = ProgramName.command(["resume", plan.destination, "--mappings"] + others + mappings)
      hint = "The run also has \(others.joined(separator: ", ")): go on with \(resume), or start over with \(restart)"
      next.insert(resume, at: 0)
    }
    throw BatchError(
      .refused,
      "the step \(step.source.name) to \(step.destination.name) is finished, and these mapping models would make another one",
      hint: hint, effect: .resumable, next: next.map(\.line), path: plan.destination)
  }

  /// The files of a run's mapping models that are for other steps than these.
  private static func others(than mappings: [String], in arguments: [String]) -> [String] {
    func files(_ path: String) -> [(step: [String?], file: String)] {
      ((try? MappingModelReader.readFiles(path)) ?? []).map {
        ([$0.model.sourceModelName, $0.model.destinationModelName], $0.file)
      }
    }
    let values = arguments.drop { $0 != "--mappings" }.dropFirst().prefix { !$0.hasPrefix("--") }
    let known = Set(mappings.flatMap(files).map(\.step))
    return values.flatMap(files).filter { !known.contains($0.step) }.map(\.file).uniqued
  }

  /// Whether the step at work is the same, at the same place of the path.
  private func isAlike(_ before: [MigrationStep], _ after: [MigrationStep], at step: Int, by plan: JobPlan) throws
    -> Bool
  {
    guard step < before.count, step < after.count else { return before.count == after.count }
    return try (step + 1 == before.count) == (step + 1 == after.count)
      && fingerprint([before[step]], plan) == fingerprint([after[step]], plan)
  }

  private func freeFolder(_ job: JobDirectory) throws -> String {
    for number in 2... {
      let name = "mappings-\(number)"
      guard try fileSystem.status(job.file(name)) != nil else {
        try fileSystem.makeDirectory(job.file(name))
        return name
      }
    }
    return "mappings"
  }

  private func request(_ plan: JobPlan, mappings: [String], job: JobDirectory) -> Request {
    var request = Request(
      source: plan.source, output: plan.isInPlace ? nil : plan.destination, models: plan.models.map { job.file($0) },
      mappings: mappings, target: plan.target)
    (request.order, request.extras, request.validation) = (plan.order, plan.extras, plan.validation ?? .all)
    (request.fuses, request.inference, request.fromTables) = (plan.fuses, plan.inference, plan.fromTables ?? false)
    (request.parts, request.consent) = (plan.parts ?? PartSelection(), plan.consent ?? LossConsent())
    (request.memory, request.arguments) = (MemoryBudget(total: plan.memory), plan.arguments ?? [])
    request.rejects = plan.rejects.map { RejectLimit(.count($0.limit), withValues: $0.withValues) }
    return request
  }

  /// The options of a run with other mapping models.
  private static func arguments(_ arguments: [String], mappings: [String]) -> [String] {
    let whole = mappings.map { (try? JobDirectory.resolve($0)) ?? $0 }
    var (kept, isLeftOut) = ([String](), false)
    for argument in arguments {
      if argument.hasPrefix("--") { isLeftOut = argument == "--mappings" }
      if !isLeftOut { kept.append(argument) }
    }
    return kept + ["--mappings"] + whole
  }
}

extension JobPlan {
  /// The run's copies of its models.
  func library(_ job: JobDirectory) throws -> ModelLibrary { try ModelLibrary(paths: models.map { job.file($0) }) }

  /// What plans this run again: by its copies of models, and by its mapping models or others.
  func planner(_ job: JobDirectory, _ policies: PolicyRegistry, mappings others: [String]? = nil) throws
    -> MigrationPlanner
  {
    MigrationPlanner(
      library: try library(job),
      mappings: try (others ?? mappings.map { job.file($0) }).flatMap { try MappingModelReader.read(path: $0) },
      policies: policies, order: order, fuses: fuses, parts: parts ?? PartSelection(), inference: inference,
      fromTables: fromTables ?? false, first: sourceVersion, now: now)
  }
}

extension MigrationPlanner {
  fileprivate func steps(_ source: StoreReader, _ plan: JobPlan) throws -> [MigrationStep] {
    try self.plan(source, target: plan.target, countsRows: false, checksValues: false).steps
  }
}
