import Codecs
import CoreDataModel
import CoreDataStore
import Foundation
import MigrationJobs
import Migrations
import RunSupport
import StoreVerification
import Streams

/// One import, from its beginning or from a checkpoint to the store's name.
final class ImportRun {
  private let model: ManagedObjectModel
  private let options: StoreImport.Options
  private let place: ImportPlace
  private let fileSystem: any FileSystem
  private let monitor: RunMonitor
  private let plan: ImportPlan
  private let inputs: [String]
  private let others: [String]
  private let files: StepFiles
  private let list: ImportRejectList?
  private let reader: ImportReader
  private var external: ImportExternalFiles?
  /// Objects that an earlier process had read.
  private var objectsBefore: UInt64 = 0

  /// Looks at what is asked for. Nothing is written.
  init(
    _ model: ManagedObjectModel, options: StoreImport.Options, _ inputs: [String], to path: String,
    fileSystem: any FileSystem, monitor: RunMonitor, reject: @escaping (StoreImport.Reject) throws -> Void
  ) throws {
    (self.model, self.options, self.fileSystem, self.monitor) = (model, options, fileSystem, monitor)
    let place = try ImportPlace(path, fileSystem)
    self.place = place
    list = options.rejects.map { ImportRejectList($0, working: place.rejects, fileSystem) }
    if try !place.scratch.isThere() {
      try place.refuseTaken(path, fileSystem)
      try list?.refuseTaken()
    }
    external = try options.external.map { try ImportExternalFiles($0, for: path, fileSystem) }
    files = StepFiles(prefix: place.working, fileSystem: fileSystem, budget: options.memory)
    plan = try ImportPlan(model, validation: options.validation)
    (self.inputs, others) = try ImportFiles.all(inputs, fileSystem)
    reader = try ImportReader(plan, files: files, options: options, list: list, reject: reject)
  }

  func run() throws -> StoreImport.Summary {
    let lease = try place.begin()
    defer { lease.release() }
    lease.guardRun(monitor)
    let note = ImportNote(version: model.name, files: inputs.map(Self.whole), arguments: options.arguments)
    let journal = ImportJournal(
      place, note: note, request: try fingerprint, model: try PlanFingerprint.of(model), lease: lease,
      monitor: monitor, fileSystem: fileSystem, encode: { [reader] in try reader.encode(into: &$0) },
      sync: { [reader] in try reader.sync() })
    let found = try interrupted(journal)
    do {
      if found == nil { try begin(journal) }
      let pulse = RunPulse(place.job, monitor: monitor)
      defer { pulse.end() }
      let summary = try finish(found, journal)
      // It writes to the folder.
      pulse.end()
      // What is left of it is removed by whoever goes on.
      try? place.scratch.remove()
      return summary
    } catch {
      throw settled(error, journal)
    }
  }

  /// Where an interrupted import goes on. What it left stays, whatever is found.
  private func interrupted(_ journal: ImportJournal) throws -> ImportJournal.Found? {
    do {
      let found = try journal.find()
      if found != nil { try place.scratch.refuseLinks() }
      return found
    } catch {
      let told = BatchError(wrapping: error)
      throw told.effect == .resumable ? told : kept(told)
    }
  }

  private func begin(_ journal: ImportJournal) throws {
    try journal.begin()
    try place.refuseTaken(place.store, fileSystem)
    try list?.refuseTaken()
    try journal.write(isDurable: false)
  }

  /// What the store's bytes, and those of the list, depend on beside the model and the contents of files.
  private var fingerprint: [UInt8] {
    get throws {
      var writer = ByteWriter()
      writer.writeString("import 3")
      writer.writeArray(inputs.map(Self.whole)) { $0.writeString($1) }
      for text in [options.validation.rawValue, options.mostRejects.text] + options.unique { writer.writeString(text) }
      for text in [options.uuid, options.external.map(Self.whole), options.rejects.map(Self.whole)] {
        writer.writeOptional(text) { $0.writeString($1) }
      }
      // It decides which lines are too long.
      writer.writeInt(options.memory.total)
      return SHA256.hash(writer.bytes)
    }
  }

  private static func whole(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }

  // MARK: The way of an import

  private func finish(_ found: ImportJournal.Found?, _ journal: ImportJournal) throws -> StoreImport.Summary {
    if let found, found.phase == .named, let summary = try named(found) { return summary }
    if let found { try found.read("reader") { try reader.restore(from: &$0, inputs, monitor) } }
    objectsBefore = reader.objects
    if found == nil || found?.phase == .reading {
      if let found { try found.read("sides") { try reader.sides.restore(from: &$0, plan) } }
      try read(journal)
    } else {
      try journal.keepReader()
    }
    var summary = try found.flatMap { try Self.summary($0) } ?? write(found, journal)
    (summary.rejects, summary.passedOver, summary.emptyFiles) = (reader.rejects, others, reader.emptyFiles)
    tell(0.95, "verification")
    try StoreImport.verify(
      files.prefix, of: model, fileSystem, monitor: monitor,
      hint: "Correct the files: a key must be that of an object that is imported, too")
    let outside = try external?.find(reader.externalFiles) ?? []
    try external?.copy(outside, monitor)
    summary.externalFiles = UInt64(outside.count)
    summary.missingFiles = UInt64(reader.externalFiles.count - outside.count)
    try list?.publish()
    try name(summary, journal)
    return summary
  }

  private func tell(_ done: Double, _ activity: String) {
    let rows = reader.objects - objectsBefore
    monitor.update { ($0.fraction, $0.rows, $0.activity) = (max($0.fraction, done), rows, activity) }
  }

  private func read(_ journal: ImportJournal) throws {
    try reader.read(inputs) { lines, bytes, done in
      tell(done / 2, "reading")
      monitor.hold(rows: lines, bytes: bytes)
      if journal.isDue(adding: bytes) { try publishReading(journal) }
    }
    try reader.judgeShare(inputs)
    if reader.hasReferences {
      if journal.isBegun || journal.isDue(adding: 0) { try publishReading(journal) }
      try reader.answer(inputs)
    }
    // Else all is in memory, and read again as fast; but what an earlier checkpoint says of it is not all.
    if journal.isBegun || !reader.spool.isInMemory { try journal.keepReader() }
  }

  private func publishReading(_ journal: ImportJournal) throws {
    try journal.keepReader()
    var sides = ByteWriter()
    try reader.sides.encode(into: &sides)
    try journal.publish(.reading, ["sides": sides])
  }

  private func write(_ found: ImportJournal.Found?, _ journal: ImportJournal) throws -> StoreImport.Summary {
    if let found, found.phase == .tables { try found.read("sides") { try reader.sides.restore(from: &$0, plan) } }
    var summary = StoreImport.Summary()
    summary.uuid = options.uuid ?? reader.uuid ?? ImportFiles.uuid(reader.digests)
    let metadata = StoreMetadata.new(
      uuid: summary.uuid, versionHashes: model.versionHashes, identifiers: model.versionIdentifiers)
    let writer = ImportWriter(
      plan, spool: reader.spool, sides: reader.sides, lines: ImportLines(paths: inputs), files: files, monitor: monitor,
      journal: journal
    ) { [unowned self] in tell(0.5 + 0.45 * $0, "writing") }
    let isBehindReading = found.map { $0.phase != .reading } ?? false
    (summary.rows, summary.links) = try writer.write(
      metadata, objects: reader.objects, from: isBehindReading ? found : nil)
    if journal.isBegun || journal.isDue(adding: 0) { try journal.publish(.built, ["summary": summary.encoded]) }
    return summary
  }

  // MARK: The store's name

  private static func summary(_ found: ImportJournal.Found) throws -> StoreImport.Summary? {
    guard found.phase == .built || found.phase == .named else { return nil }
    return try found.read("summary") { try StoreImport.Summary(from: &$0) }
  }

  private func name(_ summary: StoreImport.Summary, _ journal: ImportJournal) throws {
    if journal.isBegun {
      try journal.publish(.named, ["summary": summary.encoded])
    }
    // It may have taken long.
    try place.refuseTaken(place.store, fileSystem)
    try fileSystem.rename(files.prefix, to: place.store)
    try fileSystem.syncDirectory(FilePaths.directory(of: place.store))
  }

  /// The summary, if the store has its name already. An application may have written to it since.
  private func named(_ found: ImportJournal.Found) throws -> StoreImport.Summary? {
    guard try fileSystem.statusOfName(files.prefix) == nil, try fileSystem.status(place.store) != nil else {
      return nil
    }
    return try Self.summary(found)
  }

  // MARK: Errors

  /// Errors that would come again.
  private static let lasting: Set<BatchError.Code> = [
    .refused, .tooManyRejects, .mismatch, .badModel, .init(.tooLarge), .init(.unsupported),
  ]

  /// What an error leaves: a checkpoint to go on from, or nothing.
  private func settled(_ error: any Error, _ journal: ImportJournal) -> any Error {
    if error is CallersError, !journal.isBegun { removeAll() }
    guard !(error is CallersError) else { return error }
    var told = BatchError(wrapping: error)
    guard told.effect != .resumable, told.code != .leaseHeld else { return told }
    // What is in the way of a whole store's name can be moved away.
    let isWhole = journal.phase == .built || journal.phase == .named
    let isLasting = Self.lasting.contains(told.code) && (!isWhole || told.code == .mismatch)
    if !isLasting, journal.isBegun { return kept(told) }
    if told.code == .tooManyRejects { try? list?.publish() }
    removeAll()
    told.effect = .nothingWritten
    guard told.code == .stopped, !options.arguments.isEmpty else { return told }
    let again = ProgramName.command(options.arguments)
    (told.hint, told.next) = ("Begin anew with \(again)", [again.line])
    return told
  }

  /// An error behind a checkpoint.
  private func kept(_ error: BatchError) -> BatchError {
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
