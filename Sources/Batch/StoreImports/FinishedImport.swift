import MigrationJobs
import RunSupport
import Streams

/// An import that is over, of which nothing is left but its folder.
public struct FinishedImport: Sendable {
  /// What was made; nil if the folder does not say it any longer.
  public let summary: ImportSummary?
  /// The words of the command that asked for it.
  public let arguments: [String]
}

// Imports that were killed behind their last step.
extension MigrationJob {
  /// Whether an import into a path is over, but for its folder. Nothing is written.
  ///
  /// - Throws: ``BatchError`` if the disk cannot be read.
  public func isImportOver(_ path: String) throws -> Bool {
    try BatchError.looking { try finishedImport(path) != nil || leftFolder(path) != nil }
  }

  /// Removes the folder of an import that is over, and says what was made; nil if there is none.
  ///
  /// - Throws: ``BatchError``: `leaseHeld`.
  public func finishImport(_ path: String) throws -> FinishedImport? {
    try BatchError.border {
      guard let place = try finishedImport(path) ?? leftFolder(path) else { return nil }
      let lease = try place.begin()
      defer { lease.release() }
      // Another process may have gone on with it meanwhile.
      let note = ImportNote.read(place.job, fileSystem)
      guard try place.isNamed(note) || place.isLeft else { return nil }
      try place.scratch.removeFinished()
      return FinishedImport(summary: note?.summary, arguments: note?.arguments ?? [])
    }
  }

  private func finishedImport(_ path: String) throws -> ImportPlace? {
    guard let (place, note) = try interruptedImport(path), try place.isNamed(note) else { return nil }
    return place
  }

  /// Where an import has left its folder beside the store, and nothing else is known of that.
  func leftFolder(_ path: String) throws -> ImportPlace? {
    guard let place = try? ImportPlace(path, fileSystem), try place.scratch.isThere(), try place.isLeft,
      try ownership(of: place.job).state != .running, try status(path).state == .none, (try? report(path)) == nil
    else { return nil }
    return place
  }
}
