import CoreDataStore
import Migrations
import RunSupport
import StoreVerification
import Streams

// The proof of what the last step left.
extension MigrationRun {
  /// Proves the finished store as the run was asked to; nil for not at all.
  func verify(_ result: Finished, steps: [MigrationStep], source: StoreReader) throws -> VerificationReport? {
    guard plan.verification != .none, let model = steps.last?.destination else { return nil }
    let work = proofWork(bytes: try fileSystem.status(result.path)?.size ?? 0, isEarly: result.early != nil)
    monitor.update { progress in
      progress.begin("verification")
      progress.estimate.foresee(.proof, work: work)
      progress.advance(.proof, to: 0)
    }
    var expectation = StoreVerifier.Expectation(
      uuid: source.metadata.uuid, rows: result.tableRows,
      otherTables: Set(source.schema.rows.filter { $0.type == "table" }.map(\.name)),
      hasModelNames: plan.target != .identity, digests: digests(of: result), isDense: plan.indexBuilding == .engine)
    expectation.early = result.early
    let report = try StoreVerifier(path: result.path, model: model, fileSystem: fileSystem)
      .verify(
        expectation, mode: plan.verification, memory: memory(steps), monitor: monitor,
        external: ExternalDataPlaces(store: plan.isInPlace ? plan.destination : result.path, source: plan.source)
      ) { fraction, what in
        monitor.update { progress in
          progress.activity = "verification: \(what)"
          progress.advance(.proof, to: fraction)
        }
      }
    do {
      try report.throwIfViolated(accepting: try accepted(report, steps: steps, source: source))
    } catch var error as BatchError {
      if report.violations.contains(where: { $0.kind == .dangling }), !result.notes.isEmpty {
        let left = result.notes.joined(separator: "; ")
        error.hint = "Objects that were left out are still referred to (\(left)): clear those keys in the policy"
      }
      throw error
    }
    return report
  }

  /// What was written, as sums of hashes; nothing of a run that an earlier version of the program began, which hashed
  /// rows in another way.
  private func digests(of result: Finished) -> [String: ProofDigest] { plan.hasOwnDigests ? result.digests : [:] }

  /// What a verification could not do.
  func proofNotes(_ report: VerificationReport?) -> [String] {
    guard report != nil, !plan.hasOwnDigests else { return [] }
    return ["rows were not compared with what was written, as an earlier version of the program began the run"]
  }

  /// The work of proving a store of that size as the run was asked to, behind what was looked at while it was written.
  func proofWork(bytes: UInt64, isEarly: Bool) -> Double {
    switch plan.verification {
    case .none: 0
    case .fast where isEarly: Double(bytes) * WorkCost.restOfByte
    case .fast, .full: Double(bytes) * WorkCost.provedByte
    case .sqlite: Double(bytes) * WorkCost.verifiedByte
    }
  }

  /// Keys that led nowhere in the source already stay in an inferred migration; they must not have become more.
  private func accepted(
    _ report: VerificationReport, steps: [MigrationStep], source: StoreReader
  ) throws -> Set<Violation.Kind> {
    let dangling = report.violations.filter { $0.kind == .dangling }
    guard let first = steps.first?.origin, !dangling.isEmpty,
      steps.allSatisfy({ ($0.passed + [$0]).allSatisfy(\.isInferred) })
    else { return [] }
    let before = try DanglingKeys(reader: source, binding: StoreBinding(source, model: first)).count()
    return dangling.reduce(0) { $0 + $1.count } <= before ? [.dangling] : []
  }
}
