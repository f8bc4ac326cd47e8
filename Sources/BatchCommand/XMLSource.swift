import ArgumentParser
import Batch
import Foundation
import Streams

/// An XML store that a command works on: an SQLite store is made of it first, of which the command knows nothing.
struct XMLSource {
  private let store: XMLStore
  private var path: String { store.path }

  /// Nil if the file is none.
  init?(_ path: String) throws {
    guard try XMLStore.isOne(path) else { return nil }
    store = XMLStore(path)
  }

  private func converted(
    to output: String, _ library: ModelLibrary, _ memory: ByteCount, quiet: Bool, display: ProgressDisplay
  ) throws {
    let made = try store.convert(
      to: output, models: library, memory: MemoryBudget(total: Int(clamping: memory.bytes))
    ) { display.show(MigrationProgress(fraction: $1, rows: $0, seconds: display.seconds)) }
    display.end()
    let objects = made.rows.values.reduce(0, +)
    if !quiet {
      Console.note(
        "\(path) is an XML store: its \(objects.counted("object")) \(objects.verb("was", "were")) read as \(made.version)"
      )
    }
  }

  // MARK: Looking

  /// Calls `body` with an SQLite store that is gone afterwards.
  func reading(_ library: ModelLibrary?, memory: ByteCount, quiet: Bool, _ body: (String) throws -> Void) throws {
    guard let library else {
      throw BatchError(
        .noModel, "the XML store's model is not known: such a store carries none",
        hint: "Give --models with the version that wrote the store, or list what it holds: \(inspection)", path: path)
    }
    try UnfinishedFiles.withFolder("xml", in: LocalFileSystem()) { folder in
      let copy = FilePaths.join(folder, FilePaths.name(of: path))
      let display = ProgressDisplay(quiet ? .none : ProgressMode.auto.resolved(json: false))
      defer { display.end() }
      do {
        try converted(to: copy, library, memory, quiet: quiet, display: display)
        try body(copy)
      } catch  where ExitCodes.isOurs(error) { throw named(BatchError(wrapping: error), for: copy) }
    }
  }

  /// An error that speaks of the file that was named, where it speaks of the store that was made of it.
  private func named(_ error: BatchError, for copy: String) -> BatchError {
    // Where there is no space is said by the place.
    guard error.code != BatchError.Code(.diskFull) else { return error }
    func told(_ text: String) -> String { text.replacing(copy, with: path) }
    var error = error
    if error.path?.hasPrefix(copy) == true { error.path = path }
    (error.message, error.hint) = (told(error.message), error.hint.map(told))
    error.next = error.next.map(told)
    return error
  }

  private var inspection: AdvisedCommand { ProgramName.command(["inspect", path]) }

  /// What an XML store does not have.
  func refuse(_ option: String, _ what: String) -> BatchError {
    BatchError(
      .refused, "\(option) reads \(what), which an XML store does not have",
      hint: "Leave it out, or list what the store holds: \(inspection)", effect: .nothingWritten, path: path)
  }
}

extension XMLSource {
  // MARK: Migrating

  /// What reports name: what is made of it is gone then.
  var file: RunHistory.SourceFile? {
    guard let status = (try? LocalFileSystem().status(path)) ?? nil else { return nil }
    return RunHistory.SourceFile(
      path: URL(fileURLWithPath: path).standardizedFileURL.path, bytes: status.size, modified: status.modified)
  }

  /// The store that is migrated in place of this one; one that is there already is made anew if a run is given up.
  func migrated(
    to output: String, models: ModelArguments, arguments: [String], memory: ByteCount, operating: OperatingOptions,
    restarts: Bool, continues: Bool
  ) throws -> String {
    let (copy, files) = (XMLCopy.path(for: output), LocalFileSystem())
    if try files.statusOfName(copy) != nil {
      if try keepsCopy(for: output, arguments, restarts: restarts) { return copy }
      try files.remove(copy)
    }
    // An output that an earlier run has made of the same objects is not made again, which the copy shows.
    if !continues, !Self.isUnderWay(output) { try NewFile(output, working: "", files).refuseTaken() }
    try models.demand()
    guard let library = try models.library() else { return copy }
    let display = ProgressDisplay(operating.quiet ? .none : operating.progressMode)
    defer { display.end() }
    try converted(
      to: copy, library, memory, quiet: operating.quiet || operating.json, display: display)
    return copy
  }

  /// Whether somebody needs what was made of the store for an earlier run. A process at work does, and refuses this one;
  /// a run goes on from what it began with. Without a plan there is no run yet that could.
  private func keepsCopy(for output: String, _ arguments: [String], restarts: Bool) throws -> Bool {
    switch try MigrationJob().status(output).state {
    case .running: return true
    case .none: return false
    case .cutOver, .finished: return !restarts
    case .interrupted, .failed:
      if !restarts { try requireUnchanged(arguments, output) }
      return !restarts
    }
  }

  /// Throws `badCheckpoint` if what a run goes on from was read before the XML store was written to.
  private func requireUnchanged(_ arguments: [String], _ output: String) throws {
    guard try MigrationJob().isOriginChanged(ofRunTo: output) == true else { return }
    let restart = ProgramName.command(
      ["migrate", path] + arguments + ["--output", output, "--restart"])
    throw XMLCopy.refusal(
      of: path, anew: "Begin anew with \(restart)", next: [restart],
      resume: ProgramName.command("resume", XMLCopy.path(for: output)))
  }

  /// What a migration is told that names no output, or a server.
  func outputIsMissing(_ models: ModelOptions, isLoad: Bool) -> BatchError {
    let whole = migration(models)
    let way = whole?.description ?? FileKind.xmlWay
    let name = "Name that one\(whole == nil ? ", with" : ":") \(way)"
    return BatchError(
      .refused, "an XML store is not \(isLoad ? "loaded" : "replaced"): its objects go to an SQLite store",
      hint: isLoad
        ? "Make that with \(way), and load it"
        : "\(name). In a list it stands behind the store, after a tab", effect: .nothingWritten,
      next: whole.map { [$0.line] } ?? [], path: path)
  }

  /// A plan is of a store that a migration reads, and this one is not that yet.
  func refusePlan(_ models: ModelOptions) -> BatchError {
    let whole = migration(models)
    return BatchError(
      .refused, "this is an XML store, and a plan is of an SQLite store",
      hint: "Make one, at the target version, with \(whole?.description ?? FileKind.xmlWay)", effect: .nothingWritten,
      next: whole.map { [$0.line] } ?? [], path: path)
  }

  /// Nil if nobody knows the models.
  private func migration(_ models: ModelOptions) -> AdvisedCommand? {
    models.named.isEmpty
      ? modelsBeside.map { migration($0 + models.arguments) } : migration(models.arguments)
  }

  private func migration(_ options: [String]) -> AdvisedCommand {
    ProgramName.command(["migrate", path] + options + ["--output", FileKind.freeOutput(for: path)])
  }

  /// The error of a command that reads SQLite stores alone, with the whole command that makes one: by the models that
  /// the command names, or those beside the store. Any other error as it is.
  static func completing(_ error: BatchError, _ named: ModelArguments?) -> BatchError {
    guard error.code == .xmlStore, let path = error.path, let source = (try? XMLSource(path)) ?? nil else {
      return error
    }
    let given = named.flatMap { $0.isEmpty ? nil : $0.arguments + $0.swift.arguments }
    guard let options = given ?? source.modelsBeside else { return error }
    let whole = source.migration(options)
    var error = error
    (error.hint, error.next) = ("\(FileKind.xmlHint): \(whole)", [whole.line])
    return error
  }

  private static let mostModels = 20

  /// The option that names the model in the store's folder that has its version; nil if there is none, or no other
  /// command could say which.
  private var modelsBeside: [String]? {
    let folder = FilePaths.directory(of: URL(fileURLWithPath: path).path)
    let names = ((try? LocalFileSystem().list(folder)) ?? []).filter {
      ModelReader.extensions.contains(URL(fileURLWithPath: $0).pathExtension)
    }
    let fitting = names.prefix(Self.mostModels).map { FilePaths.join(folder, $0) }.filter {
      guard let library = try? ModelLibrary(paths: [$0]) else { return false }
      return (try? store.fits(library)) == true
    }
    return fitting.count == 1 ? ["--models", fitting[0]] : nil
  }

  private static func isUnderWay(_ output: String) -> Bool {
    // What cannot be looked at may be a run.
    (try? JobDirectory(destination: output).exists(LocalFileSystem())) ?? true
  }

  /// Runs a migration to an output, and removes the store that was made for it, unless somebody goes on from that: a run
  /// that waits to be resumed, or the replay of objects that were rejected.
  static func tidying(_ output: String?, _ body: () throws -> Void) throws {
    var isReplayed = false
    defer { if let output, !isReplayed { tidy(output) } }
    do { try body() } catch let code as ExitCode {
      isReplayed = code.rawValue == ExitCodes.rejects
      throw code
    }
  }

  private static func tidy(_ output: String) {
    let copy = XMLCopy.path(for: output)
    guard (try? LocalFileSystem().statusOfName(copy)) ?? nil != nil, !isUnderWay(output) else { return }
    try? LocalFileSystem().remove(copy)
  }
}
