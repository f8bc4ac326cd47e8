import Foundation
import Migrations
import RunSupport
import StoreVerification
import Streams

/// What a run was asked to do, kept in the job directory so that a resume needs nothing else (I6). Layout: FORMAT.md,
/// "Plan".
struct JobPlan: Codable, Equatable {
  static let currentFormat = 12
  /// In runs of format 11 rows were hashed in another way: they resume, and their digests are not compared.
  static let readFormats = 11...currentFormat

  var format = JobPlan.currentFormat
  /// Absolute path of the source.
  var source: String
  /// Absolute path of the destination.
  var destination: String
  /// Versions before and after.
  var sourceVersion: String
  var targetVersion: String
  /// Where the migration leads, and what becomes of history and CloudKit's tables.
  var target: MigrationTarget
  var extras: ExtrasOptions
  /// Which rules of the model new objects of mapped steps must keep; nil for all.
  var validation: ValidationMode?
  /// Which version follows which, by checksums; nil if the bundles or stages say it.
  var successors: [String: String]?
  /// The stages of a staged migration.
  var stages: StagedMigration?
  /// Whether several steps are made in one pass if the result is the same.
  var fuses: Bool
  /// How consecutive inferred steps are made; nil for what keeps most.
  var inference: InferencePath?
  /// Whether the source's version is the one that its tables fit; nil if it is that of its metadata.
  var fromTables: Bool?
  /// Which parts of the steps are made; nil for all.
  var parts: PartSelection?
  /// Passes over all rows: steps of the path, of which some may be made of several.
  var steps: Int
  /// Copies of models and mapping models, relative to the job directory.
  var models: [String]
  var mappings: [String]
  /// The instant that `now()` stands for, in seconds since 2001 (I8).
  var now: Double
  /// Peak memory in bytes.
  var memory: Int
  /// Seconds between checkpoints, or nil when they are counted in bytes.
  var checkpointSeconds: Double?
  var checkpointBytes: UInt64?
  /// How the finished store is proved before the cut-over.
  var verification: VerificationMode
  /// Who builds the indexes.
  var indexBuilding: IndexBuilding
  var backupSuffix: String
  /// How many backups stay after the cut-over; nil for all.
  var keepsBackups: BackupLimit?
  /// The path of the file that holds the cut-over as long as it is there; nil if none does.
  var heldBy: String?
  /// How many objects that cannot be migrated are rejected; nil if the first one ends the run.
  var rejects: RejectPlan?
  /// What may be lost that the version history does not drop; nil for nothing.
  var consent: LossConsent?
  /// Options of the command that asked for the run: all but the store's path and the output. Nil if there was no
  /// command.
  var arguments: [String]?
  /// What the program is called that began the run: one with its policies. Nil in older runs.
  var program: String?
  /// Who asked for the run, if it was not a person.
  var origin: String?
  /// The file that the source was made of, for reports; nil if a person named the source.
  var madeFrom: RunHistory.SourceFile?
  /// Which run it is, for its history: the token of the lease that it began with. Nil in older runs.
  var token: String?
  /// What a person should know, as the plan says it.
  var notes: [String]
  /// Hexadecimal: the plan, the source and the policies that the run began with.
  var planFingerprint: String
  var sourceFingerprint: String
  /// What the last `resume --mappings` changed; nil if there was none.
  var correction: PlanCorrection?
  /// Last change of the source's main file, nanoseconds since 1970: in WAL mode a write can leave fingerprint and log
  /// as they were.
  var sourceModified: Int64?
  /// The number of its file, which distinguishes a store that was replaced from one that was written to.
  var sourceInode: UInt64?
  /// Policy class names and versions.
  var policies: [String: String]

  /// Whether the digests of rows are those that a verification computes.
  var hasOwnDigests: Bool { format == Self.currentFormat }

  var isInPlace: Bool { source == destination }

  /// What a person calls the source.
  var namedSource: String { madeFrom?.path ?? source }

  /// Lets a file hold the cut-over, from wherever the run is resumed; with nil what held it does so still.
  mutating func hold(by path: String?) { if let path { heldBy = URL(fileURLWithPath: path).path } }

  /// The file that holds the cut-over, if it is there.
  func holder(_ fileSystem: any FileSystem) throws -> String? {
    try heldBy.flatMap { try fileSystem.status($0) == nil ? nil : $0 }
  }

  var order: VersionOrder { stages.map { .stages($0) } ?? successors.map { .successors($0) } ?? .names }

  /// The program that goes on with the run: this one if it has the policies, else the one that began it. A file may come
  /// from anywhere, so it can only name a program that the registry knows.
  func program(_ policies: PolicyRegistry, _ registry: JobRegistry) -> String {
    guard let program, missingPolicy(policies) != nil, registry.knows(program: program) else {
      return ProgramName.current
    }
    return program
  }

  /// A policy of the run that a program with these policies lacks; nil if it has them all.
  func missingPolicy(_ policies: PolicyRegistry) -> String? { self.policies.keys.sorted().first { !policies.has($0) } }

  /// Which run it is: a history of another one is not continued.
  var name: String { "\(now) \(token ?? planFingerprint)" }

  var interval: RunMonitor.Interval {
    checkpointBytes.map { .bytes($0) } ?? .seconds(checkpointSeconds ?? 1)
  }

  /// Lets more be lost.
  mutating func add(_ consent: LossConsent) {
    if consent != LossConsent() { self.consent = (self.consent ?? LossConsent()).union(consent) }
  }

  func write(to job: JobDirectory, _ fileSystem: any FileSystem) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    try fileSystem.writeDurably([UInt8](try encoder.encode(self)), to: job.plan)
  }

  /// The plan of a job directory that was moved with its destination, and with its source where that lay beside it.
  private func moved(to job: JobDirectory) -> JobPlan {
    var plan = self
    let (old, new) = (FilePaths.directory(of: destination), FilePaths.directory(of: job.destination))
    if isInPlace {
      plan.source = job.destination
    } else if FilePaths.directory(of: source) == old {
      plan.source = FilePaths.join(new, FilePaths.name(of: source))
    }
    plan.destination = job.destination
    return plan
  }

  /// Whether a time of change is that of the source at the beginning. Archives keep whole seconds only.
  func isSourceTime(_ time: Int64) -> Bool { sourceModified.map { Self.isSame(time, as: $0) } ?? true }

  /// A copied file may have whole seconds.
  static func isSame(_ time: Int64, as before: Int64) -> Bool {
    let second: Int64 = 1_000_000_000
    return time == before || (time % second == 0 && time / second == before / second)
  }

  static func read(_ job: JobDirectory, _ fileSystem: any FileSystem) throws -> JobPlan {
    let bytes = try fileSystem.readAll(job.plan, cap: 1 << 20)
    let giveUp = ProgramName.command("clean", "--all", job.destination)
    do {
      let plan = try JSONDecoder().decode(JobPlan.self, from: Data(bytes))
      guard readFormats.contains(plan.format) else {
        throw BatchError(
          .badCheckpoint, "the run was begun by another version of the program (plan format \(plan.format))",
          hint: "Finish it with that version, or give it up with \(giveUp)", next: [giveUp.line], path: job.plan)
      }
      return plan.moved(to: job)
    } catch let error as DecodingError {
      throw BatchError(
        .badCheckpoint, "the plan of the run is damaged",
        hint: "Give the run up with \(giveUp), then migrate again", next: [giveUp.line], path: job.plan, cause: error)
    }
  }
}
