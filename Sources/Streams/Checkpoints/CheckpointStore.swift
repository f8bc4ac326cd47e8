import Synchronization

/// The checkpoints of one run in one directory. Keeps I3, I4, I5, I6 and I10.
///
/// One store per run writes; the caller's lease keeps other processes away.
public final class CheckpointStore: Sendable {
  private struct State {
    /// The number that was published or found last; nil before either.
    var latest: UInt64?
    /// Why nothing may be written any longer.
    var failure: StreamsError?
  }

  /// The directory that holds the files.
  public let directory: String
  private let fileSystem: any FileSystem
  private let state = Mutex(State())

  /// Uses a directory that exists, or that ``publish(_:)`` makes.
  public init(directory: String, fileSystem: any FileSystem) {
    self.directory = directory
    self.fileSystem = fileSystem
  }

  /// Publishes a checkpoint: everything that it refers to must be on disk already (I3).
  ///
  /// On return it is durable under its own name and is the one that a resume uses; the one before it is still there.
  /// After an error the ones before are as they were, and this store refuses to write again (I10).
  ///
  /// - Throws: ``StreamsError``.
  public func publish(_ checkpoint: Checkpoint) throws {
    try state.withLock { state in
      if let failure = state.failure { throw Self.refusal(failure, directory) }
      let previous = try state.latest ?? newestName()
      if let previous, checkpoint.sequence <= previous {
        throw StreamsError(
          .order, "checkpoint \(checkpoint.sequence) comes after checkpoint \(previous)", path: directory)
      }
      let bytes = try checkpoint.encoded()
      do {
        try write(bytes, of: checkpoint)
        try removeAll(but: [previous, checkpoint.sequence])
      } catch {
        state.failure = error as? StreamsError ?? StreamsError(.inputOutput, "\(error)", path: directory)
        throw error
      }
      state.latest = checkpoint.sequence
    }
  }

  private func write(_ bytes: [UInt8], of checkpoint: Checkpoint) throws {
    let path = FilePaths.join(directory, CheckpointFormat.fileName(checkpoint.sequence))
    let temporary = path + CheckpointFormat.temporarySuffix
    try fileSystem.makeDirectory(directory)
    try fileSystem.writeAndSync(bytes, to: temporary)
    // I4: the older one is trusted until this one was read back from its file.
    let found = try fileSystem.readAll(temporary, cap: CheckpointFormat.fileCap)
    guard try UnverifiedCheckpoint(found).verified() == checkpoint else {
      throw StreamsError(
        .damagedCheckpoint, "what was read back is not what was written", path: temporary,
        hint: "Check the memory and the disk of this machine")
    }
    try fileSystem.rename(temporary, to: path)
    try fileSystem.syncDirectory(directory)
  }

  /// Removes every checkpoint, durably: whoever comes next begins with nothing.
  ///
  /// - Throws: ``StreamsError``.
  public func removeAll() throws {
    guard try fileSystem.status(directory) != nil else { return }
    try removeAll(but: [])
    try fileSystem.syncDirectory(directory)
  }

  /// Removes leftovers, older checkpoints, and newer ones that were found unreadable: a resume started before them.
  private func removeAll(but kept: [UInt64?]) throws {
    for name in try fileSystem.list(directory) {
      let sequence = CheckpointFormat.sequence(ofFileName: name)
      let isSuperseded = sequence.map { !kept.contains($0) } ?? CheckpointFormat.isTemporary(name)
      if isSuperseded { try fileSystem.remove(FilePaths.join(directory, name)) }
    }
  }

  private func newestName() throws -> UInt64? { try sequences().last }

  /// The numbers of the files there, smallest first. A directory that is not there yet has none.
  func sequences() throws -> [UInt64] {
    guard try fileSystem.status(directory) != nil else { return [] }
    return try fileSystem.list(directory).compactMap(CheckpointFormat.sequence(ofFileName:)).sorted()
  }

  func read(_ sequence: UInt64) throws -> Checkpoint {
    let path = FilePaths.join(directory, CheckpointFormat.fileName(sequence))
    do {
      let checkpoint = try UnverifiedCheckpoint(try fileSystem.readAll(path, cap: CheckpointFormat.fileCap)).verified()
      guard checkpoint.sequence == sequence else {
        throw StreamsError(.damagedCheckpoint, "the file holds checkpoint \(checkpoint.sequence)", path: path)
      }
      return checkpoint
    } catch var error as StreamsError {
      // A file past the limit was not written by us, whatever it is.
      if error.code == .tooLarge { error.code = .damagedCheckpoint }
      error.path = path
      throw error
    }
  }

  func accept(_ sequence: UInt64) { state.withLock { $0.latest = max(sequence, $0.latest ?? 0) } }

  private static func refusal(_ failure: StreamsError, _ directory: String) -> StreamsError {
    StreamsError(
      failure.code, "nothing more is written after a failure: \(failure.message)", path: failure.path ?? directory,
      hint: failure.hint ?? "Start a new process; it goes on from the last checkpoint")
  }
}
