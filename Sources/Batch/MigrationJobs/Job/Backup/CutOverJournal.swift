import Foundation
import RunSupport
import Streams

/// What a file was at a moment: enough to see that it was replaced or written since.
struct FileIdentity: Codable, Equatable {
  var device: UInt64
  var inode: UInt64
  var size: UInt64
  var modified: Int64
  /// Of a database the header's change counter, and the number of the change that its size is valid for; nil for any
  /// other file.
  var counters: [UInt32]?

  init(_ status: FileStatus) {
    device = status.device
    inode = status.inode
    size = status.size
    modified = status.modified
  }

  /// A database file; nil if there is no regular file of that name. Where SQLite has it open in this process, `file` is
  /// it, too: to close another descriptor of it would drop SQLite's locks.
  init?(database path: String, _ fileSystem: any FileSystem, open file: (any File)? = nil) throws {
    guard let status = try fileSystem.statusOfName(path), status.isRegularFile else { return nil }
    self.init(status)
    if let file {
      counters = try Self.counters(file)
    } else {
      let file = try fileSystem.open(path, .read)
      defer { file.close() }
      counters = try Self.counters(file)
    }
  }

  func isSameFile(as other: FileIdentity?) -> Bool { device == other?.device && inode == other?.inode }

  /// Whether it has the same bytes, as far as size, time of change and the header show.
  func hasSameContents(as other: FileIdentity?) -> Bool {
    size == other?.size && modified == other?.modified && counters == other?.counters
  }

  /// SQLite's file format, section 1.3: offsets 24 and 92.
  private static func counters(_ file: any File) throws -> [UInt32]? {
    var header = [UInt8](repeating: 0, count: 100)
    guard try header.withUnsafeMutableBytes({ try file.read(into: $0, at: 0) }) == header.count else { return nil }
    return [24, 92].map { offset in header[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) } }
  }
}

/// The old store with the files beside it that SQLite would read.
struct OldStoreIdentity: Codable, Equatable {
  var main: FileIdentity
  /// Nil when there is none or it is empty.
  var wal: FileIdentity?
  /// Nil when there is none or it is empty.
  var rollbackJournal: FileIdentity?

  /// `open` is the main file, where SQLite has it open in this process.
  init(_ path: String, _ fileSystem: any FileSystem, open: (any File)? = nil) throws {
    guard let file = try FileIdentity(database: path, fileSystem, open: open) else {
      throw BatchError(.refused, "there is no file to be replaced", path: path)
    }
    main = file
    wal = try Self.nonEmpty(path + "-wal", fileSystem)
    rollbackJournal = try Self.nonEmpty(path + "-journal", fileSystem)
  }

  private static func nonEmpty(_ path: String, _ fileSystem: any FileSystem) throws -> FileIdentity? {
    try fileSystem.statusOfName(path).flatMap { $0.size > 0 ? FileIdentity($0) : nil }
  }
}

/// `cutover.json`: written before the first change, so that whoever comes next can finish, and kept until the job ends.
/// Whatever the cut-over makes outside of the job directory is named here first. Layout: FORMAT.md, section 5.
struct CutOverJournal: Codable {
  enum Phase: String, Codable {
    /// The source was verified; nothing was changed yet, or SQLite was making the old store whole.
    case started
    /// Everything of the old store is in its main file, which is `whole`.
    case whole
    /// The same, and the backup under its final name is a copy of ours that may be unfinished.
    case copying
    /// The destination has its new contents.
    case done
  }

  /// The new store's folder of external data, which waits in the job directory beside it.
  struct Folder: Codable, Equatable {
    var device: UInt64
    var inode: UInt64
  }

  static let format = 2

  var format = CutOverJournal.format
  var phase: Phase
  /// The name of the new store inside the job directory.
  var newStore: String
  var new: FileIdentity
  /// Which store the new one is; nil if it is none of Core Data's, in tests.
  var mark: StoreMark?
  /// A path here, a name in the file: the folder may be moved.
  var destination: String
  /// Nil for a destination that did not exist.
  var backup: String?
  /// Whether the cut-over makes the backup's folder of external data.
  var makesFolder = false
  /// The backup that a rollback puts in place, and whose name then goes; nil for a migration.
  var restores: String?
  /// Nil if no folder of external data goes with the new store.
  var folder: Folder?
  /// The old store as it was when the source was verified; nil for a destination that did not exist.
  var old: OldStoreIdentity?
  /// The old main file once the old store is whole in it.
  var whole: FileIdentity?
  /// What the run says of itself when its plan is gone; nil for a rollback.
  var run: RunFacts?

  func write(_ job: JobDirectory, _ fileSystem: any FileSystem) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    let names = renamed(FilePaths.name(of:))
    try fileSystem.writeDurably(Array(try encoder.encode(names)), to: job.cutOver)
  }

  private func renamed(_ change: (String) -> String) -> CutOverJournal {
    var journal = self
    journal.destination = change(destination)
    (journal.backup, journal.restores) = (backup.map(change), restores.map(change))
    return journal
  }

  static func read(_ job: JobDirectory, _ fileSystem: any FileSystem) throws -> CutOverJournal? {
    guard try fileSystem.status(job.cutOver) != nil else { return nil }
    let bytes = try fileSystem.readAll(job.cutOver, cap: 1 << 20)
    let journal: CutOverJournal
    do {
      journal = try JSONDecoder().decode(CutOverJournal.self, from: Data(bytes))
    } catch {
      throw unusable("it cannot be read", job: job, cause: error)
    }
    guard journal.format == format else { throw unusable("it has format \(journal.format)", job: job) }
    guard journal.destination == FilePaths.name(of: job.destination),
      [journal.newStore, journal.backup, journal.restores].allSatisfy({ $0?.contains("/") != true })
    else { throw unusable("it is about another destination", job: job) }
    let directory = FilePaths.directory(of: job.destination)
    let found = journal.renamed { FilePaths.join(directory, $0) }
    guard found.restores.map({ StoreBackup(path: $0)?.store == job.destination }) != false else {
      throw unusable("it is about a backup of another store", job: job)
    }
    return found
  }

  private static func unusable(_ why: String, job: JobDirectory, cause: (any Error)? = nil) -> BatchError {
    let giveUp = ProgramName.command("clean", "--all", job.destination)
    return BatchError(
      .failed, "the journal of the cut-over cannot be used: \(why)",
      hint: "The store is whole, old or new. Look at it and keep a copy; then give the run up with \(giveUp)",
      next: [giveUp.line],
      path: job.cutOver, cause: cause)
  }
}

/// What a cut-over's journal says of its run, for whoever finds no plan any longer.
struct RunFacts: Codable, Equatable {
  /// Versions before and after.
  var sourceVersion: String
  var targetVersion: String
  /// The digest of the version hashes that the source had.
  var sourceHashes: String
  var steps: Int
  /// Whether the result was verified.
  var isVerified: Bool
  /// The name that the list of rejected objects gets beside the store; nil if none may be set aside.
  var rejects: String?
  /// Options of the command that asked for the run.
  var arguments: [String]?
  /// The source's path, if it is not the destination's.
  var source: String?
  /// How many backups stay, for a run without a plan.
  var keepsBackups: BackupLimit?
}
