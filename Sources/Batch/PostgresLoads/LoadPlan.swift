import Codecs
import CoreDataModel
import MappingModels
import MigrationJobs
import Migrations
import RunSupport
import StoreVerification
import Streams

/// What a load was asked to do, and what is known of it. FORMAT.md, section 10.1.
struct LoadPlan: Codable, Equatable {
  static let currentFormat = 3

  /// What came of the migration in front.
  struct Migrated: Codable, Equatable {
    var steps: Int
    var rowsRead: UInt64
    /// Objects that it set aside.
    var rejects: RejectReport?

    init(_ report: MigrationJob.Report) { (steps, rowsRead, rejects) = (report.steps, report.rowsRead, report.rejects) }
  }

  var format = Self.currentFormat
  /// Absolute path of the store that was named.
  var source: String
  /// Whether it is migrated first. Then the migrated store is loaded.
  var isMigrated: Bool
  var sourceVersion: String
  var version: String
  var options: PostgresOptions
  /// What of the address may be shown, which is all but passwords.
  var server: String
  var memory: Int
  var seconds: Double?
  var bytes: UInt64?
  var verification: VerificationMode
  /// Whether the server has the tables and the book. Then one without them is another server.
  var isOnServer = false
  /// What was loaded and proved: then the book on the server is all that is left.
  var outcome: PostgresLoad.Outcome?
  /// What the named store was when the load began.
  var state: StoreState
  /// What the tables get as a comment when the load is finished, see ``mark(_:steps:)``.
  var mark = ""
  /// Nil as long as the migration is not finished.
  var migrated: Migrated?
  /// Options of the command that began the load: what is migrated to what.
  var arguments: [String]?

  init(
    _ request: MigrationJob.Request, plan: MigrationPlan, options: PostgresOptions, server: PostgresServer,
    _ fileSystem: any FileSystem
  ) throws {
    source = try JobDirectory(destination: request.source).destination
    state = try StoreState(source, fileSystem)
    isMigrated = !plan.isUpToDate && request.target != .identity
    (sourceVersion, version) = (plan.sourceVersion.name, plan.targetVersion.name)
    (self.options, self.server) = (options, server.address.shown)
    (memory, verification, arguments) = (request.memory.total, request.verification, request.arguments)
    switch request.interval {
    case .seconds(let seconds): self.seconds = seconds
    case .bytes(let bytes): self.bytes = bytes
    }
  }

  /// What distinguishes the finished load from any other: tables, steps, options, and the store as it is.
  func mark(_ statements: PostgresStatements, steps: [UInt8]) -> String {
    let words = [statements.script, state.fingerprint, "\(state.modified)"] + (arguments ?? [])
    return PlanFingerprint.hex(SHA256.hash(Array(words.joined(separator: "\0").utf8) + steps))
  }

  /// Whether the named store was written to since the load began. A store that is gone cannot be: of a migrated one all
  /// is in the folder.
  func hasChanged(_ fileSystem: any FileSystem) throws -> Bool {
    guard try fileSystem.status(source) != nil else { return false }
    return try !StoreState(source, fileSystem).isSame(as: state)
  }

  /// When transactions end.
  var interval: RunMonitor.Interval { bytes.map { .bytes($0) } ?? .seconds(seconds ?? 1) }
  /// Where the rows go, for people.
  var place: String { "\(PostgresServer(url: server).withoutPassword), schema \(options.schema)" }
}

extension StoreState {
  /// Whether it is the state of a store that may have been copied in between. Archives keep whole seconds only.
  func isSame(as earlier: StoreState) -> Bool {
    let second: Int64 = 1_000_000_000
    let isTime =
      modified == earlier.modified || (modified % second == 0 && modified / second == earlier.modified / second)
    return fingerprint == earlier.fingerprint && isTime
  }
}
