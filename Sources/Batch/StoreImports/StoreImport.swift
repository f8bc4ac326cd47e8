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
  public typealias Options = ImportOptions
  /// A line that was left out.
  public typealias Reject = ImportReject
  /// What was made.
  public typealias Summary = ImportSummary

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

  /// The faults of a store that was made of objects.
  static func violations(
    in path: String, of model: ManagedObjectModel, _ fileSystem: any FileSystem, monitor: RunMonitor = RunMonitor()
  ) throws -> [Violation] {
    let report = try StoreVerifier(path: path, model: model, fileSystem: fileSystem).verify(
      mode: .fast, monitor: monitor)
    // Files of external data are copied afterwards, and those that are missing are counted.
    return report.violations.filter { $0.kind != .externalData }
  }

  /// The error of a fault; `hint` is what to do about objects that do not fit together.
  static func mismatch(_ violation: Violation, hint: String) -> BatchError {
    BatchError(
      .mismatch, "the objects do not make a sound store: \(violation)", hint: hint, effect: .nothingWritten)
  }
}
