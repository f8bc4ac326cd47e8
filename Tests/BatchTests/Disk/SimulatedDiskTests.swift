import DiskSimulation
import Foundation
import Streams
import Testing

// All of it, and many more random migrations: scripts/simulate-disk.
@Suite("On a disk that loses, tears and refuses what was not synced")
struct SimulatedDiskTests {
  private static func setting(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }

  /// Runs of every fault at every change, the second half of them with a power loss in the recovery; nil for a few of
  /// each.
  private static let thoroughness = setting("GODWIT_DISK_ALL")
  private static let cases = setting("GODWIT_DISK_CASES") ?? 8
  private static let firstSeed = UInt64(setting("GODWIT_DISK_SEED") ?? 0)
  private static let chunk = 4

  /// Every way of failing at one change of a run.
  private static func faults(at event: String) -> [SimulatedFault] {
    var faults: [SimulatedFault] = [
      .powerLoss(.before), .powerLoss(.after), .failure(.inputOutput), .failure(.diskFull),
    ]
    if event.hasPrefix("write") { faults.append(.shortWrite) }
    return faults
  }

  private func report(_ name: String, _ runs: Int, _ broken: [String]) {
    print("simulated disk: \(name), \(runs) runs, \(broken.count) broken")
    for text in broken.prefix(5) { Issue.record("\(name): \(text)") }
    #expect(broken.isEmpty)
  }

  @Test(
    "I1 to I5, I9, I10, traps 3, 17, 18, 21: whatever fails at any change, a store is whole, and the end is that of an undisturbed run",
    arguments: DiskCase.allCases)
  func anyChange(of name: DiskCase) throws {
    let migration = try name.make()
    let count = migration.events.count
    var (runs, broken) = (0, [String]())
    for change in stride(from: 1, through: count, by: Self.thoroughness == nil ? count / 6 : 1) {
      for (kind, fault) in Self.faults(at: migration.events[change - 1]).enumerated() {
        guard Self.thoroughness != nil || (change + kind) % 4 == 0 else { continue }
        let repetitions = Self.thoroughness ?? 1
        for number in 0..<repetitions {
          var random = DiskRandom(seed: UInt64((change * 8 + kind) * 64 + number))
          let again: SimulatedFault = random.flag() ? .powerLoss(.before) : .failure(.diskFull)
          let second: [[Int: SimulatedFault]] = number * 2 < repetitions ? [] : [[1 + random.below(count): again]]
          runs += 1
          do { try migration.run(seed: random.next(), [[change: fault]] + second) } catch { broken.append("\(error)") }
        }
      }
    }
    report("\(name.rawValue), \(count) changes", runs, broken)
  }

  /// `GODWIT_DISK_SEED=N GODWIT_DISK_CASES=1` repeats a case.
  @Test("Random migrations with random faults end as undisturbed ones", arguments: 0..<(cases + chunk - 1) / chunk)
  func random(part: Int) throws {
    var (runs, broken) = (0, [String]())
    for number in part * Self.chunk..<min(Self.cases, (part + 1) * Self.chunk) {
      let seed = Self.firstSeed + UInt64(number)
      // Another seed in the oracle's sense when the migration is one that is refused.
      guard let migration = try OracleCase(seed: seed).onSimulatedDisk() else { continue }
      var random = DiskRandom(seed: seed)
      for _ in 0..<4 {
        let faults = (0...random.below(3)).map { _ in Self.randomFaults(migration.events.count, &random) }
        runs += 1
        do { try migration.run(seed: random.next(), faults) } catch { broken.append("case \(seed), \(error)") }
      }
    }
    report("seeds from \(Self.firstSeed + UInt64(part * Self.chunk))", runs, broken)
  }

  private static func randomFaults(_ count: Int, _ random: inout DiskRandom) -> [Int: SimulatedFault] {
    let kinds: [SimulatedFault] = [
      .powerLoss(.before), .powerLoss(.after), .kill(.before), .kill(.after), .failure(.inputOutput),
      .failure(.diskFull),
      .shortWrite,
    ]
    let pairs = (0..<2).map { _ in (1 + random.below(count), kinds[random.below(kinds.count)]) }
    return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
  }
}
