import Codecs
import Foundation

/// How fast this machine's processors are tried with work that is the same everywhere.
enum ProcessorSpeed {
  private static let bytes = [UInt8](repeating: 0x5A, count: 64 << 10)
  /// What a try took on the machine whose seconds are the constants of ``Rehearsal``.
  private static let common = 0.00024

  /// How many times as long as on that machine work takes here: the best of some tries, a few milliseconds in all, once
  /// in a process.
  static let slowness =
    ((0..<7).map { _ in seconds { _ = SHA256.hash(bytes, portable: true) } }.min() ?? common) / common

  /// Seconds that all threads of this process have had of a processor so far.
  static var used: Double {
    var time = timespec()
    guard clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return 0 }
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// How many processors this process may use, at least 1.
  static var count: Int { max(1, ProcessInfo.processInfo.activeProcessorCount) }

  static func seconds(_ body: () throws -> Void) rethrows -> Double {
    let begin = ContinuousClock.now
    try body()
    return (ContinuousClock.now - begin) / .seconds(1)
  }
}
