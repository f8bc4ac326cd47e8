import CoreDataModel
import CoreDataStore
import Migrations
import RunSupport
import Streams

/// Writes the objects of a store as text that people and other programs read: table after table, in the order of their
/// keys. The store is read page by page; memory does not grow with the number of objects.
public struct StoreExport: Sendable {
  private let reader: StoreReader
  private let binding: StoreBinding
  private let options: ExportOptions
  private let fileSystem: any FileSystem

  /// Prepares an export. The model is that of the store.
  ///
  /// - Throws: ``BatchError``: `badStore` when the store's tables are not those of the model, `refused` when the model
  ///   has no such entity or property.
  public init(_ reader: StoreReader, model: ManagedObjectModel, options: ExportOptions, fileSystem: any FileSystem)
    throws
  {
    do {
      binding = try StoreBinding(reader, model: model)
      self.reader = reader
      self.options = options
      self.fileSystem = fileSystem
      try ExportOptions.check(entity: options.entity, of: binding.layout, path: reader.path)
      try checkColumns(model)
    } catch { throw BatchError(wrapping: error) }
  }

  private func checkColumns(_ model: ManagedObjectModel) throws {
    let entities = binding.layout.entityNames.filter { name in
      options.entity.map { model.isKind(name, of: $0) } ?? true
    }
    let names = entities.flatMap { entity in
      model.storedAttributes(of: entity).flatMap { [$0.path, String($0.path.prefix { $0 != "." })] }
        + model.relationships(of: entity).map(\.name)
    }
    let known = Set(names)
    for column in options.columns where !known.contains(column) {
      let sorted = known.sorted(by: NameOrder.codeUnits)
      throw BatchError(
        .refused, "there is no property \(column)\(NearName.question(column, in: sorted))",
        hint: options.entity.map { "\($0) has \(sorted.joined(separator: ", "))" } ?? "Name the entity, too",
        path: reader.path)
    }
  }

  /// Opens a store for an export: nobody may write while it is read. In WAL mode that takes the store for itself alone.
  ///
  /// - Throws: ``BatchError``.
  public static func open(_ path: String, _ fileSystem: any FileSystem) throws -> StoreReader {
    try BatchError.border {
      let reader = try SourceStore.opened(path, fileSystem, locking: .shared)
      guard reader.snapshot.header.version == .writeAheadLog else { return reader }
      reader.close()
      return try SourceStore.opened(path, fileSystem, locking: .exclusive)
    }
  }

  /// Writes everything as one text, or as one file of Parquet. `sink` takes it in pieces; `progress` is called now and then with the objects
  /// written and the part of the tables that is read, from 0 to 1.
  ///
  /// - Throws: ``BatchError``: `refused` for CSV and Parquet without an entity; and what `sink` throws.
  public func run(
    to sink: @escaping (UnsafeRawBufferPointer) throws -> Void, progress: (UInt64, Double) -> Void = { _, _ in }
  ) throws -> ExportSummary {
    guard options.format == .jsonLines || options.entity != nil else {
      throw options.format.refusal(path: reader.path)
    }
    return try write(apart: false, to: { _ in sink }, progress)
  }

  /// Writes the objects of each root entity and its sub-entities as a text of their own, which bears the root entity's
  /// name. The rest is as for ``run(to:progress:)``.
  ///
  /// - Throws: ``BatchError``, and what `parts` and its results throw.
  public func run(toEach parts: @escaping ExportParts, progress: (UInt64, Double) -> Void = { _, _ in }) throws
    -> ExportSummary
  {
    try write(apart: true, to: parts, progress)
  }

  private func write(apart: Bool, to parts: @escaping ExportParts, _ progress: (UInt64, Double) -> Void) throws
    -> ExportSummary
  {
    try BatchError.borderOfCaller {
      // Links of to-many relationships are sorted on disk.
      guard options.includesToMany else { return try write(apart: apart, to: parts, scratch: "", progress) }
      return try UnfinishedFiles.withFolder("export", in: fileSystem) {
        try write(apart: apart, to: parts, scratch: $0, progress)
      }
    }
  }

  private func write(
    apart: Bool, to parts: @escaping ExportParts, scratch folder: String, _ progress: (UInt64, Double) -> Void
  ) throws -> ExportSummary {
    let files = StepFiles(prefix: FilePaths.join(folder, "export"), fileSystem: fileSystem, budget: options.memory)
    let graph = try SourceGraph(reader: reader, binding: binding, scratch: files, rowLimit: options.memory.rowLimit)
    let planner = ExportPlanner(graph: graph, options: options, uuid: reader.metadata.uuid)
    let wanted = graph.byNumber.compactMap { $0 }.filter(isWanted)
    let tables = Set(wanted.map(\.table)).sorted()
    var run = ExportRun(options: options, externalSize: externalSize)
    run.pages = try ExportRun.pages(reader.snapshot, tables.map { binding.tables[$0].schema.rootPage })
    for group in apart ? tables.map({ [$0] }) : [tables] {
      let root = binding.tables[group[0]].layout.rootEntity
      let sink = try CallersError.marking { try parts(apart ? root : "") }
      let part = try ExportPart(
        of: wanted.filter { group.contains($0.table) }, planner: planner, run: run
      ) { bytes in
        try CallersError.marking { try sink(bytes) }
      }
      for table in group {
        let rows = ExportRows(
          graph: graph, writer: part.writer, table: table,
          entities: part.entities.filter { $0.source.table == table },
          links: ExportLinks(graph: graph, files: files))
        try run.write(rows, root: binding.tables[table].schema.rootPage, of: reader.snapshot, progress: progress)
      }
      try part.finish(&run, name: options.entity ?? root)
    }
    return run.summary
  }

  private func isWanted(_ entity: SourceEntity) -> Bool {
    options.entity.map { binding.layout.model.isKind(entity.name, of: $0) } ?? true
  }

  /// Bytes of a file with external data beside the store (B.4); nil when it is missing.
  private func externalSize(_ name: String) -> UInt64? {
    let path = FilePaths.join(ExternalDataFolder(store: reader.path).files, name)
    return ((try? fileSystem.status(path)) ?? nil)?.size
  }
}
