import Foundation
import MigrationJobs
import Streams

/// How far a fleet is: merged from what its tasks wrote down. Nothing is written.
public struct FleetStatus: Sendable, Codable {
  /// How a store stands.
  public enum Standing: String, Sendable, Codable, CaseIterable {
    /// It ended.
    case done, rejected, failed
    /// A process works on it.
    case running
    /// Nobody works on it, but somebody did.
    case interrupted
    /// Nobody has begun.
    case waiting
    /// What is written down of it cannot be read.
    case unreadable
  }

  /// A store.
  public struct Store: Sendable, Codable {
    /// The store.
    public var path: String
    /// Where its result goes, if elsewhere.
    public var output: String?
    /// The task whose store it is.
    public var shard: Int
    /// Bytes, as the plan says.
    public var bytes: UInt64
    /// How it stands.
    public var standing: Standing
    /// The code that its last attempt ended with.
    public var exitCode: Int32?
    /// Why.
    public var reason: String?
    /// Who works on it, worked on it last, or ended it.
    public var owner: String?
    /// Attempts so far.
    public var attempts: UInt64 = 0
    /// Done, from 0 to 1, where that is known.
    public var progress: Double?
  }

  /// Grows when a key changes its meaning.
  public var format = 1
  /// The plan's id.
  public var plan: String
  /// The state's folder.
  public var state: String
  /// The plan's tasks.
  public var tasks: Int
  /// Numbers of stores by how they stand.
  public var counts: [String: Int]
  /// Bytes of all stores.
  public var bytes: UInt64
  /// Bytes of those that have ended, and of the others as far as they are.
  public var bytesDone: UInt64
  /// The stores, in the plan's order.
  public var stores: [Store]

  /// Looks at what the tasks wrote down. What cannot be read is the store's reason.
  public init(of plan: FleetPlan, in state: FleetState, job: MigrationJob) {
    (self.plan, self.state, tasks) = (plan.id, state.directory, plan.tasks)
    stores = plan.stores.indices.map { Self.store($0, plan: plan, state: state, job: job) }
    counts = Dictionary(Standing.allCases.map { ($0.rawValue, 0) }, uniquingKeysWith: +)
    for store in stores { counts[store.standing.rawValue, default: 0] += 1 }
    bytes = plan.stores.reduce(0) { $0 &+ $1.bytes }
    bytesDone = stores.reduce(0) { $0 &+ UInt64(Double($1.bytes) * max(0, min(1, $1.progress ?? 0))) }
  }

  /// How many stand so.
  public func count(_ standing: Standing) -> Int { counts[standing.rawValue] ?? 0 }

  /// Those that stand so.
  public func all(_ standing: Standing) -> [Store] { stores.filter { $0.standing == standing } }

  private static func store(_ number: Int, plan: FleetPlan, state: FleetState, job: MigrationJob) -> Store {
    let planned = plan.stores[number]
    var store = Store(
      path: planned.path, output: planned.output, shard: planned.shard, bytes: planned.bytes, standing: .waiting)
    do {
      if let end = try state.end(number) {
        store.standing = Standing(rawValue: end.outcome.rawValue) ?? .failed
        (store.exitCode, store.reason, store.attempts, store.progress) = (end.exitCode, end.reason, end.attempts, 1)
        store.owner = "process \(end.pid) on \(end.host)"
        return store
      }
      let ledger = try state.ledger(number)
      let sign = try state.claims.sign(FleetState.name(number))
      guard let last = ledger.attempts.last else { return store }
      store.attempts = ledger.count
      store.standing = try isAtWork(sign, number: number, state: state) ? .running : .interrupted
      (store.exitCode, store.reason) = (last.exitCode, last.reason)
      store.owner = "process \(last.pid) on \(last.host)"
      store.progress = (try? job.status(planned.target))?.progress?.fraction
    } catch {
      (store.standing, store.reason) = (.unreadable, "\(error)")
    }
    return store
  }

  /// Whether there is an owner that lives, as far as a look can find out. One elsewhere gave a sign within the time in
  /// which it is not replaced.
  private static func isAtWork(_ sign: FleetClaims.Sign?, number: Int, state: FleetState) throws -> Bool {
    guard let sign else { return false }
    if sign.owner?.isOnThisMachine ?? true { return try state.claims.isLocked(FleetState.name(number)) }
    return sign.age < FleetClaims.patience
  }
}

extension FleetClaims.Sign {
  /// Seconds since the last sign of life, by the clocks of two machines: for people.
  public var age: Double { Date().timeIntervalSince1970 - Double(modified) / 1e9 }
}
