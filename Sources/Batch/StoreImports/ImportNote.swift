import Foundation
import MigrationJobs
import RunSupport
import Streams

/// What an import says of itself to others, and to who goes on: `plan.json`.
struct ImportNote: Codable {
  private var format = 1
  /// The version of the model.
  var version: String
  /// The first of the files, and how many there are.
  var input: String
  var inputs: Int
  /// The words of the command; none if a program imports by itself.
  var arguments: [String]
  /// All files, in order.
  private var files: [String]?
  /// What they were when the import began, in the same order.
  private var seen: [Seen]?
  /// What was made: it is written down when all that a store may lack is its name.
  private(set) var made: Made?

  /// A file, without its contents.
  private struct Seen: Codable {
    let bytes: UInt64
    let modified: Int64

    init(_ status: FileStatus) { (bytes, modified) = (status.size, status.modified) }

    func isLike(_ other: Seen) -> Bool { bytes == other.bytes && modified == other.modified }
  }

  /// A store that is whole.
  struct Made: Codable {
    /// The fingerprints of what was asked for, and of the model.
    let request: Data
    let model: Data
    /// Those of the contents of the files.
    let digests: [Data]
    let summary: Data
  }

  init(version: String, files: [String], arguments: [String]) {
    (self.version, self.arguments, self.files) = (version, arguments, files)
    (input, inputs) = (files.first ?? "", files.count)
  }

  /// The same, with what the files are now.
  func seeing(_ fileSystem: any FileSystem) throws -> ImportNote {
    var note = self
    note.seen = try files?.compactMap { try fileSystem.status($0).map(Seen.init) }
    return note
  }

  /// The files with the size and the time of change that they had when the import began.
  func filesAsSeen(_ fileSystem: any FileSystem) throws -> Set<String> {
    guard let files, let seen, files.count == seen.count else { return [] }
    return Set(try zip(files, seen).filter { try fileSystem.status($0).map(Seen.init)?.isLike($1) == true }.map(\.0))
  }

  /// Whether all files are so.
  func isAsSeen(_ fileSystem: any FileSystem) throws -> Bool {
    try filesAsSeen(fileSystem).isSuperset(of: files ?? [])
  }

  /// The same when all pages of the store are written. `request` and `model` are the fingerprints of what was asked for.
  func of(_ summary: ImportSummary, digests: [[UInt8]], request: [UInt8], model: [UInt8]) -> ImportNote {
    var note = self
    note.made = Made(
      request: Data(request), model: Data(model), digests: digests.map { Data($0) },
      summary: Data(summary.encoded.bytes))
    return note
  }

  /// What was made; nil if that cannot be read, or nothing was.
  var summary: ImportSummary? {
    guard let made else { return nil }
    var reader = ByteReader([UInt8](made.summary), subject: "the note of an import")
    return try? ImportSummary(from: &reader)
  }

  /// What came to the files of the same command since it was begun, or went, and what to do about it; nil if nothing did.
  func changedFiles(since began: ImportNote?) -> (what: String, hint: String)? {
    guard let before = began?.files, let now = files, began?.arguments == arguments else { return nil }
    // Folders may have thousands of them.
    let (known, found) = (Set(before), Set(now))
    if let new = now.first(where: { !known.contains($0) }) {
      return ("\(new) came to the files since the import began, which is interrupted", "Move it away")
    }
    if let gone = before.first(where: { !found.contains($0) }) {
      return ("\(gone) is no longer among the files of the import, which is interrupted", "Put it back")
    }
    return nil
  }

  /// Durable only where that is asked for: an import without a checkpoint begins anew in any case.
  func write(to job: JobDirectory, isDurable: Bool, _ fileSystem: any FileSystem) throws {
    let bytes = [UInt8](try JSONEncoder().encode(self))
    if isDurable { return try fileSystem.writeDurably(bytes, to: job.plan) }
    let file = try fileSystem.open(job.plan, .create)
    defer { file.close() }
    try bytes.withUnsafeBytes { try file.write($0, at: 0) }
  }

  /// Nil if there is none that can be read.
  static func read(_ job: JobDirectory, _ fileSystem: any FileSystem) -> ImportNote? {
    (try? fileSystem.readAll(job.plan, cap: 1 << 24)).flatMap {
      try? JSONDecoder().decode(ImportNote.self, from: Data($0))
    }
  }
}
