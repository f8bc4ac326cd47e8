import CoreDataStore
import Foundation
import MigrationJobs

/// One process that worked on a store of a fleet.
public struct FleetAttempt: Sendable, Codable, Equatable {
  /// The claim's epoch: the higher one is the later owner.
  public var epoch: UInt64
  /// The machine.
  public var host: String
  /// The process.
  public var pid: Int32
  /// ISO 8601, UTC.
  public var started: String
  /// Whether there was nothing under the result's name when it began.
  public var foundNoResult: Bool
  /// ISO 8601, UTC; nil as long as it is at work, and for one that died.
  public var ended: String?
  /// How the migration ended, where it is not final.
  public var exitCode: Int32?
  /// What it said.
  public var reason: String?
  /// The store that it found; nil if it could not be looked at.
  public var found: StoreIdentity?
  /// The run whose record was beside the result's name, ``RunReport/run``; nil if there was none.
  public var record: String?

  /// One that begins now, under a claim of that owner.
  public init(_ owner: LeaseOwner, foundNoResult: Bool, found: StoreIdentity? = nil, record: String? = nil) {
    (epoch, host, pid, self.foundNoResult) = (owner.epoch, owner.host, owner.pid, foundNoResult)
    (self.found, self.record) = (found, record)
    started = Date().ISO8601Format()
  }

  /// It ended now, and the store has not.
  public mutating func end(_ exitCode: Int32, _ reason: String?) {
    (ended, self.exitCode, self.reason) = (Date().ISO8601Format(), exitCode, reason)
  }
}

/// The ledger of one store: who worked on it. Whoever has its claim writes it.
public struct FleetLedger: Sendable, Codable, Equatable {
  /// Grows when a key changes its meaning.
  public var format = 1
  /// The plan's id.
  public var plan: String
  /// The store, as the plan names it.
  public var store: String
  /// Attempts in all, those that are no longer listed included.
  public var count: UInt64 = 0
  /// How often the migration's process was ended by a signal while the one that started it lived.
  public var deaths: UInt64 = 0
  /// The newest attempts, oldest first.
  public var attempts: [FleetAttempt] = []

  private static let mostAttempts = 32

  /// Adds an attempt.
  public mutating func begin(_ attempt: FleetAttempt) {
    count &+= 1
    // The first one stays: it says what was there before all of them.
    if attempts.count >= Self.mostAttempts { attempts.remove(at: 1) }
    attempts.append(attempt)
  }
}

/// How a store of a fleet ended: written once, and never changed.
public struct FleetEnd: Sendable, Codable, Equatable {
  /// What became of the store.
  public enum Outcome: String, Sendable, Codable, CaseIterable {
    /// Migrated, or nothing was to be done.
    case done
    /// Migrated, and objects were set aside, within what was allowed.
    case rejected
    /// Not migrated by the fleet.
    case failed
  }

  /// Grows when a key changes its meaning.
  public var format = 1
  /// The plan's id.
  public var plan: String
  /// The store, as the plan names it.
  public var store: String
  /// What became of it.
  public var outcome: Outcome
  /// The code that the migration ended with.
  public var exitCode: Int32
  /// Why; nil if nothing is to be said.
  public var reason: String?
  /// Bytes of the result; 0 if there is none.
  public var bytes: UInt64
  /// The machine that ended it.
  public var host: String
  /// The process.
  public var pid: Int32
  /// The epoch of its claim.
  public var epoch: UInt64
  /// Attempts in all.
  public var attempts: UInt64
  /// When the first attempt began; ISO 8601, UTC.
  public var started: String
  /// ISO 8601, UTC.
  public var ended: String

  /// One of now. `ledger` has the attempts, the last one included.
  public init(
    _ outcome: Outcome, exitCode: Int32, reason: String?, bytes: UInt64, after ledger: FleetLedger, by owner: LeaseOwner
  ) {
    (plan, store, self.outcome, self.exitCode) = (ledger.plan, ledger.store, outcome, exitCode)
    (self.reason, self.bytes, attempts) = (reason, bytes, ledger.count)
    (host, pid, epoch) = (owner.host, owner.pid, owner.epoch)
    ended = Date().ISO8601Format()
    started = ledger.attempts.first?.started ?? ended
  }
}
