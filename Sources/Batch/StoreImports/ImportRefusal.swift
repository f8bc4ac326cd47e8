import CoreDataModel
import MigrationJobs
import RunSupport
import Streams

// What an import that goes on asks first, and what others ask for it. Nothing is written.
extension ImportJournal.Found {
  /// The newest checkpoint; nil if there is none, or the import has ended as its plan is gone. Throws `refused` if it is
  /// that of another import. `request` and `model` are the fingerprints of what is asked for.
  static func newest(
    at place: ImportPlace, of note: ImportNote, request: [UInt8], model: [UInt8], _ fileSystem: any FileSystem
  ) throws -> Self? {
    guard try fileSystem.statusOfName(place.job.plan) != nil,
      let checkpoint = try readable(at: place, fileSystem)
    else { return nil }
    guard checkpoint.sourceFingerprint == model else { throw place.changedModel }
    guard checkpoint.planFingerprint == request else {
      let changed = note.changedFiles(since: ImportNote.read(place.job, fileSystem))
      throw place.refusal(
        changed?.what ?? "an import of other files, or with other options, is interrupted at this path", .refused,
        first: changed?.hint)
    }
    return try Self(checkpoint)
  }

  private static func readable(at place: ImportPlace, _ fileSystem: any FileSystem) throws -> Checkpoint? {
    do {
      return try CheckpointStore(directory: place.job.checkpoints, fileSystem: fileSystem).newestReadable()?.checkpoint
    } catch let error as StreamsError where error.code == .damagedCheckpoint {
      throw place.damaged(error.message)
    }
  }
}

extension ImportRun {
  /// What it says of itself, without what its files are now.
  var note: ImportNote {
    ImportNote(version: model.name, files: inputs.map(ImportFiles.whole), arguments: options.arguments)
  }

  /// The checkpoint, if there is something to go on with. Throws `refused` if a name is taken that the import needs at
  /// its end.
  func usable(_ found: ImportJournal.Found?) throws -> ImportJournal.Found? {
    guard let found else { return nil }
    try place.scratch.refuseLinks()
    // The store had its name, and is no longer there.
    guard try found.phase != .built || fileSystem.statusOfName(files.prefix) != nil else { return nil }
    try refuseTakenOfInterrupted(isWhole: found.phase == .built)
    return found
  }

  /// Throws `refused` for paths of the store and of the list that are taken. `isWhole`: the list may have got its path
  /// from a process that was killed.
  func refuseTaken(isWhole: Bool = false) throws {
    try place.refuseTaken(place.store, fileSystem)
    guard let list, try !isWhole || !list.isPublished else { return }
    try list.refuseTaken()
  }

  private func refuseTakenOfInterrupted(isWhole: Bool) throws {
    do { try refuseTaken(isWhole: isWhole) } catch let error as BatchError where error.code == .refused {
      throw place.waiting(error, first: "Move it away")
    }
  }

  /// Throws what an interrupted import would end with before it goes on. Files with the size and the time of change that
  /// they had when it began are not read for that.
  func look(_ began: ImportNote) throws {
    let found = try ImportJournal.Found.newest(
      at: place, of: note, request: fingerprint, model: PlanFingerprint.of(model), fileSystem)
    guard let found = try usable(found) else {
      // What lacks nothing but its name gets that; all else begins anew.
      let isWhole = try began.made != nil && fileSystem.statusOfName(files.prefix) != nil
      return try refuseTakenOfInterrupted(isWhole: isWhole)
    }
    var state = try found.section("reader")
    let position = try ImportPosition(from: &state, files: inputs.count)
    let known = try began.filesAsSeen(fileSystem)
    let changed = try position.changedFile(of: inputs, fileSystem) { known.contains(ImportFiles.whole($0)) }
    if let changed { throw ImportPosition.changed(changed) }
  }
}

extension MigrationJob {
  /// Why the import into a path would not go on that is interrupted there, with the commands that lead on; nil if it
  /// would, or there is none. Nothing is written.
  ///
  /// It is what the import itself asks first: that the files and folders are there, that there are no others, that model
  /// and options are the same, that no name is taken, and that files have the bytes that were read. A file with the size
  /// and the time of change that it had when the import began is not read for that. `model` gives the model; what it
  /// throws is in the way, too.
  ///
  /// - Throws: ``BatchError`` if the disk cannot be read.
  public func importRefusal(
    _ inputs: [String], options: ImportOptions, to path: String, model: () throws -> ManagedObjectModel
  ) throws -> BatchError? {
    try BatchError.looking { () throws -> BatchError? in
      guard let (place, note) = try interruptedImport(path), try !place.isNamed(note),
        try ownership(of: place.job).state != .running
      else { return nil }
      do {
        try ImportRun(
          model(), options: options, inputs, to: path, fileSystem: fileSystem, monitor: RunMonitor(), reject: { _ in }
        ).look(note)
        return nil
      } catch { return told(error, at: place) }
    }
  }

  private func told(_ error: any Error, at place: ImportPlace) -> BatchError {
    let error = BatchError(wrapping: error)
    switch error.code {
    case _ where error.effect == .resumable: return error
    case .init(.damagedCheckpoint): return place.damaged(error.message)
    case .badCheckpoint: return place.waiting(error, first: "Put it back as it was")
    case .noSuchFile where error.path.map { (try? fileSystem.statusOfName($0)) ?? nil } == .some(nil):
      return place.waiting(error, first: "Put it back")
    // Its own hint is for who begins an import, and can name other files and options.
    default: return place.waiting(error, first: "Correct that")
    }
  }

  /// Whether files of the import that is interrupted at a path have other sizes or times of change than when it began,
  /// or are gone. None is read.
  ///
  /// - Throws: ``BatchError`` if the disk cannot be read.
  public func hasTouchedFiles(importInto path: String) throws -> Bool {
    try BatchError.looking { try interruptedImport(path)?.1.isAsSeen(fileSystem) == false }
  }
}
