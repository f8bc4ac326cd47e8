import Foundation
import GRDB
import Streams

/// A small deterministic generator, so that a printed seed repeats a case.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }
  mutating func next() -> UInt64 {
    state = state &+ 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}

extension SeededGenerator {
  /// A value of any storage class, edge values often.
  mutating func value(longest: Int) -> Value {
    switch below(8) {
    case 0: return .null
    case 1: return .integer([0, 1, -1, 127, -128, 32767, 1 << 23, -1 << 31, 1 << 47, .max, .min][below(11)])
    case 2, 3: return .integer(Int64(truncatingIfNeeded: next() >> UInt64(below(64))))
    case 4: return .real(Double(below(2_000_000)) / 7 - 100_000)
    case 5: return .blob((0..<below(longest)).map { _ in UInt8(truncatingIfNeeded: next()) })
    case 6:
      // Short, so that values meet that collations take for equal.
      return .text((0..<below(5)).map { _ in ["a", "A", " ", "b", "é", "漢", "😀", "\0"][below(8)] }.joined())
    default: return .text(String(repeating: ["a", "é", "Z", "0", "漢", "😀", "b "][below(7)], count: below(longest)))
    }
  }
}

extension Value {
  /// The same value for GRDB, which reads what the engine wrote.
  var databaseValue: DatabaseValue {
    switch self {
    case .null: .null
    case .integer(let value): value.databaseValue
    case .real(let value): value.databaseValue
    case .text(let value): value.databaseValue
    case .blob(let value): Data(value).databaseValue
    }
  }
}

/// A directory that is removed when it is no longer used.
final class TemporaryDirectory {
  let path: String
  init() throws {
    path = FileManager.default.temporaryDirectory.appendingPathComponent("godwit-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }
  deinit { try? FileManager.default.removeItem(atPath: path) }
  func file(_ name: String) -> String { path + "/" + name }
}
