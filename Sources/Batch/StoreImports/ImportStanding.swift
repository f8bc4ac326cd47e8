import MigrationJobs
import RunSupport
import Streams

// What is asked of imports, by the path of the store.
extension MigrationJob {
  /// How far the import into a path is; nil if none is under way. Nothing is written.
  ///
  /// - Throws: ``BatchError`` if the disk cannot be read.
  public func importStatus(_ path: String) throws -> JobStatus? {
    try BatchError.looking {
      if let place = try leftFolder(path) { return try place.scratch.seen { try left(place) } }
      guard let (place, note) = try interruptedImport(path) else { return nil }
      return try place.scratch.seen { try status(of: place, note) }
    }
  }

  private func left(_ place: ImportPlace) throws -> JobStatus {
    var status = try ownership(of: place.job)
    (status.state, status.destination) = (.finished, place.store)
    status.advice = "An import has left its folder, and nothing in that is needed. Remove it with \(place.resume)"
    return status
  }

  private func status(of place: ImportPlace, _ note: ImportNote) throws -> JobStatus {
    var status = try ownership(of: place.job)
    let more = note.inputs > 1 ? " and \(note.inputs - 1) more" : ""
    (status.source, status.target, status.destination) = (note.input + more, note.version, place.store)
    guard status.state != .running else { return status }
    let found = try checkpoint(of: place, &status)
    if try place.isNamed(note) {
      (status.state, status.resumeRefusal) = (.finished, nil)
      status.advice = "The store is imported. Finish with \(place.resume)"
      return status
    }
    // Without its pages a whole store is one that was made and moved away.
    if status.resumeRefusal != nil {
      status.advice = "Check the disk; give the import up with \(place.giveUp)"
      return status
    }
    if note.arguments.isEmpty {
      status.resumeRefusal = BatchError.Code.refused.exitCode
      status.problems.append("a program of its own imports into this path")
    }
    let isWhole = note.made != nil || found?.phase == .built
    let goesOn = try isWhole ? fileSystem.statusOfName(place.working) != nil : found != nil
    let from = goesOn ? "Go on" : "It has no checkpoint and begins anew"
    let way = note.arguments.isEmpty ? "by importing the same again" : "with \(place.resume)"
    status.advice =
      "This is an import of \(note.input)\(more) into a store of \(note.version). \(from) \(way), or give it up with \(place.giveUp)"
    return status
  }

  func checkpoint(of place: ImportPlace, _ status: inout JobStatus) throws -> ImportJournal.Found? {
    let store = CheckpointStore(directory: place.job.checkpoints, fileSystem: fileSystem)
    do {
      guard let newest = try store.newestReadable() else { return nil }
      status.checkpoint = newest.checkpoint.sequence
      status.secondsSinceCheckpoint = try age(place.job.checkpoints)
      status.problems += newest.rejected.map { "\($0.path): \($0.reason)" }
      return try ImportJournal.Found(newest.checkpoint)
    } catch let error as StreamsError where error.code == .damagedCheckpoint {
      status.problems.append("\(error)")
      status.resumeRefusal = BatchError.Code.badCheckpoint.exitCode
      return nil
    }
  }

  /// The words of the command that goes on with the import that is interrupted at a path; nil if there is none.
  ///
  /// - Throws: ``BatchError``: `refused` if a program imports there by itself.
  public func importArguments(_ path: String) throws -> [String]? {
    try BatchError.looking {
      guard let (place, note) = try interruptedImport(path) else { return nil }
      guard note.arguments.first == "import" else {
        throw BatchError(
          .refused, "a program of its own imports into this path", hint: "Let that program import the same again",
          path: place.store)
      }
      return note.arguments
    }
  }

  /// Changes what is asked of the process that imports into a path; false if there is no import.
  ///
  /// - Throws: ``BatchError``: `refused` if no process imports just now.
  public func orderImport(_ path: String, _ change: (inout RunOrders) -> Void) throws -> Bool {
    try BatchError.border {
      guard let (place, _) = try interruptedImport(path) else { return false }
      try order(place.job, path: path, of: .importing, change: change)
      return true
    }
  }

  func interruptedImport(_ path: String) throws -> (ImportPlace, ImportNote)? {
    guard let place = try? ImportPlace(path, fileSystem), try place.scratch.isThere(),
      let note = ImportNote.read(place.job, fileSystem)
    else { return nil }
    return (place, note)
  }
}
