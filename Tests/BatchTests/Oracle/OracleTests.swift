import Foundation
import Testing

/// Whole migrations held against a slow migrator that shares no code with the engine.
@Suite struct OracleTests {
  private static func setting(_ name: String, _ standard: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? standard
  }

  static let chunk = 8
  static let cases = setting("GODWIT_ORACLE_CASES", 32)
  static let firstSeed = UInt64(setting("GODWIT_ORACLE_SEED", 0))

  /// `GODWIT_ORACLE_SEED=N GODWIT_ORACLE_CASES=1` repeats a case.
  @Test(
    "Random migrations have the objects, values and relationships that a plain migrator gives, however often they are stopped",
    arguments: 0..<(cases + chunk - 1) / chunk)
  func random(part: Int) {
    let seeds = (part * Self.chunk..<min(Self.cases, (part + 1) * Self.chunk)).map { Self.firstSeed + UInt64($0) }
    var results: [String: Int] = [:]
    for seed in seeds {
      do { results[try OracleCase(seed: seed).run(), default: 0] += 1 } catch { Issue.record("\(error)") }
    }
    print("seeds from \(seeds.first ?? 0):", results.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" })
  }
}
