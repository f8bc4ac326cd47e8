import Glibc
import Streams

/// Waits for others that have a store for a moment only: a plan, an inspection, a run that is about to end.
struct Patience {
  /// Seconds to wait for another program.
  private static let longest = 2.0
  /// Seconds to wait for processes of this program: they let go, but on a busy machine a plan of a small store takes
  /// seconds.
  private static let longestForOwn = 20.0
  /// Looks in a row that may find nobody. An owner may let go between an attempt and the look, and the next one may
  /// come at once; but an owner that the kernel never shows, as in another container, is waited for no longer.
  private static let mostUnseen = 5
  private static let pause: UInt32 = 20_000

  private let begin = ContinuousClock.now
  private var unseen = 0

  private init() {}

  /// Asks until the answer is yes, for two seconds at most, or twenty while only this program has the file at `path`;
  /// the last answer.
  static func wait(for path: String, _ ask: () throws -> Bool) throws -> Bool {
    var patience = Patience()
    while try !ask() {
      guard patience.lasts(path) else { return false }
      usleep(pause)
    }
    return true
  }

  /// Does what a lock on the file at `path` may keep from being done, again and again, as long as ``wait(for:_:)``
  /// asks. `mayGoOn` throws to end the waiting earlier.
  static func whileLocked<Result>(
    _ path: String, _ body: () throws -> Result, mayGoOn: () throws -> Void = {}
  ) throws -> Result {
    var patience = Patience()
    while true {
      do {
        return try body()
      } catch let error as StreamsError where error.code == .locked {
        try mayGoOn()
        guard patience.lasts(path) else { throw error }
        usleep(pause)
      }
    }
  }

  private mutating func lasts(_ path: String) -> Bool {
    let waited = ContinuousClock.now - begin
    if waited < .seconds(Self.longest) { return true }
    guard waited < .seconds(Self.longestForOwn) else { return false }
    switch FileUsers.holder(path) {
    case .otherProgram: return false
    case .thisProgram:
      unseen = 0
      return true
    case nil:
      unseen += 1
      return unseen <= Self.mostUnseen
    }
  }
}
