import CoreDataModel
import CoreDataStore
import RunSupport
import Streams

/// Makes a complete store of a model, filled with objects that nobody has to protect: for trials, tests, measurements.
///
/// The bytes of the store follow from model, number of objects and seed alone. Every value is computed from its place,
/// so memory does not grow with the number of objects. Entries of the model's user infos shape the data:
/// `godwit.sample.share` of an entity (its weight in the distribution of objects), and of an attribute
/// `godwit.sample.distinct` (number of different values), `godwit.sample.prefix` (what every text begins with),
/// `godwit.sample.null` = `never` and `godwit.sample.edges` = `never`.
///
/// One value in 64 lies at a border of its type: the least and greatest numbers, empty and long texts, letters of every
/// kind. Optional attributes and to-ones are NULL in one row of 16, required ones only if nothing can stand there: the
/// destination has no object, none is left in a one-to-one, or distinct values have run out. Derived attributes are
/// NULL.
public struct StoreSampler: Sendable {
  private let model: ManagedObjectModel
  private let rows: UInt64
  private let seed: UInt64
  private let intoLog: Bool

  /// Prepares a sample. `rows` is the number of objects of all entities together, at most 4,294,967,295.
  ///
  /// `intoLog`: all objects lie in the store's `-wal` file, as in a store that was never checkpointed; the main file is
  /// that of an empty store.
  public init(model: ManagedObjectModel, rows: UInt64, seed: UInt64, intoLog: Bool = false) {
    self.intoLog = intoLog
    self.model = model
    self.rows = rows
    self.seed = seed
  }

  /// Writes the store with all indexes, durable on return; in rollback-journal mode, or in WAL mode with its log.
  ///
  /// `progress` is called now and then with the part that is done, from 0 to 1. The file is written as `path` +
  /// `.sample` and renamed at the end; after an error nothing of it is left.
  ///
  /// - Throws: ``BatchError`` (`refused` when the output or a journal of its name exists, or `rows` is too large;
  ///   `badModel`), and a full disk by the page engine's `diskFull`.
  public func write(
    to path: String, fileSystem: any FileSystem, budget: MemoryBudget = .standard, progress: (Double) -> Void
  ) throws {
    try BatchError.border {
      guard rows <= UInt64(UInt32.max) else {
        throw BatchError(.refused, "\(rows) objects are more than a sample can have: \(UInt32.max)", path: path)
      }
      let plan = try SamplePlan(model: model, rows: rows, seed: seed)
      // A journal left behind by another store would be applied to this one.
      for name in [path, path + "-wal", path + "-journal"] where try fileSystem.statusOfName(name) != nil {
        throw BatchError(
          .refused, "the file exists already, and a sample replaces nothing", hint: "Choose another name or remove it",
          path: name)
      }
      let files = StepFiles(prefix: path + ".sample", fileSystem: fileSystem, budget: budget)
      do {
        try UnfinishedFiles.keeping(files.prefix) {
          try withoutActuallyEscaping(progress) {
            try SampleWriter(plan: plan, metadata: metadata(), files: files).write(progress: $0)
          }
          if intoLog { try moveIntoLog(files, path) }
          try fileSystem.rename(files.prefix, to: path)
        }
      } catch {
        for name in [files.prefix, files.path("full"), path + "-wal"] { try? fileSystem.remove(name) }
        throw error
      }
      try fileSystem.syncDirectory(FilePaths.directory(of: path))
      progress(1)
    }
  }

  /// Puts the pages of the finished file into the log, and an empty store in its place.
  private func moveIntoLog(_ files: StepFiles, _ path: String) throws {
    let fileSystem = files.fileSystem
    try fileSystem.rename(files.prefix, to: files.path("full"))
    let empty = try SamplePlan(model: model, rows: 0, seed: seed)
    try SampleWriter(plan: empty, metadata: metadata(), files: files, version: .writeAheadLog).write { _ in }
    let (full, log) = (try fileSystem.open(files.path("full"), .read), try fileSystem.open(path + "-wal", .create))
    defer {
      full.close()
      log.close()
    }
    let salts = SampleHash.word(SampleHash.base(seed, "log"), 0)
    var builder = LogBuilder(salts: (UInt32(truncatingIfNeeded: salts >> 32), UInt32(truncatingIfNeeded: salts)))
    try builder.write(full, pageSize: SampleWriter.pageSize, to: log)
    try log.sync()
    try fileSystem.remove(files.path("full"))
  }

  private func metadata() -> StoreMetadata {
    .new(uuid: uuid, versionHashes: model.versionHashes, identifiers: model.versionIdentifiers)
  }

  /// The store's identity: a UUID of version 4 made from the seed.
  private var uuid: String {
    let base = SampleHash.base(seed, "store")
    let high = SampleHash.word(base, 0) & ~0xF000 | 0x4000
    let low = SampleHash.word(base, 1) & ~(0b11 << 62) | 0b10 << 62
    let digits = [high, low].map { word in
      let text = String(word, radix: 16, uppercase: true)
      return String(repeating: "0", count: 16 - text.count) + text
    }
    var text = ""
    for (place, digit) in digits.joined().enumerated() {
      if [8, 12, 16, 20].contains(place) { text += "-" }
      text.append(digit)
    }
    return text
  }
}
