import Foundation
import MigrationJobs
import RunSupport
import Streams

/// The folder in which the tasks of a fleet write down what became of the stores: on storage that all of them share.
/// FORMAT.md, section 9.2.
///
/// A store is called by its number in the plan, six digits. It has a claim while somebody works on it, a ledger from
/// its first attempt on, and an end, once (I13).
public struct FleetState: Sendable {
  private static let cap = 1 << 20

  /// The folder.
  public let directory: String
  /// Who works on what.
  public let claims: FleetClaims
  private let plan: FleetPlan
  private let fileSystem: any FileSystem

  /// The state of a plan; without a folder it is `fleet-<begin of the id>.state` beside the plan's file. Nothing is
  /// written.
  public init(
    _ plan: FleetPlan, planPath: String, directory: String? = nil, _ fileSystem: any FileSystem = LocalFileSystem()
  ) {
    self.directory =
      directory
      ?? FilePaths.join(FilePaths.directory(of: planPath), "fleet-\(plan.id.prefix(12)).state")
    claims = FleetClaims(directory: FilePaths.join(self.directory, "claims"), fileSystem)
    (self.plan, self.fileSystem) = (plan, fileSystem)
  }

  private var ledgers: String { FilePaths.join(directory, "ledgers") }
  private var ends: String { FilePaths.join(directory, "ends") }

  /// Makes the folders, durably; existing ones are kept.
  ///
  /// - Throws: ``BatchError``.
  public func create() throws {
    try BatchError.border {
      for path in [directory, claims.directory, ledgers, ends] { try fileSystem.makeDirectory(path) }
      try fileSystem.syncDirectory(directory)
      try fileSystem.syncDirectory(FilePaths.directory(of: directory))
    }
  }

  /// What a store is called here.
  public static func name(_ number: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 6 - digits.count)) + digits
  }

  /// Whether the store has ended. Its end is not read. Opening the folder first makes a network file system forget
  /// which files were not there.
  ///
  /// - Throws: ``BatchError``.
  public func isEnded(_ number: Int) throws -> Bool {
    try BatchError.border {
      _ = try fileSystem.hold(ends)
      return try fileSystem.status(endPath(number)) != nil
    }
  }

  /// The numbers of all stores that have ended.
  ///
  /// - Throws: ``BatchError``.
  public func ended() throws -> Set<Int> {
    try BatchError.border {
      guard try fileSystem.status(ends) != nil else { return [] }
      return Set(try fileSystem.list(ends).compactMap { $0.hasSuffix(".json") ? Int($0.dropLast(5)) : nil })
    }
  }

  /// How a store ended; nil if it has not.
  ///
  /// - Throws: ``BatchError``: `refused` if the file is damaged or another plan's.
  public func end(_ number: Int) throws -> FleetEnd? {
    try BatchError.border {
      let end: FleetEnd? = try read(endPath(number))
      guard end.map({ $0.plan == plan.id && $0.store == plan.stores[number].path && $0.format == 1 }) ?? true else {
        throw foreign(endPath(number))
      }
      return end
    }
  }

  /// The store's ledger; an empty one if there is none.
  ///
  /// - Throws: ``BatchError``: `refused` if the file is damaged or another plan's.
  public func ledger(_ number: Int) throws -> FleetLedger {
    try BatchError.border {
      let empty = FleetLedger(plan: plan.id, store: plan.stores[number].path)
      let ledger = try read(ledgerPath(number)) ?? empty
      guard ledger.plan == plan.id, ledger.store == empty.store, ledger.format == 1 else {
        throw foreign(ledgerPath(number))
      }
      return ledger
    }
  }

  /// Writes a ledger, durably. The caller has the store's claim.
  ///
  /// - Throws: ``BatchError``: `leaseHeld` where that is another's by now.
  public func write(_ ledger: FleetLedger, _ number: Int, under claim: FleetClaim) throws {
    try BatchError.border {
      guard claim.isHeld else { throw lost(number) }
      try fileSystem.writeDurably(try Self.bytes(ledger), to: ledgerPath(number))
    }
  }

  /// Writes how a store ended, durably, if nobody has: false where somebody was first, whose word stays. The caller has
  /// the store's claim.
  ///
  /// - Throws: ``BatchError``: `leaseHeld` where that is another's by now.
  public func finish(_ end: FleetEnd, _ number: Int, under claim: FleetClaim) throws -> Bool {
    try BatchError.border {
      let temporary = FilePaths.join(ends, "\(Self.name(number)).\(claim.owner.token).tmp")
      try fileSystem.writeAndSync(try Self.bytes(end), to: temporary)
      defer { try? fileSystem.remove(temporary) }
      guard claim.isHeld else { throw lost(number) }
      do {
        // A link, and no rename: of two that come at once one fails.
        try fileSystem.link(temporary, to: endPath(number))
      } catch {
        guard try isEnded(number) else { throw error }
        return false
      }
      try fileSystem.syncDirectory(ends)
      return true
    }
  }

  private func endPath(_ number: Int) -> String { FilePaths.join(ends, Self.name(number) + ".json") }
  private func ledgerPath(_ number: Int) -> String { FilePaths.join(ledgers, Self.name(number) + ".json") }

  private func read<Record: Decodable>(_ path: String) throws -> Record? {
    guard try fileSystem.status(path) != nil else { return nil }
    let bytes = try fileSystem.readAll(path, cap: Self.cap)
    do { return try JSONDecoder().decode(Record.self, from: Data(bytes)) } catch {
      throw BatchError(
        .refused, "what is written down of this store cannot be read",
        hint: "Look at it; removed, the store counts as not begun",
        path: path, cause: error)
    }
  }

  private static func bytes(_ record: some Encodable) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    return Array(try encoder.encode(record))
  }

  private func foreign(_ path: String) -> BatchError {
    BatchError(
      .refused, "this is of another plan", hint: "Name another folder with --state", effect: .nothingWritten, path: path
    )
  }

  private func lost(_ number: Int) -> BatchError {
    BatchError(
      .leaseHeld, "another process has taken this store over, as this one gave no sign of life",
      hint: "Leave it to that process; nothing was written since by this one", effect: .unknown,
      path: plan.stores[number].path)
  }
}
