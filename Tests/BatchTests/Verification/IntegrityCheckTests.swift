import Foundation
import Streams
import Testing

@testable import MigrationJobs
@testable import RunSupport
@testable import StoreVerification

/// Mutated stores of several kinds, looked at by SQLite's integrity_check and by a full verification.
/// `GODWIT_INTEGRITY_CASES=N` makes N mutations, `GODWIT_INTEGRITY_SEED` the first seed; scripts/integrity-campaign does
/// both.
@Suite("A full verification beside SQLite's integrity_check") struct IntegrityCheckTests {
  /// Who found what SQLite finds.
  struct Tally {
    var sound = 0
    var byProof = 0
    /// Conditions and expressions of tables that are not Core Data's: they are SQLite's to evaluate.
    var bySQLite = 0
    /// Files that SQLite does not open.
    var unopened = 0
    var missed = 0
    var kinds: [String: Int] = [:]
  }

  @Test("Whatever integrity_check or rtreecheck finds in a mutated store, a full verification finds; intact ones pass")
  func mutations() throws {
    let count = ProofMutationTests.setting("GODWIT_INTEGRITY_CASES", 150)
    let first = ProofMutationTests.setting("GODWIT_INTEGRITY_SEED", 1)
    var (tally, stores) = (Tally(), [IntegrityStore]())
    for seed in first..<first + count {
      if stores.isEmpty || seed % Self.mutationsOfStores == 0 {
        stores = try Self.intact(UInt64(seed / Self.mutationsOfStores + 1))
      }
      var random = SeededRandom(UInt64(seed))
      let store = stores[seed % stores.count]
      let mutation = try store.mutate(&random)
      let wrong = store.integrityCheck()
      guard !wrong.isEmpty else {
        tally.sound += 1
        continue
      }
      tally.kinds[mutation.name, default: 0] += 1
      for form in store.forms where !Self.add(try form.verify(mutation.isRaw), to: &tally) {
        let kept = "\(FileManager.default.temporaryDirectory.path)/godwit-integrity-\(seed).sqlite"
        try MigrationFolder.bytes(store.path).write(to: URL(fileURLWithPath: kept))
        let what = "seed \(seed), \(store.name), \(form.name), \(mutation.name)"
        Issue.record("\(what): SQLite finds \(wrong.prefix(3)); the store is kept: \(kept)")
      }
    }
    print(
      "integrity: of \(count) mutations (first seed \(first)) SQLite found \(count - tally.sound); the proof \(tally.byProof), "
        + "SQLite for it \(tally.bySQLite), not opened \(tally.unopened), missed \(tally.missed): "
        + "\(tally.kinds.sorted { $0.key < $1.key })")
  }

  /// So many mutations are of the same stores; then others are made.
  private static let mutationsOfStores = 500

  /// Stores with nothing wrong, which both must find.
  private static func intact(_ seed: UInt64) throws -> [IntegrityStore] {
    let stores = try IntegrityStore.all(seed: seed)
    for store in stores {
      #expect(store.integrityCheck() == [], "stores of seed \(seed), \(store.name)")
      for form in store.forms {
        #expect(
          try form.verify(true).map(\.description) == [], "stores of seed \(seed), \(store.name), \(form.name)")
      }
    }
    return stores
  }

  @Test("A run whose plan says full resumes, is verified, and ends with the bytes of an undisturbed one")
  func resumed() throws {
    let folder = try MigrationFolder([VerificationStore.model()])
    let source = try VerificationStore(seed: 5)
    func request(_ name: String) throws -> MigrationJob.Request {
      var request = folder.request(source.path, output: try folder.place(name))
      (request.target, request.verification) = (.identity, .full)
      return request
    }
    let (whole, first) = (DyingFileSystem(), try request("whole"))
    #expect(try folder.job(whole).migrate(first, monitor: RunMonitor(interval: first.interval)).isVerified)
    let second = try request("killed")
    _ = try? folder.job(DyingFileSystem(at: whole.calls * 2 / 3)).migrate(
      second, monitor: RunMonitor(interval: second.interval))
    let path = try #require(second.output)
    let plans = try FileManager.default.subpathsOfDirectory(atPath: FilePaths.directory(of: path))
      .filter { $0.hasSuffix("plan.json") }.map { FilePaths.join(FilePaths.directory(of: path), $0) }
    #expect(
      try String(contentsOfFile: try #require(plans.first), encoding: .utf8).contains(#""verification" : "full""#))
    #expect(try folder.job().resume(path) { RunMonitor(interval: $0) }.isVerified)
    #expect(try MigrationFolder.bytes(path) == MigrationFolder.bytes(try #require(first.output)))
  }

  /// Counts who found it; false if nobody did.
  private static func add(_ violations: [Violation], to tally: inout Tally) -> Bool {
    func isOwn(_ violation: Violation) -> Bool {
      !violation.message.contains("SQLite") && !violation.message.contains("cannot be read")
    }
    if violations.contains(where: isOwn) {
      tally.byProof += 1
    } else if violations.contains(where: { $0.message.contains("SQLite reports") }) {
      tally.bySQLite += 1
    } else if !violations.isEmpty {
      tally.unopened += 1
    } else {
      tally.missed += 1
      return false
    }
    return true
  }
}
