import Codecs
import CoreDataModel
import CoreDataStore
import Migrations
import RunSupport
import Streams

/// A store that Core Data keeps as XML (NSXMLStoreType). It is only read: it can be looked at, and an SQLite store of
/// the same version can be made of it, with the same objects, keys, UUID and metadata.
public struct XMLStore: Sendable {
  /// What was made of a store.
  public struct Conversion: Sendable {
    /// The version of its model.
    public var version: String
    /// Objects by entity; entities without objects are not among them.
    public var rows: [String: UInt64]
    /// Links of many-to-many relationships.
    public var links: UInt64
  }

  /// The file.
  public let path: String
  private let fileSystem: any FileSystem

  /// Whether a file is an XML store, by its first bytes.
  ///
  /// - Throws: ``BatchError``: what the file system throws.
  public static func isOne(_ path: String, _ fileSystem: any FileSystem = LocalFileSystem()) throws -> Bool {
    try BatchError.border {
      guard let status = try fileSystem.status(path), status.isRegularFile else { return false }
      return try FileKind.of(path, fileSystem) == .xmlStore
    }
  }

  /// Names a store; nothing is read yet.
  public init(_ path: String, _ fileSystem: any FileSystem = LocalFileSystem()) {
    (self.path, self.fileSystem) = (path, fileSystem)
  }

  /// Looks at the store: what its metadata say, and how many objects it has. Objects are only counted; that their
  /// references lead somewhere is not known before a conversion.
  ///
  /// - Throws: ``BatchError``: `noSuchFile`, and `badStore` when the file does not begin as an XML store does. What is
  ///   wrong later is a problem of the inspection.
  public func inspect(models: ModelLibrary?) throws -> XMLStoreInspection {
    try BatchError.border {
      let scanner = try XMLStoreScanner(path, fileSystem)
      return try XMLStoreInspection(scanner, models: models, size: fileSystem.status(path)?.size ?? 0)
    }
  }

  /// Whether one of the models has the version hashes of the store.
  ///
  /// - Throws: ``BatchError``, as ``inspect(models:)``.
  public func fits(_ models: ModelLibrary) throws -> Bool {
    try BatchError.border {
      let header = try XMLStoreScanner(path, fileSystem).header
      return models.model(matching: try Self.metadata(header, path).versionHashes) != nil
    }
  }

  /// Makes an SQLite store of it, verified and durable on return, in rollback-journal mode. The same file gives the same
  /// bytes. `output` must not exist; after an error nothing of it is left.
  ///
  /// The model is that of `models` whose hashes are the store's. Of its entities and properties the file has only names
  /// in one case, so the model gives them back. `progress` is called now and then with the objects read and the part
  /// that is done.
  ///
  /// - Throws: ``BatchError``: `noModel`; `badStore` for what is wrong in the file, naming line and object; `refused`
  ///   when the output exists or an object is too large for the memory; `mismatch` when verification finds faults.
  public func convert(
    to output: String, models: ModelLibrary, memory: MemoryBudget = .standard,
    progress: @escaping (UInt64, Double) -> Void = { _, _ in }
  ) throws -> Conversion {
    // After an error nothing of it is left.
    try BatchError.looking {
      let new = NewFile(output, working: ".new", fileSystem)
      let files = StepFiles(prefix: new.working, fileSystem: fileSystem, budget: memory)
      return try new.make {
        let before = try fileSystem.status(path)
        let conversion = try write(files, models: models, size: before?.size ?? 0, progress: progress)
        guard try fileSystem.status(path) == before else {
          throw BatchError(
            .badStore, "the file was changed by another program while it was read",
            hint: "Close that program and run again", effect: .nothingWritten, path: path)
        }
        return conversion
      }
    }
  }

  private func write(
    _ files: StepFiles, models: ModelLibrary, size: UInt64, progress: @escaping (UInt64, Double) -> Void
  ) throws -> Conversion {
    let scanner = try XMLStoreScanner(path, fileSystem)
    let metadata = try Self.metadata(scanner.header, path)
    guard let model = models.model(matching: metadata.versionHashes) else {
      throw models.noModel(for: metadata.versionHashes, path: path)
    }
    let plan = try ImportPlan(model, validation: .none)
    let reader = try XMLStoreReader(scanner, plan, files: files)
    do {
      try reader.read { progress(reader.objects, 0.5 * Double($0) / Double(max(1, size))) }
      let writer = ImportWriter(
        plan, spool: reader.spool, sides: reader.sides, lines: ImportLines(paths: [path]), files: files
      ) { progress(reader.objects, 0.5 + $0 / 2) }
      let (rows, links) = try writer.write(metadata, objects: reader.objects)
      if let violation = try StoreImport.violations(in: files.prefix, of: model, fileSystem).first {
        throw StoreImport.mismatch(
          violation, hint: "Open the store once with its application, or take another copy of it")
      }
      return Conversion(version: model.name, rows: rows, links: links)
    } catch var error as BatchError where error.path == nil {
      // What the import finds names lines of this file.
      error.path = path
      throw error
    }
  }

  static func metadata(_ header: XMLStoreHeader, _ path: String) throws -> StoreMetadata {
    guard StoreMetadata.hasHashes(header.entries) else {
      throw BatchError(
        .badStore, "the XML store has no version hashes, as those of Mac OS X 10.4: no model can be found for it",
        hint: "Open it once with its application on a later system", path: path)
    }
    return try StoreMetadata.database(uuid: header.uuid, entries: header.entries, path: path)
  }
}
