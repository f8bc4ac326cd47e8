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

  /// Whether a store is made and has its name: all that is left to do is to remove the folder.
  func isNamed(_ note: ImportNote?) throws -> Bool {
    guard note?.made != nil, try fileSystem.statusOfName(working) == nil else { return false }
    return try fileSystem.status(store) != nil
  }

  /// Whether the folder has nothing to go on with, and the store is there: an import was killed while it removed it.
  var isLeft: Bool {
    get throws { try fileSystem.statusOfName(job.plan) == nil && fileSystem.status(store) != nil }
  }

  /// Throws `refused` if the store's path is taken, or a name that belongs to it. `path` is what a person calls it.
  func refuseTaken(_ path: String, _ fileSystem: any FileSystem) throws {
    try NewFile(path, working: "", fileSystem).refuseTaken(["-wal", "-journal"])
  }

  /// Why an interrupted import is not gone on with. `first` is what must be done before it can be.
  func refusal(_ what: String, _ code: BatchError.Code, first: String? = nil, path: String? = nil) -> BatchError {
    waiting(BatchError(code, what, path: path ?? store), first: first)
  }

  /// An error that stands in the way of an interrupted import, with both ways on.
  func waiting(_ error: BatchError, first: String?) -> BatchError {
    let goOn = first.map { "\($0), and go on with" } ?? "Go on with that one by"
    var error = error.withoutEffect
    (error.hint, error.effect) = ("\(goOn) \(resume), or give it up with \(giveUp)", .resumable)
    error.next = [resume.line, giveUp.line]
    return error
  }

  /// The same where nothing can be put right.
  func damaged(_ message: String) -> BatchError {
    BatchError(
      .badCheckpoint, message, hint: "Check the disk; give the import up with \(giveUp)", effect: .resumable,
      next: [giveUp.line], path: store)
  }

  var changedModel: BatchError {
    refusal(
      "the model was changed since the import began, which is interrupted", .badCheckpoint,
      first: "Put it back as it was")
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
