import Glibc
import Streams

/// Waits for others that have a store for a moment only: a plan, an inspection, a run that is about to end.
enum Patience {
  /// Seconds to wait for another program.
  private static let longest = 2.0
  /// Seconds to wait for processes of this program: they let go, but on a busy machine a plan of a small store takes seconds.
  private static let longestForOwn = 20.0
  private static let pause: UInt32 = 20_000

  /// Asks until the answer is yes, for two seconds at most, or twenty where only this program has the file at `path`; the last answer.
  static func wait(for path: String, _ ask: () throws -> Bool) throws -> Bool {
    let begin = ContinuousClock.now
    while try !ask() {
      guard mayWait(since: begin, path) else { return false }
      usleep(pause)
    }
    return true
  }

  /// Does what a lock on the file at `path` may keep from being done, again and again, as long as ``wait(for:_:)`` asks. `mayGoOn` throws to
  /// end the waiting earlier.
  static func whileLocked<Result>(
    _ path: String, _ body: () throws -> Result, mayGoOn: () throws -> Void = {}
  ) throws -> Result {
    let begin = ContinuousClock.now
    while true {
      do {
        return try body()
      } catch let error as StreamsError where error.code == .locked {
        try mayGoOn()
        guard mayWait(since: begin, path) else { throw error }
        usleep(pause)
      }
    }
  }

  private static func mayWait(since begin: ContinuousClock.Instant, _ path: String) -> Bool {
    let waited = ContinuousClock.now - begin
    return waited < .seconds(longest) || waited < .seconds(longestForOwn) && FileUsers.isLockedByFilesAlone(path)
  }
}
