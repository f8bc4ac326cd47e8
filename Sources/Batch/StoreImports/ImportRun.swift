import Codecs
import CoreDataModel
import CoreDataStore
import Foundation
import MigrationJobs
import Migrations
import RunSupport
import Streams

/// One import, from its beginning or from a checkpoint to the store's name.
final class ImportRun {
  let model: ManagedObjectModel
  let options: ImportOptions
  let place: ImportPlace
  let fileSystem: any FileSystem
  let monitor: RunMonitor
  let plan: ImportPlan
  let inputs: [String]
  let others: [String]
  let files: StepFiles
  let list: ImportRejectList?
  let reader: ImportReader
  var external: ImportExternalFiles?
  /// Whether it was found that the objects do not fit together, which no other process would find otherwise.
  var isFaulty = false
  /// Objects that an earlier process had read.
  private var objectsBefore: UInt64 = 0

  /// Looks at what is asked for. Nothing is written.
  init(
    _ model: ManagedObjectModel, options: ImportOptions, _ inputs: [String], to path: String,
    fileSystem: any FileSystem, monitor: RunMonitor, reject: @escaping (ImportReject) throws -> Void
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
    plan = try ImportPlan(model, validation: options.validation, allowsDangling: options.allowsDangling)
    (self.inputs, others) = try ImportFiles.all(inputs, fileSystem)
    reader = try ImportReader(plan, files: files, options: options, list: list, reject: reject)
  }

  func run() throws -> ImportSummary {
    let lease = try place.begin()
    defer { lease.release() }
    lease.guardRun(monitor)
    let journal = ImportJournal(
      place, note: try note.seeing(fileSystem), request: try fingerprint, model: try PlanFingerprint.of(model),
      lease: lease,
      monitor: monitor, fileSystem: fileSystem, encode: { [reader] in try reader.encode(into: &$0) },
      sync: { [reader] in try reader.sync() })
    let found = try interrupted(journal)
    do {
      let summary = try made(journal) ?? make(found, journal)
      // What is left of it is removed by whoever goes on.
      try? place.scratch.removeFinished()
      return summary
    } catch {
      throw settled(error, journal)
    }
  }

  /// Where an interrupted import goes on. What it left stays, whatever is found.
  private func interrupted(_ journal: ImportJournal) throws -> ImportJournal.Found? {
    do {
      return try usable(journal.find())
    } catch {
      let told = BatchError(wrapping: error)
      throw told.effect == .resumable ? told : kept(told)
    }
  }

  private func make(_ found: ImportJournal.Found?, _ journal: ImportJournal) throws -> ImportSummary {
    if found == nil { try begin(journal) }
    let pulse = RunPulse(place.job, monitor: monitor)
    // It writes to the folder.
    defer { pulse.end() }
    return try finish(found, journal)
  }

  private func begin(_ journal: ImportJournal) throws {
    try journal.begin()
    try refuseTaken()
    try journal.write(isDurable: false)
  }

  /// What the store's bytes, and those of the list, depend on beside the model and the contents of files.
  var fingerprint: [UInt8] {
    get throws {
      var writer = ByteWriter()
      writer.writeString("import 5")
      writer.writeArray(inputs.map(ImportFiles.whole)) { $0.writeString($1) }
      for text in [options.validation.rawValue, options.mostRejects.text] + options.unique { writer.writeString(text) }
      for text in [options.uuid, options.external.map(ImportFiles.whole), options.rejects.map(ImportFiles.whole)] {
        writer.writeOptional(text) { $0.writeString($1) }
      }
      writer.writeBool(options.allowsDangling)
      // It decides which lines are too long.
      writer.writeInt(options.memory.total)
      return SHA256.hash(writer.bytes)
    }
  }

  // MARK: The way of an import

  private func finish(_ found: ImportJournal.Found?, _ journal: ImportJournal) throws -> ImportSummary {
    if let found { try found.read("reader") { try reader.restore(from: &$0, inputs, monitor) } }
    objectsBefore = reader.objects
    if found == nil || found?.phase == .reading {
      if let found { try found.read("sides") { try reader.sides.restore(from: &$0, plan) } }
      try read(journal)
    } else {
      try journal.keepReader()
    }
    var summary: ImportSummary
    do { summary = try found.flatMap { try Self.summary($0) } ?? write(found, journal) } catch let link as ImportNowhere
    {
      throw try told(link)
    }
    (summary.rejects, summary.passedOver, summary.emptyFiles) = (reader.rejects, others, reader.emptyFiles)
    tell(0.95, "verification")
    summary.dangling = try verify()
    let outside = try external?.find(reader.externalFiles) ?? []
    try external?.copy(outside, monitor)
    summary.externalFiles = UInt64(outside.count)
    summary.missingFiles = UInt64(reader.externalFiles.count - outside.count)
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
    if reader.hasQuestions {
      if journal.isBegun || journal.isDue(adding: 0) { try publishReading(journal) }
      do { try reader.answer(inputs) } catch {
        isFaulty = true
        throw error
      }
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

  private func write(_ found: ImportJournal.Found?, _ journal: ImportJournal) throws -> ImportSummary {
    if let found, found.phase == .tables { try found.read("sides") { try reader.sides.restore(from: &$0, plan) } }
    var summary = ImportSummary()
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
}
