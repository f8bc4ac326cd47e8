import DiskSimulation
import Foundation
import Streams
import Testing

@testable import MigrationJobs
@testable import RunSupport

// Longer with GODWIT_DAMAGE_CASES; a hang shows as one, since no case takes longer than a migration.
@Suite("A job directory with a damaged file")
struct DamagedJobTests {
  private static let cases = ProcessInfo.processInfo.environment["GODWIT_DAMAGE_CASES"].flatMap { Int($0) } ?? 24
  private static let firstSeed = UInt64(
    ProcessInfo.processInfo.environment["GODWIT_DAMAGE_SEED"].flatMap { Int($0) } ?? 0)

  /// The share of a run's changes that are done when it is killed: rows, late changes, cut-over.
  @Test(
    "I6: it is refused, or the run ends as undisturbed; never a trap, a hang, or memory without bound",
    arguments: [0.5, 0.65, 0.8, 0.88, 0.93])
  func anyFile(share: Double) throws {
    let migration = try DiskCase.policies.make()
    let change = Int(share * Double(migration.events.count))
    var results: [String: Int] = [:]
    for number in 0..<Self.cases / 4 {
      let seed = Self.firstSeed + UInt64(number)
      let stage = try migration.stage()
      try kill(migration, stage, at: change)
      let damage = try Damage(stage, seed: seed)
      let note = "killed at \(change), seed \(seed): \(damage.name)"
      do {
        _ = try migration.folder.job().resume(stage.store) { RunMonitor(interval: $0) }
        let isSame = try migration.isFinished(stage)
        #expect(isSame || !damage.isChecked, "\(note): the result differs")
        results[isSame ? "finished" : "finished otherwise", default: 0] += 1
      } catch let error where error is BatchError || error is StreamsError {
        results["refused", default: 0] += 1
        try migration.checkStores(stage)
      } catch { Issue.record("\(note): an error of another kind: \(error)") }
      try stage.remove()
    }
    print("damaged jobs: killed at \(change) of \(migration.events.count), \(results)")
  }

  private func kill(_ migration: DiskMigration, _ stage: DiskMigration.Stage, at change: Int) throws {
    let disk = try SimulatedDisk(stage.directory, faults: [change: .kill(.after)])
    #expect(throws: (any Error).self) {
      try migration.folder.job(disk).migrate(stage.request, monitor: RunMonitor(interval: stage.request.interval))
    }
  }
}

/// One damaged file of a job.
private struct Damage {
  let name: String
  /// Does a check value tell the damage, or a comparison with the source?
  let isChecked: Bool

  init(_ stage: DiskMigration.Stage, seed: UInt64) throws {
    var random = DiskRandom(seed: seed)
    let job = try JobDirectory(destination: stage.destination).path
    let enumerator = FileManager.default.enumerator(atPath: job)
    let names = (enumerator?.allObjects as? [String] ?? []).filter { name in
      // Pages of the new store have no check value before the verification, and copies of models are many.
      !name.contains(".sqlite") && !name.hasPrefix("models/") && !name.hasPrefix("mappings/")
        && (try? LocalFileSystem().status("\(job)/\(name)")?.isDirectory) == false
    }
    let name = names.sorted()[random.below(names.count)]
    let bytes = [UInt8](try MigrationFolder.bytes("\(job)/\(name)"))
    if name.hasPrefix("checkpoints/"), random.flag(), let forged = try? Self.forged(bytes, &random) {
      try Data(forged).write(to: URL(fileURLWithPath: "\(job)/\(name)"))
      (self.name, isChecked) = ("forged " + name, false)
      return
    }
    try Data(DamagedBytes.make(bytes, &random)).write(to: URL(fileURLWithPath: "\(job)/\(name)"))
    (self.name, isChecked) = (name, true)
  }

  /// A checkpoint whose check values are right and whose contents are not, which no bad disk makes.
  private static func forged(_ bytes: [UInt8], _ random: inout DiskRandom) throws -> [UInt8] {
    var checkpoint = try UnverifiedCheckpoint(bytes).verified()
    let name = checkpoint.sections.keys.sorted()[random.below(checkpoint.sections.count)]
    checkpoint.sections[name] = DamagedBytes.make(checkpoint.sections[name] ?? [], &random)
    return try checkpoint.encoded()
  }
}
