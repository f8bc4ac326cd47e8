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
    /// Lines that may be left out because they are wrong: so many, or so many of a hundred lines of all files. The next
    /// one ends the import; of a share, at the latest behind the last line.
    public var mostRejects = RejectLimit.Most.count(0)
    /// Attributes, as `User.userId`, by whose values relationships may refer to objects, beside those that the model
    /// keeps unique.
    public var unique: [String] = []
    /// The store's UUID; nil for that of the first object's URI, or one that follows from the files.
    public var uuid: String?
    /// A folder with the files of external data, which are copied beside the store; nil if only their names are kept.
    public var external: String?
    /// A new file for the lines that are left out, as CSV; nil if there is to be none.
    public var rejects: String?
    /// The memory budget; it bounds the largest object.
    public var memory = MemoryBudget.standard
    /// The words of the command that asks for the same import from any folder, behind the program's name: for whoever
    /// goes on with it.
    public var arguments: [String] = []
    /// Threads that read large files beside the one that imports. The bytes of the store do not depend on them.
    public var helpers = 1

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

  /// When a checkpoint is due by default. Each has to bring what was sorted by then to the disk.
  public static let standardInterval = RunMonitor.Interval.seconds(5)

  private let model: ManagedObjectModel
  private let options: Options

  /// Prepares an import into a store of a model.
  public init(model: ManagedObjectModel, options: Options) { (self.model, self.options) = (model, options) }

  /// Reads the files and makes the store, durable on return, in rollback-journal mode. A file is CSV if it ends with
  /// `.csv`, in either case, else JSON lines; a folder stands for its files of both kinds.
  ///
  /// The store is built in the folder `.NAME.godwit-import` beside it, verified, and renamed. A process that ends in the
  /// middle leaves that folder, and the next one that imports the same goes on from its last checkpoint, and makes the
  /// same bytes. After an error that would come again nothing is left. `reject` is called with each line that is left
  /// out, if `options` name no list for them, `monitor` knows how far the import is.
  ///
  /// - Throws: ``BatchError``: `noSuchFile`, also for what is no regular file; `refused` for what a file says wrongly, as
  ///   keys that lead nowhere, naming file and line, for a file that is given twice or is of another kind, when the
  ///   output exists, and when another import to it is interrupted; `badCheckpoint` when a file was changed since an
  ///   interrupted import read it; `tooManyRejects`; `stopped`; `mismatch` when the store's verification finds other
  ///   faults; and what `reject` throws.
  public func run(
    _ inputs: [String], to path: String, fileSystem: any FileSystem, monitor: RunMonitor,
    reject: @escaping (Reject) throws -> Void
  ) throws -> Summary {
    try BatchError.borderOfCaller {
      try ImportRun(
        model, options: options, inputs, to: path, fileSystem: fileSystem, monitor: monitor, reject: reject
      ).run()
    }
  }

  /// A file that inputs name twice, by itself or by a folder, and the path by which they did before; nil if there is
  /// none.
  ///
  /// - Throws: ``BatchError``: `noSuchFile`.
  public static func repeatedFile(
    of inputs: [String], fileSystem: any FileSystem
  ) throws -> (file: String, first: String)? {
    try BatchError.looking { try ImportFiles.repeated(in: inputs, fileSystem) }
  }

  /// The first fault of a store that was made of objects.
  static func violation(
    in path: String, of model: ManagedObjectModel, _ fileSystem: any FileSystem, monitor: RunMonitor = RunMonitor()
  ) throws -> Violation? {
    let report = try StoreVerifier(path: path, model: model, fileSystem: fileSystem).verify(
      mode: .fast, monitor: monitor)
    // Files of external data are copied afterwards, and those that are missing are counted.
    return report.violations.first { $0.kind != .externalData }
  }

  /// The error of a fault; `hint` is what to do about objects that do not fit together.
  static func mismatch(_ violation: Violation, hint: String) -> BatchError {
    BatchError(
      .mismatch, "the objects do not make a sound store: \(violation)", hint: hint, effect: .nothingWritten)
  }
}

extension StoreImport.Summary {
  /// Of what was written.
  var encoded: ByteWriter {
    var state = ByteWriter()
    state.writeArray(rows.sorted { $0.key < $1.key }) {
      $0.writeString($1.key)
      $0.writeUInt64($1.value)
    }
    for count in [links, rejects, externalFiles, missingFiles] { state.writeUInt64(count) }
    for names in [emptyFiles, passedOver] { state.writeArray(names) { $0.writeString($1) } }
    state.writeString(uuid)
    return state
  }

  init(from state: inout ByteReader) throws {
    let counts = try state.readArray { (try $0.readString(), try $0.readUInt64()) }
    rows = Dictionary(counts) { first, _ in first }
    (links, rejects) = (try state.readUInt64(), try state.readUInt64())
    (externalFiles, missingFiles) = (try state.readUInt64(), try state.readUInt64())
    (emptyFiles, passedOver) = (
      try state.readArray { try $0.readString() }, try state.readArray { try $0.readString() }
    )
    uuid = try state.readString()
  }
}
