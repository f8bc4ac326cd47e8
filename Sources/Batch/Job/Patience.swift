import Glibc
import Streams

/// Waits for others that have a store for a moment only: a plan, an inspection, a run that is about to end.
enum Patience {
  /// Seconds.
  private static let longest = 2.0
  private static let pause: UInt32 = 20_000

  /// Asks until the answer is yes, for two seconds at most; the last answer.
  static func wait(_ ask: () throws -> Bool) throws -> Bool {
    let end = ContinuousClock.now + .seconds(longest)
    while try !ask() {
      guard ContinuousClock.now < end else { return false }
      usleep(pause)
    }
    return true
  }

  /// Does what another program's lock may keep from being done, again and again for two seconds. `mayGoOn` throws to end the waiting earlier.
  static func whileLocked<Result>(_ body: () throws -> Result, mayGoOn: () throws -> Void = {}) throws -> Result {
    let end = ContinuousClock.now + .seconds(longest)
    while true {
      do {
        return try body()
      } catch let error as StreamsError where error.code == .locked {
        try mayGoOn()
        guard ContinuousClock.now < end else { throw error }
        usleep(pause)
      }
    }
  }
}
