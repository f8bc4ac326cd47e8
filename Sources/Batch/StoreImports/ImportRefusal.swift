import CoreDataModel
import MigrationJobs
import RunSupport
import Streams

extension MigrationJob {
  /// Why the import into a path would not go on, of files and into a store of a model; nil if it would, or there is none.
  /// Nothing is written.
  ///
  /// It is what the import itself asks first: that the files are there, that there are no others in their folders, that
  /// the model is the same, and that files have the bytes that were read. A file with the size and the time of change
  /// that it had when the import began is not read for that.
  ///
  /// - Throws: ``BatchError`` if the disk cannot be read.
  public func importRefusal(_ inputs: [String], model: ManagedObjectModel, to path: String) throws -> BatchError? {
    try BatchError.looking { () throws -> BatchError? in
      guard let (place, note) = try interruptedImport(path), try !place.isNamed(note) else { return nil }
      let files: [String]
      do { files = try ImportFiles.all(inputs, fileSystem).files } catch let error as BatchError {
        let first = error.code == .noSuchFile ? "Put it back" : error.hint
        return place.refusal(error.message, error.code, first: first, path: error.path)
      }
      var status = try ownership(of: place.job)
      guard status.state != .running else { return nil }
      guard let found = try checkpoint(of: place, &status) else { return nil }
      guard try found.phase != .built || fileSystem.statusOfName(place.working) != nil else { return nil }
      return try refusal(found, of: files, model: model, at: place, note: note)
    }
  }

  private func refusal(
    _ found: ImportJournal.Found, of files: [String], model: ManagedObjectModel, at place: ImportPlace,
    note: ImportNote
  ) throws -> BatchError? {
    guard try found.checkpoint.sourceFingerprint == PlanFingerprint.of(model) else { return place.changedModel }
    let whole = files.map(ImportFiles.whole)
    let now = ImportNote(version: note.version, files: whole, arguments: note.arguments)
    if let (what, hint) = now.changedFiles(since: note) { return place.refusal(what, .refused, first: hint) }
    guard var state = found.checkpoint.reader(of: "reader") else { return nil }
    let position = try ImportPosition(from: &state, files: files.count)
    let known = try note.filesAsSeen(fileSystem)
    if let path = try position.changedFile(of: whole, fileSystem, isKnown: known.contains) {
      let changed = ImportPosition.changed(path)
      return place.refusal(changed.message, changed.code, first: "Put it back as it was", path: path)
    }
    do { try place.refuseTaken(place.store, fileSystem) } catch let error as BatchError {
      return place.refusal(error.message, error.code, first: "Move it away", path: error.path)
    }
    return nil
  }
}
