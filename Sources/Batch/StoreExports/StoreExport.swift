import CoreDataModel
import CoreDataStore
import Foundation
import Migrations
import RunSupport
import Streams

/// Writes the objects of a store as text that people and other programs read: table after table, in the order of their
/// keys. The store is read page by page; memory does not grow with the number of objects.
public struct StoreExport: Sendable {
  /// What is exported.
  public struct Options: Sendable {
    /// The format.
    public var format: ExportFormat
    /// Objects of this entity and its sub-entities alone; nil for all. CSV needs one.
    public var entity: String?
    /// Whether to-many relationships are written too. Each is sorted by its owners in temporary files.
    public var includesToMany = false
    /// Objects after which the export ends.
    public var limit: UInt64?
    /// The memory budget; it bounds the largest row.
    public var memory = MemoryBudget.standard

    /// Makes options.
    public init(format: ExportFormat, entity: String? = nil) {
      self.format = format
      self.entity = entity
    }
  }

  /// What was written.
  public struct Summary: Sendable, Equatable {
    /// Objects by entity; entities without objects are not among them.
    public var rows: [String: UInt64] = [:]
    /// Texts that were not UTF-8 and got replacement characters.
    public var repairedTexts: UInt64 = 0
  }

  private let reader: StoreReader
  private let binding: StoreBinding
  private let options: Options
  private let fileSystem: any FileSystem

  /// Prepares an export. The model is that of the store.
  ///
  /// - Throws: ``BatchError``: `badStore` when the store's tables are not those of the model, `refused` when the model
  ///   has no such entity or CSV is asked for without one.
  public init(_ reader: StoreReader, model: ManagedObjectModel, options: Options, fileSystem: any FileSystem) throws {
    do {
      binding = try StoreBinding(reader, model: model)
      self.reader = reader
      self.options = options
      self.fileSystem = fileSystem
      if let entity = options.entity, model.entity(entity) == nil {
        throw BatchError(
          .refused,
          "the model \(model.name) has no entity \(entity)\(NearName.question(entity, in: binding.layout.entityNames))",
          hint: "Its entities are \(binding.layout.entityNames.joined(separator: ", "))", path: reader.path)
      }
      guard options.format == .jsonLines || options.entity != nil else {
        throw BatchError(
          .refused, "CSV has one header, so it needs one entity", hint: "Name an entity, or export as jsonl",
          path: reader.path)
      }
    } catch { throw BatchError(wrapping: error) }
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

  /// Writes everything. `sink` takes the text in pieces; `progress` is called now and then with the objects written and
  /// the part of the tables that is read, from 0 to 1.
  ///
  /// - Throws: ``BatchError``, and what `sink` throws.
  public func run(
    to sink: @escaping (UnsafeRawBufferPointer) throws -> Void, progress: (UInt64, Double) -> Void = { _, _ in }
  ) throws -> Summary {
    try BatchError.borderOfCaller {
      let folder = FilePaths.join(FileManager.default.temporaryDirectory.path, "godwit-export-\(UUID().uuidString)")
      let files = StepFiles(prefix: FilePaths.join(folder, "export"), fileSystem: fileSystem, budget: options.memory)
      if options.includesToMany { try fileSystem.makeDirectory(folder) }
      defer { if options.includesToMany { clear(folder) } }
      let graph = try SourceGraph(reader: reader, binding: binding, scratch: files, rowLimit: options.memory.rowLimit)
      let text = ExportText(format: options.format, sink: { bytes in try CallersError.marking { try sink(bytes) } })
      let planner = ExportPlanner(
        graph: graph, format: options.format, uuid: reader.metadata.uuid, includesToMany: options.includesToMany)
      let model = binding.layout.model
      let wanted = graph.byNumber.compactMap { $0 }.filter { entity in
        options.entity.map { model.isKind(entity.name, of: $0) } ?? true
      }
      if options.format == .csv { text.append(planner.csvHeader(wanted)) }
      var run = ExportRun(options: options, text: text, externalSize: externalSize)
      run.pages = try Self.pages(graph, wanted)
      for table in Set(wanted.map(\.table)).sorted() {
        let entities = wanted.filter { $0.table == table }.map {
          options.format == .csv ? planner.csvEntity($0, among: wanted) : planner.jsonEntity($0)
        }
        try run.write(
          table, entities: entities, graph: graph, links: ExportLinks(graph: graph, files: files), progress: progress)
      }
      try text.flush()
      return Summary(rows: run.rows, repairedTexts: text.repairedTexts)
    }
  }

  private static func pages(_ graph: SourceGraph, _ wanted: [SourceEntity]) throws -> UInt64 {
    try Set(wanted.map(\.table)).reduce(0) {
      try $0 + TablePages.count(graph.reader.snapshot, root: graph.binding.tables[$1].schema.rootPage)
    }
  }

  /// After an error half-written files may be left.
  private func clear(_ folder: String) {
    for name in (try? fileSystem.list(folder)) ?? [] { try? fileSystem.remove(FilePaths.join(folder, name)) }
    try? fileSystem.removeDirectory(folder)
  }

  /// Bytes of a file with external data beside the store (B.4); nil when it is missing.
  private func externalSize(_ name: String) -> UInt64? {
    let path = FilePaths.join(ExternalDataFolder(store: reader.path).files, name)
    return ((try? fileSystem.status(path)) ?? nil)?.size
  }
}

/// One export under way: a thread reads pages of rows ahead, the caller's turns them into text.
private struct ExportRun {
  private final class Scan: @unchecked Sendable {
    // Sendable by discipline: only the reading thread uses it.
    let scan: TableScan
    init(_ scan: TableScan) { self.scan = scan }
  }

  private struct Page: Sendable {
    var rows: RowPage
    var bytesRead: UInt64
  }

  let options: StoreExport.Options
  let text: ExportText
  let externalSize: (String) -> UInt64?
  var pages: UInt64 = 0
  var rows: [String: UInt64] = [:]
  private var written: UInt64 = 0
  private var bytesRead: UInt64 = 0
  private let free = BoundedQueue<RowPage>(capacity: 16)

  init(options: StoreExport.Options, text: ExportText, externalSize: @escaping (String) -> UInt64?) {
    self.options = options
    self.text = text
    self.externalSize = externalSize
  }

  mutating func write(
    _ table: Int, entities: [ExportEntity], graph: SourceGraph, links: ExportLinks,
    progress: (UInt64, Double) -> Void
  ) throws {
    let limit = options.limit ?? .max
    guard written < limit else { return }
    let writer = ExportRows(
      graph: graph, text: text, values: ExportValueWriter(text: text, externalSize: externalSize), table: table,
      entities: entities, links: links)
    let snapshot = graph.reader.snapshot
    let total = Double(max(1, pages) * UInt64(snapshot.geometry.pageSize))
    let root = graph.binding.tables[table].schema.rootPage
    let scan = Scan(TableScan(snapshot: snapshot, root: root, rowLimit: options.memory.rowLimit))
    let free = free
    var (done, before) = (written, bytesRead)
    do {
      try Pipeline<Page, Void>.run(
        read: {
          let page = free.tryPop() ?? RowPage()
          return try scan.scan.next(into: page) ? Page(rows: page, bytesRead: scan.scan.bytesRead) : nil
        },
        transform: { [bytesRead] page in
          done += try writer.write(page.rows, limit: limit - done)
          before = bytesRead + page.bytesRead
          progress(done, min(1, Double(before) / total))
          guard done < limit else { throw Enough() }
          try free.push(page.rows)
        }, write: { _ in })
    } catch is Enough {}
    (written, bytesRead) = (done, before)
    for entity in entities { rows[entity.source.name] = writer.counts[Int64(entity.source.number)] }
  }
}

/// Ends the pipeline where the limit is reached.
private struct Enough: Error {}
