import CoreDataModel
import CoreDataStore
import Foundation
import MappingModels
import Migrations
import RunSupport
import StoreVerification
import Streams

// What is written down of plans, stores, reports and errors. Lists have bounds: a page is to be read by a person.

extension RunHistory.Facts {
  init(_ plan: JobPlan, run: String) {
    self.run = run
    program = ProgramName.current
    (source, destination, madeFrom) = (plan.source, plan.destination, plan.madeFrom)
    (sourceVersion, targetVersion) = (plan.sourceVersion, plan.targetVersion)
    memory = UInt64(clamping: plan.memory)
    origin = plan.origin
    settings = []
    add("memory", "\(plan.memory >> 20) MiB")
    switch plan.interval {
    case .seconds(let seconds): add("checkpoints", "every \(seconds) s")
    case .bytes(let bytes): add("checkpoints", "every \(bytes.counted("byte")) of finished rows")
    }
    add("proof", plan.verification.rawValue)
    add("indexes", plan.indexBuilding == .engine ? "built by the page engine" : "built by SQLite")
    add("steps in one pass", plan.fuses ? "if the result is the same" : "no")
    if let inference = plan.inference { add("inferred steps", inference.rawValue) }
    add("persistent history", plan.extras.history.rawValue)
    if plan.extras.allowsCloudKit { add("CloudKit", "allowed") }
    if let validation = plan.validation { add("validation", validation.rawValue) }
    if let parts = plan.parts {
      add("parts", parts.only.isEmpty ? "without \(list(parts.skip))" : "only \(list(parts.only))")
    }
    if let rejects = plan.rejects {
      add("rejects", "at most \(rejects.limit)\(rejects.withValues ? ", with their values" : "")")
    }
    switch plan.keepsBackups {
    case .count(let count): add("backups kept", "\(count)")
    case .days(let days): add("backups kept", days.counted("day"))
    case nil: break
    }
    if !plan.models.isEmpty { add("models", list(plan.models.map(FilePaths.name(of:)))) }
    if !plan.mappings.isEmpty { add("mappings", list(plan.mappings.map(FilePaths.name(of:)))) }
    if !plan.policies.isEmpty {
      add("policies", list(plan.policies.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }))
    }
  }

  private func list(_ names: [String]) -> String {
    names.prefix(12).joined(separator: ", ") + (names.count > 12 ? " and \(names.count - 12) more" : "")
  }

  private mutating func add(_ name: String, _ value: String) {
    settings.append(RunHistory.Setting(name: name, value: String(value.prefix(1000))))
  }
}

extension RunHistory.Step {
  private static let shown = 12

  init(_ step: MigrationStep) {
    (source, destination, passed) = (step.origin.name, step.destination.name, step.passedVersions)
    isInferred = (step.passed + [step]).allSatisfy(\.isInferred)
    reason = step.reason
    (sourceDigest, destinationDigest) = (step.origin.versionHashesDigest, step.destination.versionHashesDigest)
    let models = (step.passed + [step]).flatMap(\.mappingModels).prefix(Self.shown)
    mappings = models.map { model in
      Mapping(
        name: model.name, entityMappings: model.entityMappings.prefix(Self.shown).map(\.name),
        count: model.entityMappings.count,
        policies: Array(Set(model.entityMappings.compactMap(\.policyClassName)).sorted().prefix(Self.shown)))
    }
  }
}

extension RunHistory.Size {
  /// The entities of a store that can have objects, by samples of their tables; empty where the store is not what the
  /// model says.
  static func all(_ reader: StoreReader, model: ManagedObjectModel) -> [RunHistory.Size] {
    guard let binding = try? StoreBinding(reader, model: model) else { return [] }
    var found: [Int64: (share: TableEstimate.Share, isExact: Bool)] = [:]
    let pages = TableEstimate.pages(tables: binding.tables.count)
    for table in binding.tables {
      guard let estimate = try? TableEstimate(reader, table.schema, pages: pages) else { continue }
      for (number, share) in estimate.entities { found[number] = (share, estimate.isExact) }
    }
    return binding.layout.entityNames.enumerated().compactMap { index, name in
      guard model.entity(name)?.isAbstract != true else { return nil }
      let number = found[Int64(index + 1)]
      return RunHistory.Size(
        entity: name, rows: number?.share.rows ?? 0, bytes: number?.share.bytes ?? 0,
        isEstimate: number?.isExact == false)
    }
  }
}

extension RunHistory.Tally {
  /// The sums of an account.
  public init(_ account: StepAccount) {
    func sum(_ numbers: [UInt64]) -> UInt64 { numbers.reduce(0, &+) }
    (source, destination) = (account.source, account.destination)
    read = sum(account.firstObjects.map(\.read)) &+ account.unmapped
    balances = account.versions.compactMap(\.balance)
    written = sum(account.lastObjects.map(\.written))
    leftOut = sum(account.objects.map(\.leftOut)) &+ account.unmapped
    rejected = sum(account.objects.map(\.rejected))
    made = sum(Array(account.made.values))
    linksWritten = sum(account.links.map(\.written))
    let cleared = sum(account.links.map(\.cleared))
    (linksLeftOut, linksCleared) = (sum(account.links.map(\.leftOut)) &+ cleared, cleared)
  }

  /// Source objects by entity that a step was given; mappings of the same entity are given the same objects.
  static func read(_ account: StepAccount?) -> [String: UInt64] {
    Dictionary((account?.firstObjects ?? []).map { ($0.source, $0.read) }, uniquingKeysWith: { max($0, $1) })
  }
}

extension RunHistory.Proof {
  init?(_ report: VerificationReport?, mode: VerificationMode, isCompared: Bool) {
    guard let report else { return nil }
    self.mode = mode.rawValue
    let compared = isCompared ? report.tables : []
    (tables, rows) = (compared.count, compared.reduce(0) { $0 &+ $1.rows })
    external = report.external.flatMap { $0.references > 0 ? $0.text : nil }
    (warnings, warningCount) = (report.warnings.prefix(20).map(\.description), report.warnings.count)
    seconds = (report.seconds * 1000).rounded() / 1000
  }
}

extension RunHistory.End {
  init(_ error: any Error, process: Int, at: Double) {
    (self.process, self.at) = (process, at)
    let error = BatchError(wrapping: error)
    (code, hint, next) = (error.code.description, error.hint, error.next)
    reason = String("\(error.withoutAdvice)".prefix(4000))
  }
}

extension RunHistory {
  /// Whether a run without a plan leads elsewhere than to its source, as far as its history says it.
  static func isElsewhere(_ job: JobDirectory) -> Bool {
    RunHistory(path: job.history)?.facts.map { $0.source != $0.destination } ?? false
  }
}
