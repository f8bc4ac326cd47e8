/// The checkpoint to resume from, and what was wrong with newer ones.
public struct FoundCheckpoint: Sendable {
  /// The newest valid checkpoint.
  public var checkpoint: Checkpoint
  /// Newer files that cannot be used, newest first. Report them: they cost progress and point to a failing disk.
  public var rejected: [RejectedCheckpoint]
}

/// A checkpoint file that cannot be used.
public struct RejectedCheckpoint: Sendable {
  /// The file.
  public var path: String
  /// Why it cannot be used.
  public var reason: String
}

extension CheckpointStore {
  /// The newest valid checkpoint, or nil when there is no checkpoint file at all (I5, I6).
  ///
  /// Nothing is written. A file that cannot be read because a system call fails ends the search with that error: it may
  /// be sound.
  ///
  /// - Throws: ``StreamsError``: `damagedCheckpoint` when there are files and none is readable, `foreignCheckpoint`
  ///   when the newest readable one names another plan or source, `unsupported` when a newer program wrote it.
  public func newestValid(plan: [UInt8], source: [UInt8]) throws -> FoundCheckpoint? {
    guard let found = try newestReadable() else { return nil }
    let path = FilePaths.join(directory, CheckpointFormat.fileName(found.checkpoint.sequence))
    try Self.compare("plan", found: found.checkpoint.planFingerprint, wanted: plan, path: path)
    try Self.compare("source", found: found.checkpoint.sourceFingerprint, wanted: source, path: path)
    accept(found.checkpoint.sequence)
    return found
  }

  /// The newest readable checkpoint whatever its plan and source, for a report on a run. Nothing is written.
  ///
  /// - Throws: ``StreamsError``.
  public func newestReadable() throws -> FoundCheckpoint? {
    var rejected: [RejectedCheckpoint] = []
    for sequence in try sequences().reversed() {
      do {
        return FoundCheckpoint(checkpoint: try read(sequence), rejected: rejected)
      } catch let error as StreamsError where error.code == .damagedCheckpoint {
        let path = FilePaths.join(directory, CheckpointFormat.fileName(sequence))
        rejected.append(RejectedCheckpoint(path: path, reason: error.message))
      }
    }
    guard !rejected.isEmpty else { return nil }
    throw StreamsError(
      .damagedCheckpoint,
      "no checkpoint can be used: " + rejected.map { "\($0.path): \($0.reason)" }.joined(separator: "; "),
      path: directory, hint: "Check the disk; the run must be started again, which needs nothing from these files")
  }

  private static func compare(_ what: String, found: [UInt8], wanted: [UInt8], path: String) throws {
    guard found != wanted else { return }
    throw StreamsError(
      .foreignCheckpoint,
      "the checkpoint's \(what) is \(found.hexadecimal), this run's \(what) is \(wanted.hexadecimal)", path: path,
      hint: "Restore the \(what) that the run began with, or start the run again")
  }
}
