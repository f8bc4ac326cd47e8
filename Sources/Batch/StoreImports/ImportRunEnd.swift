import RunSupport
import Streams

// The store's name.
extension ImportRun {
  static func summary(_ found: ImportJournal.Found) throws -> ImportSummary? {
    guard found.phase == .built else { return nil }
    return try found.read("summary") { try ImportSummary(from: &$0) }
  }

  func name(_ summary: ImportSummary, _ journal: ImportJournal) throws {
    // It may have taken long.
    try place.refuseTaken(place.store, fileSystem)
    if let list {
      try list.finish()
      try fileSystem.syncDirectory(place.scratch.path)
    }
    try journal.end(summary, digests: reader.digests)
    try giveNames()
  }

  private func giveNames() throws {
    try list?.publish()
    try fileSystem.rename(files.prefix, to: place.store)
    try fileSystem.syncDirectory(FilePaths.directory(of: place.store))
  }

  /// What an earlier process has made of the same files: a store that has its name, or gets it now. An application may
  /// have written to it since.
  func made(_ journal: ImportJournal) throws -> ImportSummary? {
    guard let (summary, digests) = try journal.made(), digests.count == inputs.count else { return nil }
    for (path, digest) in zip(inputs, digests) {
      try monitor.throwIfStopRequested()
      guard try ImportFiles.digest(path, fileSystem) == digest else { return nil }
    }
    guard try fileSystem.statusOfName(files.prefix) != nil else {
      return try fileSystem.status(place.store) == nil ? nil : summary
    }
    try refuseTaken(isWhole: true)
    try list?.restore()
    try giveNames()
    return summary
  }
}

// Errors.
extension ImportRun {
  /// Errors that would come again.
  private static let lasting: Set<BatchError.Code> = [
    .refused, .tooManyRejects, .mismatch, .badModel, .init(.tooLarge), .init(.unsupported),
  ]

  /// What an error leaves: a checkpoint to go on from, or nothing.
  func settled(_ error: any Error, _ journal: ImportJournal) -> any Error {
    let canGoOn = journal.isBegun || journal.isMade
    if error is CallersError, !canGoOn { removeAll() }
    guard !(error is CallersError) else { return error }
    var told = BatchError(wrapping: error)
    guard told.effect != .resumable, told.code != .leaseHeld else { return told }
    // What is in the way of a whole store's name can be moved away.
    let isWhole = journal.phase == .built || journal.isMade
    let isLasting = Self.lasting.contains(told.code) && (!isWhole || told.code == .mismatch || isFaulty)
    if !isLasting, canGoOn { return kept(told) }
    keepList(&told)
    removeAll()
    told.effect = .nothingWritten
    guard told.code == .stopped, !options.arguments.isEmpty else { return told }
    let again = ProgramName.command(options.arguments)
    (told.hint, told.next) = ("Begin anew with \(again)", [again.line])
    return told
  }

  /// The list says why there are too many wrong lines, or why an object is not there that others lead to.
  private func keepList(_ error: inout BatchError) {
    let isOfOthers = isFaulty && error.code == .refused && reader.rejects > 0
    guard let list, error.code == .tooManyRejects || isOfOthers else { return }
    guard (try? list.publish()) != nil, isOfOthers else { return }
    error.hint = (error.hint.map { $0 + ". " } ?? "") + "\(list.path) lists the lines that were left out"
  }

  /// An error behind a checkpoint.
  func kept(_ error: BatchError) -> BatchError {
    let isUsable = ![.init(.damagedCheckpoint), .init(.unsupported)].contains(error.code)
    var told = error
    if told.code == .badCheckpoint { told.hint = "Put it back as it was" }
    (told.effect, told.next) = (.resumable, (isUsable ? [place.resume.line] : []) + [place.giveUp.line])
    told.aftermath = isUsable ? "Go on with \(place.resume), or give" : "Give"
    told.aftermath? += " the import up with \(place.giveUp)"
    return told
  }

  private func removeAll() {
    external?.undo()
    try? place.scratch.remove()
  }
}
