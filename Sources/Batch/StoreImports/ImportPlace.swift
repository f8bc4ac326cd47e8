import Foundation
import MigrationJobs
import RunSupport
import Streams

/// Where an import works until its store gets its name: the folder `.STORE.godwit-import` beside it.
struct ImportPlace {
  /// With what the name of a folder ends.
  static let suffix = ".godwit-import"

  /// The path of the store, without links.
  let store: String
  let scratch: ScratchFolder
  private let fileSystem: any FileSystem

  init(_ store: String, _ fileSystem: any FileSystem) throws {
    self.fileSystem = fileSystem
    self.store = try JobDirectory(destination: store).destination
    let (folder, name) = (FilePaths.directory(of: self.store), FilePaths.name(of: self.store))
    scratch = ScratchFolder(
      FilePaths.join(folder, ".\(name)\(Self.suffix)"), for: "import", of: self.store, fileSystem)
  }

  var job: JobDirectory { scratch.job }
  /// The store while it is made. What is sorted on the disk stands beside it.
  var working: String { FilePaths.join(scratch.path, "store.sqlite") }
  /// The list of lines that were left out.
  var rejects: String { FilePaths.join(scratch.path, "rejects.csv") }

  var resume: AdvisedCommand { ProgramName.command("resume", store) }
  var giveUp: AdvisedCommand { ProgramName.command("clean", "--all", store) }

  /// Throws `refused` if the store's path is taken, or a name that belongs to it. `path` is what a person calls it.
  func refuseTaken(_ path: String, _ fileSystem: any FileSystem) throws {
    try NewFile(path, working: "", fileSystem).refuseTaken(["-wal", "-journal"])
  }

  /// Takes the lease. Throws `leaseHeld`.
  func begin() throws -> Lease {
    do { return try scratch.begin() } catch let error as BatchError where error.code == .leaseHeld {
      let (look, stop) = (ProgramName.command("status", store), ProgramName.command("ctl", "stop", store))
      throw BatchError(
        .leaseHeld, "another process imports into this path",
        hint: "\(look) shows how far it is, and \(stop) ends it", effect: .nothingWritten, next: [look.line],
        path: store)
    }
  }
}

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

  init(version: String, files: [String], arguments: [String]) {
    (self.version, self.arguments, self.files) = (version, arguments, files)
    (input, inputs) = (files.first ?? "", files.count)
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
