import CoreDataModel
import CoreDataStore
import Foundation
import MappingModels
import Migrations
import RunSupport
import Streams

/// Judges a plan: whether it would lose what nobody gave up, and whether everything is used that was named.
struct PlanJudge {
  private let request: MigrationJob.Request
  private let command: PlanningCommand
  private let plan: MigrationPlan
  private let library: ModelLibrary
  private let mappings: [Mappings]
  private let policies: PolicyRegistry

  /// The mapping models at a path that was named, and the file of each.
  struct Mappings {
    var path: String
    var files: [(model: MappingModel, file: String)]

    var models: [MappingModel] { files.map(\.model) }

    init(path: String) throws { (self.path, files) = (path, try MappingModelReader.readFiles(path)) }
  }

  init(
    _ request: MigrationJob.Request, _ command: PlanningCommand, plan: MigrationPlan, library: ModelLibrary,
    mappings: [Mappings], policies: PolicyRegistry
  ) {
    self.command = command
    (self.request, self.plan, self.library, self.mappings, self.policies) = (request, plan, library, mappings, policies)
  }

  /// What a person should know. Throws `refused` if the plan loses objects, values or links without consent, or the
  /// request names what no version has, and `badMapping` for a mapping model that was named and fits no step.
  func notes(_ reader: StoreReader) throws -> [String] {
    guard request.target != .identity else { return [] }
    try RequestNames(library, store: plan.sourceVersion).check(request)
    let unused = try unusedMappings()
    try refuseLosses(reader)
    return unused
  }

  // MARK: Losses

  /// Refuses what nobody gave up: by the version history, an option, or a choice of parts.
  private func refuseLosses(_ reader: StoreReader) throws {
    let hashes = library.hashes(of: plan.sourceVersion)
    let isKnown = library.model(matching: hashes) != nil
    let stages = plan.steps.flatMap { $0.passed + [$0] }
    guard let origin = stages.first else { return }
    guard isKnown || hashes.isEmpty || hasEntity(of: hashes, origin.destination) else {
      throw BatchError(
        .refused,
        "no version of the model fits the store, and they have no entity in common: the store is another application's",
        hint: "Give --models of the application that wrote it", effect: .nothingWritten, path: reader.path)
    }
    let findings = try findings(stages, reader, isKnown: isKnown)
    guard !findings.isEmpty else { return }
    let (hint, next) = wayOut(findings, isKnown: isKnown)
    let nearest = isKnown ? nil : library.nearest(to: hashes, like: plan.sourceVersion)
    let edits = nearest.map { ModelEdit.text($0.edits) } ?? ""
    throw BatchError(
      .refused,
      LossJudge.text(findings) + (nearest.map { "; the nearest version is \($0.model.name)" } ?? "")
        + (edits.isEmpty ? "" : "; " + edits),
      hint: hint, effect: .nothingWritten, next: next.map { [$0.line] } ?? [], path: reader.path)
  }

  /// Whether some version has an entity of the store. Its own version may be an early one: entities can have had other
  /// names then.
  private func hasEntity(of hashes: [String: [UInt8]], _ origin: ManagedObjectModel) -> Bool {
    (library.versions + [origin]).contains { $0.entities.contains { hashes[$0.name] != nil } }
  }

  private func findings(_ stages: [MigrationStep], _ reader: StoreReader, isKnown: Bool) throws -> [LossJudge.Finding] {
    let judge = LossJudge(consent: request.consent)
    var accounts = plan.accounts
    func isNarrowed(_ account: VersionAccount) -> Bool {
      account.lines.contains { $0.narrowed == .lost && $0.count != 0 && !request.consent.allows($0) }
    }
    if plan.rows.isEmpty, accounts.contains(where: { !judge.lost($0).isEmpty || isNarrowed($0) }) {
      let binding = try StoreBinding(reader, model: plan.sourceVersion)
      accounts = try PlanAccounts(plan.steps, reader: reader, binding: binding, counts: true).accounts
    }
    if let first = accounts.first, isNarrowed(first) {
      let objects = LeftOutObjects(step: stages[0], reader: reader, policies: policies, memory: request.memory)
      accounts[0] = try objects.foretold(first).account
    }
    return try zip(accounts, stages).enumerated().flatMap { index, found in
      let pair = "\(found.0.source) to \(found.0.destination)"
      let lost = judge.lost(found.0)
      let filtered = index == 0 ? judge.filtered(try withFilters(found.0, step: found.1, reader: reader)) : []
      return [
        LossJudge.Finding(reason: reason(found.1, isKnown: isKnown || index > 0), lines: lost),
        LossJudge.Finding(reason: "the filters of the step \(pair) leave out", lines: filtered),
      ].filter { !$0.lines.isEmpty }
    }
  }

  private func reason(_ step: MigrationStep, isKnown: Bool) -> String {
    let (from, to) = (step.source.name, step.destination.name)
    if !isKnown { return "no version of the model fits the store, and the step from its own model to \(to) would lose" }
    guard !step.isHistory else { return "in the step \(from) to \(to) no mapping carries" }
    return "the store's version \(from) is newer than \(to), and the step would lose"
  }

  /// The account with what filters leave out, if nobody allowed that.
  private func withFilters(_ account: VersionAccount, step: MigrationStep, reader: StoreReader) throws
    -> VersionAccount
  {
    try LeftOutObjects(step: step, reader: reader, policies: policies, memory: request.memory).count(account) {
      $0.leftOutBy == .filter && !request.consent.allows($0)
    }
  }

  /// The advice, and the command that gives the losses up, if one asked for the migration.
  private func wayOut(_ findings: [LossJudge.Finding], isKnown: Bool) -> (hint: String, next: AdvisedCommand?) {
    let way = isKnown ? "Map them" : "Give --models with the version that wrote the store"
    let words = ReplayCommand.words(
      request.arguments, source: absolute(plan.source), output: request.output.map(absolute), restarts: false)
    guard let words else { return ("\(way), or give them up with --drop or --accept-loss", nil) }
    let giveUp = ProgramName.command(command.words(words) + LossJudge.options(findings))
    return ("\(way), or give them up with \(giveUp)", giveUp)
  }

  private func absolute(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }

  // MARK: Mapping models

  /// Mapping models that the path does not use; those that were named by themselves have to fit a step.
  private func unusedMappings() throws -> [String] {
    var notes: [String] = []
    for named in mappings {
      for model in named.models {
        let graph = graph(with: model)
        guard let reason = graph.unused.first else {
          notes += note(model, graph)
          continue
        }
        guard isNamed(named.path) else {
          notes.append(reason + ": it is not used")
          continue
        }
        let problems = MappingFileCheck(model, library: library).problems
        throw BatchError(
          .badMapping,
          "this mapping model was named, and fits no step: "
            + (problems.isEmpty ? [reason] : problems.map { $0.withoutName(model.name) }).joined(separator: "; "),
          hint: "Correct it, or leave it out", effect: .nothingWritten, path: named.path)
      }
    }
    return notes
  }

  private func graph(with model: MappingModel) -> VersionGraph {
    var graph = VersionGraph(library: library, successors: nil)
    let (source, target) = (plan.sourceVersion, plan.targetVersion)
    graph.add(source, library.hashes(of: source), before: (target, library.hashes(of: target)))
    graph.add([model])
    return graph
  }

  /// It fits versions that the store does not pass.
  private func note(_ model: MappingModel, _ graph: VersionGraph) -> [String] {
    let path = plan.path.map { [library.hashes(of: $0.source), library.hashes(of: $0.destination)] }
    let pairs = graph.explicit.keys
    guard !plan.isUpToDate,
      !pairs.contains(where: { path.contains([graph.hashes[$0.source], graph.hashes[$0.destination]]) })
    else {
      return []
    }
    let steps = pairs.map { "\(graph.versions[$0.source].name) to \(graph.versions[$0.destination].name)" }.sorted()
    return [
      "the mapping model \(model.name) is for \(steps.joined(separator: ", ")), which is not on the path: it is not used"
    ]
  }

  /// Whether a mapping model was named by itself, and not found in a folder.
  private func isNamed(_ path: String) -> Bool {
    !PackageFolders.isFolder(path) || (path as NSString).pathExtension == "xcmappingmodel"
  }
}
