import CoreDataModel
import CoreDataStore
import RunSupport
import Streams

/// Checks a finished store by a decoder of its own, and through SQLite, too, if that is asked for. Neither shares code with the engine that
/// reads and builds pages, so that a mistake there cannot hide itself here (I12).
///
/// The file is opened read-only and unchanged by anyone: no lock is taken, no -wal or -shm is made. Two threads work,
/// each with a small cache; sorting keys that have no index may use SQLite's temporary files.
public struct StoreVerifier: Sendable {
  /// What is known of a store that was built just now.
  public struct Expectation: Sendable {
    /// The store's identity.
    public var uuid: String
    /// Rows by table name.
    public var rows: [String: UInt64]
    /// Tables that may be there although neither the model nor ``rows`` has them.
    public var otherTables: Set<String>
    /// Whether names are exactly the model's, and tables or columns beyond them violations. Otherwise they are
    /// warnings, as stores that Core Data migrated have them.
    public var hasModelNames: Bool
    /// What the tables must be found to hold, by name; others are not compared.
    public var digests: [String: ProofDigest]
    /// Whether the file was written by the engine alone. Then it has no byte without a meaning.
    public var isDense: Bool
    /// What was proved while the store was written.
    package var early: EarlyVerification?
    /// Whether the store is a sample, whose keys may lead out of it: nobody looks which ones do.
    package var isSample = false

    /// Makes an expectation.
    public init(
      uuid: String, rows: [String: UInt64], otherTables: Set<String> = [], hasModelNames: Bool = true,
      digests: [String: ProofDigest] = [:], isDense: Bool = false
    ) {
      (self.digests, self.isDense) = (digests, isDense)
      self.uuid = uuid
      self.rows = rows
      self.otherTables = otherTables
      self.hasModelNames = hasModelNames
    }
  }

  private let path: String
  private let model: ManagedObjectModel
  private let fileSystem: any FileSystem

  /// Prepares the verification of a store against its model.
  public init(path: String, model: ManagedObjectModel, fileSystem: any FileSystem = LocalFileSystem()) {
    self.path = path
    self.model = model
    self.fileSystem = fileSystem
  }

  /// Verifies the store.
  ///
  /// - Parameters:
  ///   - expectation: what a store must be that was built just now; nil for any other.
  ///   - mode: who judges; `none` counts as `fast`.
  ///   - memory: what the proof's tables of keys are measured by.
  ///   - monitor: may ask the verification to stop; it throws `stopped` then, at once.
  ///   - external: where values outside the store lie, and lay in its source; without it beside the store.
  ///   - progress: fraction done and what was finished last; called on the caller's thread.
  /// - Returns: what was found. A damaged file is a finding, not an error.
  /// - Throws: ``BatchError``: `no-such-file` when there is no file; `bad-model` or `refused` for a model without
  ///   layout; `failed` when the disk fails. A store with a -wal, or the rollback journal of an unfinished change, is
  ///   read on a private copy: ``SettledStore``.
  public func verify(
    _ expectation: Expectation? = nil, mode: VerificationMode = .full, memory: MemoryBudget = .standard,
    monitor: RunMonitor? = nil, external: ExternalDataPlaces? = nil,
    progress: (Double, String) -> Void = { _, _ in }
  ) throws -> VerificationReport {
    try BatchError.border {
      let clock = ContinuousClock()
      let start = clock.now
      let settled = try SettledStore(path, fileSystem)
      defer { settled.close() }
      var report = try settled.naming {
        try verify(
          settled, expectation: expectation, mode: mode, memory: memory, monitor: monitor,
          places: external ?? ExternalDataPlaces(store: path), progress: progress)
      }
      let duration = (clock.now - start).components
      report.seconds = Double(duration.seconds) + Double(duration.attoseconds) / 1e18
      return report
    }
  }

  private func verify(
    _ settled: SettledStore, expectation: Expectation?, mode: VerificationMode, memory: MemoryBudget,
    monitor: RunMonitor?,
    places: ExternalDataPlaces, progress: (Double, String) -> Void
  ) throws -> VerificationReport {
    var run = try VerificationRun(
      path: settled.path, model: model, expectation: expectation, fileSystem: fileSystem, memory: memory,
      monitor: monitor,
      places: places)
    do {
      try run.run(mode, progress: progress)
    } catch let failure as StoreFailure where failure.isDamage {
      run.findings.add(Violation(kind: .damaged, message: "SQLite cannot read the file: \(failure.message)"))
    } catch let failure as StoreFailure {
      if failure.isInterrupt { try monitor?.throwIfStopRequested() }
      throw BatchError(
        .failed, "the verification cannot go on", hint: "Check the disk and SQLite's folder for temporary files",
        path: path, cause: failure)
    }
    return run.report(seconds: 0).named(path, note: settled.note)
  }
}
