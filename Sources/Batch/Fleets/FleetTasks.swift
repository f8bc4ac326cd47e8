import MigrationJobs
import RunSupport
import Streams
import Synchronization

/// The tasks of a fleet as one of them sees the others: each has a claim on its own name as long as it lives.
public final class FleetTasks: Sendable {
  private struct Seen {
    var sign: FleetClaims.Sign
    var since: ContinuousClock.Instant
  }

  private static let prefix = "task-"

  private let claims: FleetClaims
  private let own: Int
  private let patience: Double
  private let heartbeat = Heartbeat()
  private let seen = Mutex<[Int: Seen]>([:])

  /// Looks at the others now, and every few seconds from now on. One that gives no sign of life for `patience` seconds
  /// counts as dead.
  public init(_ claims: FleetClaims, own: Int, patience: Double) {
    (self.claims, self.own, self.patience) = (claims, own, patience)
    heartbeat.start(every: max(1, patience / 3)) { [weak self] in self?.look() }
  }

  /// Ends the looking.
  public func stop() { heartbeat.stop() }

  /// The claim that is this task's sign of life; nil if another process of the task has it, which is no harm.
  ///
  /// - Throws: ``BatchError``.
  public func signOfLife() throws -> FleetClaim? {
    try BatchError.border {
      guard case .taken(let claim) = try claims.take(Self.name(own)) else { return nil }
      return claim
    }
  }

  /// A claim on each task that died, one after the other. Tasks that have not begun, or ended in good order, have none:
  /// they come themselves.
  ///
  /// - Throws: ``BatchError``, and what the body throws.
  public func takeOverDead(_ body: (Int) throws -> Void) throws {
    try BatchError.borderOfCaller {
      look()
      for (task, seen) in seen.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
        let isHere = seen.sign.owner?.isOnThisMachine == true
        guard isHere ? try !claims.isLocked(Self.name(task)) : ContinuousClock.now - seen.since >= .seconds(patience),
          case .taken(let claim) = try claims.takeOver(Self.name(task), seen.sign)
        else { continue }
        defer { claim.release() }
        try CallersError.marking { try body(task) }
      }
    }
  }

  private static func name(_ task: Int) -> String { prefix + FleetState.name(task) }

  // What cannot be looked at is looked at the next time.
  private func look() {
    let tasks = ((try? claims.names()) ?? []).compactMap { name in
      name.hasPrefix(Self.prefix) ? Int(name.dropFirst(Self.prefix.count)) : nil
    }
    let signs = tasks.filter { $0 != own }.compactMap { task in (try? claims.sign(Self.name(task))).map { (task, $0) } }
    seen.withLock { seen in
      let before = seen
      seen = [:]
      for case (let task, let sign?) in signs {
        seen[task] = before[task]?.sign == sign ? before[task] : Seen(sign: sign, since: .now)
      }
    }
  }
}
