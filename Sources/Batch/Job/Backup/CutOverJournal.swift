import Foundation
import Streams

/// What a file was at a moment: enough to see that it was replaced or written since.
struct FileIdentity: Codable, Equatable {
  var device: UInt64
  var inode: UInt64
  var size: UInt64
  var modified: Int64

  init(_ status: FileStatus) {
    device = status.device
    inode = status.inode
    size = status.size
    modified = status.modified
  }

  func isSameFile(as other: FileIdentity?) -> Bool { device == other?.device && inode == other?.inode }
}

/// The old store with the files beside it that SQLite would read.
struct OldStoreIdentity: Codable, Equatable {
  var main: FileIdentity
  /// Nil when there is none or it is empty.
  var wal: FileIdentity?
  /// Nil when there is none or it is empty.
  var rollbackJournal: FileIdentity?

  init(_ path: String, _ fileSystem: any FileSystem) throws {
    guard let status = try fileSystem.statusOfName(path), status.isRegularFile else {
      throw BatchError(.refused, "there is no file to be replaced", path: path)
    }
    main = FileIdentity(status)
    wal = try Self.nonEmpty(path + "-wal", fileSystem)
    rollbackJournal = try Self.nonEmpty(path + "-journal", fileSystem)
  }

  private static func nonEmpty(_ path: String, _ fileSystem: any FileSystem) throws -> FileIdentity? {
    try fileSystem.statusOfName(path).flatMap { $0.size > 0 ? FileIdentity($0) : nil }
  }
}

/// `cutover.json`: written before the first change, so that whoever comes next can finish, and kept until the job ends.
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

  static let format = 1

  var format = CutOverJournal.format
  var phase: Phase
  /// The name of the new store inside the job directory.
  var newStore: String
  var new: FileIdentity
  var destination: String
  /// Nil for a destination that did not exist.
  var backup: String?
  /// The backup that a rollback puts in place, and whose name then goes; nil for a migration.
  var restores: String?
  /// The old store as it was when the source was verified; nil for a destination that did not exist.
  var old: OldStoreIdentity?
  /// The old main file once the old store is whole in it.
  var whole: FileIdentity?

  func write(_ job: JobDirectory, _ fileSystem: any FileSystem) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    try fileSystem.writeDurably(Array(try encoder.encode(self)), to: job.cutOver)
  }

  static func read(_ job: JobDirectory, _ fileSystem: any FileSystem) throws -> CutOverJournal? {
    guard try fileSystem.status(job.cutOver) != nil else { return nil }
    let bytes = try fileSystem.readAll(job.cutOver, cap: 1 << 16)
    let journal: CutOverJournal
    do {
      journal = try JSONDecoder().decode(CutOverJournal.self, from: Data(bytes))
    } catch {
      throw unusable("it cannot be read", job, error)
    }
    guard journal.format == format else { throw unusable("it has format \(journal.format)", job) }
    guard journal.destination == job.destination, !journal.newStore.contains("/") else {
      throw unusable("it is about another destination", job)
    }
    guard journal.restores.map({ StoreBackup(path: $0)?.store == job.destination }) != false else {
      throw unusable("it is about a backup of another store", job)
    }
    return journal
  }

  private static func unusable(_ why: String, _ job: JobDirectory, _ cause: (any Error)? = nil) -> BatchError {
    BatchError(
      .failed, "the journal of the cut-over cannot be used: \(why)",
      hint: "The destination is whole, old or new; look at it, keep a copy, then remove the job directory",
      path: job.cutOver, cause: cause)
  }
}
