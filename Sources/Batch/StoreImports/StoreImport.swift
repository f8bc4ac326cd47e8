import CoreDataModel
import CoreDataStore
import Migrations
import RunSupport
import StoreExports
import StoreVerification
import Streams

/// Makes a store of objects that stand in files: the inverse of an export. Its pages are built in order, as a migration
/// builds them; everything is sorted on disk, so memory does not grow with the number of objects. The same files give
/// the same bytes.
public struct StoreImport: Sendable {
  /// How objects become a store.
  public struct Options: Sendable {
    /// Which rules of the model objects must keep.
    public var validation = ValidationMode.required
    /// Lines that may be left out because they are wrong; the next one ends the import.
    public var mostRejects: UInt64 = 0
    /// Attributes, as `User.userId`, by whose values relationships may refer to objects, beside those that the model
    /// keeps unique.
    public var unique: [String] = []
    /// The store's UUID; nil for that of the first object's URI, or one that follows from the files.
    public var uuid: String?
    /// A folder with the files of external data, which are copied beside the store; nil if only their names are kept.
    public var external: String?
    /// The memory budget; it bounds the largest object.
    public var memory = MemoryBudget.standard

    /// Makes options.
    public init() {}
  }

  /// A line that was left out.
  public struct Reject: Sendable {
    /// The file.
    public var path: String
    /// The line, from 1.
    public var line: Int
    /// What is wrong with it.
    public var reason: String
  }

  /// What was made.
  public struct Summary: Sendable, Equatable {
    /// Objects by entity; entities without objects are not among them.
    public var rows: [String: UInt64] = [:]
    /// Links of many-to-many relationships.
    public var links: UInt64 = 0
    /// Lines that were left out.
    public var rejects: UInt64 = 0
    /// Files of external data that are beside the store.
    public var externalFiles: UInt64 = 0
    /// References to files that are not in the folder, or were not copied because none was named.
    public var missingFiles: UInt64 = 0
    /// Files in which there is no object.
    public var emptyFiles: [String] = []
    /// What else was in folders that were named, except for hidden files.
    public var passedOver: [String] = []
    /// The store's UUID.
    public var uuid = ""
  }

  /// What is added to the store's name while it is built.
  package static let workingSuffix = ".import"

  private let model: ManagedObjectModel
  private let options: Options

  /// Prepares an import into a store of a model.
  public init(model: ManagedObjectModel, options: Options) { (self.model, self.options) = (model, options) }

  /// Reads the files and makes the store, durable on return, in rollback-journal mode. A file is CSV if it ends with
  /// `.csv`, in either case, else JSON lines; a folder stands for its files of both kinds.
  ///
  /// The store is built as `path` + `.import`, verified, and renamed; after an error nothing of it is left. `reject` is
  /// called with each line that is left out, `progress` now and then with the objects read and the part that is done.
  ///
  /// - Throws: ``BatchError``: `noSuchFile`; `refused` for what a file says wrongly, naming file and line, and when the
  ///   output exists; `tooManyRejects`; `mismatch` when the store's verification finds faults, as keys that lead
  ///   nowhere; and what `reject` throws.
  public func run(
    _ inputs: [String], to path: String, fileSystem: any FileSystem, reject: @escaping (Reject) throws -> Void,
    progress: @escaping (UInt64, Double) -> Void
  ) throws -> Summary {
    try BatchError.borderOfCaller {
      let new = NewFile(path, working: Self.workingSuffix, fileSystem)
      try new.refuseTaken(["-wal", "-journal"])
      var external = try options.external.map { try ImportExternalFiles($0, for: path, fileSystem) }
      let files = StepFiles(prefix: new.working, fileSystem: fileSystem, budget: options.memory)
      let plan = try ImportPlan(model, validation: options.validation)
      let (inputs, others) = try ImportFiles.all(inputs, fileSystem)
      let reader = try ImportReader(plan, files: files, options: options, reject: reject)
      do {
        return try new.make {
          try reader.read(inputs) { progress($0, $1 / 2) }
          let found = try external?.find(reader.externalFiles) ?? []
          var summary = try write(plan, reader, of: inputs, files: files) { progress(reader.objects, 0.5 + $0 / 2) }
          try Self.verify(
            files.prefix, of: model, fileSystem,
            hint: "Correct the files: a key must be that of an object that is imported, too")
          try external?.copy(found)
          summary.externalFiles = UInt64(found.count)
          summary.missingFiles = UInt64(reader.externalFiles.count - found.count)
          (summary.passedOver, summary.emptyFiles) = (others, reader.emptyFiles)
          return summary
        }
      } catch {
        external?.undo()
        throw error
      }
    }
  }

  private func write(
    _ plan: ImportPlan, _ reader: ImportReader, of inputs: [String], files: StepFiles,
    progress: @escaping (Double) -> Void
  ) throws -> Summary {
    let uuid = try options.uuid ?? reader.uuid ?? ImportFiles.uuid(inputs, files.fileSystem)
    let metadata = StoreMetadata.new(
      uuid: uuid, versionHashes: model.versionHashes, identifiers: model.versionIdentifiers)
    var writer = ImportWriter(plan: plan, metadata: metadata, files: files, lines: ImportLines(paths: inputs))
    var summary = try writer.write(reader.spool, reader.sides, objects: reader.objects, progress: progress)
    (summary.rejects, summary.uuid) = (reader.rejects, uuid)
    return summary
  }

  /// Verifies a store that was made of objects; `hint` is what to do if they do not fit together.
  static func verify(
    _ path: String, of model: ManagedObjectModel, _ fileSystem: any FileSystem, hint: String
  ) throws {
    let report = try StoreVerifier(path: path, model: model, fileSystem: fileSystem).verify(mode: .fast)
    // Files of external data are copied afterwards, and those that are missing are counted.
    guard let first = report.violations.first(where: { $0.kind != .externalData }) else { return }
    throw BatchError(
      .mismatch, "the objects do not make a sound store: \(first)", hint: hint, effect: .nothingWritten)
  }
}
