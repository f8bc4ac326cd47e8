import CoreDataModel
import CoreDataStore
import Migrations
import RunSupport
import StoreExports
import StoreVerification
import Streams

/// Makes a small store of a large one, to try something out on: some of its objects, and all objects to which to-ones
/// of these lead, so that no to-one of the excerpt leads nowhere.
///
/// Rows are copied as they are: keys, values, Z_OPT and places in ordered relationships stay, and so do metadata and
/// UUID. Links of to-many relationships are there where both ends are. Persistent history, CloudKit's tables and those
/// of others are left out. The same excerpt of the same store has the same bytes.
public struct StoreExcerpt: Sendable {
  /// What is taken.
  public struct Options: Sendable {
    /// The entity whose objects, with those of its sub-entities, are asked for; nil for all.
    public var entity: String?
    /// A condition on the objects of ``entity`` in NSPredicate's format; nil for all.
    public var condition: String?
    /// The number of objects that are asked for, in the order of keys: those of ``entity`` for which the condition
    /// holds, or so many of each root entity with its sub-entities.
    public var limit: UInt64
    /// The memory budget; it bounds the number of objects.
    public var memory = MemoryBudget.standard

    /// Makes options.
    public init(limit: UInt64) { self.limit = limit }
  }

  /// Objects of an entity, without those of its sub-entities.
  public struct Count: Sendable, Equatable {
    /// In the excerpt.
    public var taken: UInt64 = 0
    /// Of these, the objects that were not asked for: others lead to them.
    public var led: UInt64 = 0
    /// In the whole store.
    public var inStore: UInt64 = 0
  }

  /// What was made.
  public struct Summary: Sendable, Equatable {
    /// Objects by entity; entities without objects in the store are not among them.
    public var objects: [String: Count] = [:]
    /// Links of join tables.
    public var links: UInt64 = 0
    /// Links that are left out because their other end is not in the excerpt, by the to-many relationship
    /// (`Entity.name`).
    public var leftOut: [String: UInt64] = [:]
    /// Files with external data that were copied.
    public var externalFiles: UInt64 = 0
    /// What a reader has to know: what the source has and the excerpt has not, and faults of the source.
    public var notes: [String] = []
  }

  /// What an excerpt's name ends with until it is whole.
  static let suffix = ".excerpt"
  /// Faults that rows have in the source, too, as they are copied; and files, which are copied last.
  private static let carried: Set<Violation.Kind> = [
    .externalData, .dangling, .wrongEntity, .helperNumber, .oneSided, .columnRule, .unique, .key, .entityNumber,
  ]

  private let reader: StoreReader
  private let model: ManagedObjectModel
  private let options: Options
  private let fileSystem: any FileSystem

  /// Prepares an excerpt. The model is that of the store.
  ///
  /// - Throws: ``BatchError`` (`refused`) when the model has no such entity.
  public init(_ reader: StoreReader, model: ManagedObjectModel, options: Options, fileSystem: any FileSystem) throws {
    (self.reader, self.model, self.options, self.fileSystem) = (reader, model, options, fileSystem)
    try BatchError.border {
      let layout = try StoreLayout(model: model, purpose: .reading)
      try ExportOptions.check(entity: options.entity, of: layout, path: reader.path)
    }
  }

  /// Writes the store with all indexes, durable on return, and copies its files of external data. It is built as `path`
  /// and `.excerpt`, verified, and renamed; after an error nothing of it is left.
  ///
  /// `progress` is called now and then with the objects taken and the part that is done, from 0 to 1.
  ///
  /// - Throws: ``BatchError``: `refused` when the output exists, and for a condition that cannot be asked; `badStore`
  ///   when the store's tables are not those of the model, or damaged; `too-large` when the keys of the objects do not
  ///   fit into the memory; `mismatch` when the store's verification finds faults.
  public func write(to path: String, progress: (UInt64, Double) -> Void = { _, _ in }) throws -> Summary {
    try BatchError.border {
      let output = NewFile(path, working: Self.suffix, fileSystem)
      // A log or journal left behind by another store would be applied to this one.
      try output.refuseTaken(["-wal", "-journal"])
      let schema = try ExcerptSchema(reader, model: model)
      let files = StepFiles(prefix: output.working, fileSystem: fileSystem, budget: options.memory)
      let graph = try SourceGraph(
        reader: reader, binding: schema.binding, scratch: files, rowLimit: options.memory.rowLimit)
      let shape = ExcerptShape(graph, memory: options.memory)
      let external = ExcerptFiles(of: reader.path, for: path, fileSystem)
      if shape.hasFiles { try external.refuseTaken() }
      return try external.keeping {
        try output.make {
          let summary = try build(schema, shape, to: files, external: external, progress: progress)
          try external.publish()
          return summary
        }
      }
    }
  }

  private func build(
    _ schema: ExcerptSchema, _ shape: ExcerptShape, to files: StepFiles, external: ExcerptFiles,
    progress: (UInt64, Double) -> Void
  ) throws -> Summary {
    let keys = ExcerptKeys(shape, memory: options.memory)
    try keys.ask(options) { progress(keys.count, $0 * 0.2) }
    try keys.follow { progress($0, 0.2) }
    var count = ExcerptCount(shape, taken: keys.taken)
    try count.run { progress(keys.count, 0.2 + $0 * 0.3) }
    var writer = ExcerptWriter(
      schema, shape: shape, taken: keys.taken, count: count, files: files, external: external)
    let total = Double(max(1, keys.count))
    try writer.write { progress(keys.count, 0.5 + 0.3 * min(1, Double($0) / total)) }
    var summary = self.summary(writer, shape, asked: keys.asked)
    summary.externalFiles = external.copied
    summary.notes = schema.notes + notes(writer, external)
    progress(keys.count, 0.9)
    summary.notes += try verify(files.prefix)
    return summary
  }

  private func summary(_ writer: ExcerptWriter, _ shape: ExcerptShape, asked: [Int64: UInt64]) -> Summary {
    var summary = Summary()
    for (number, inStore) in writer.count.objects {
      guard let entity = shape.graph.byNumber[Int(number)] else { continue }
      let taken = writer.objects[number] ?? 0
      summary.objects[entity.name] = Count(taken: taken, led: taken - min(taken, asked[number] ?? 0), inStore: inStore)
    }
    (summary.links, summary.leftOut) = (writer.links, writer.count.leftOut)
    return summary
  }

  private func notes(_ writer: ExcerptWriter, _ external: ExcerptFiles) -> [String] {
    var notes: [String] = []
    if let first = writer.firstDangling {
      let lead = writer.dangling.counted("to-one leads", "to-ones lead")
      notes.append("\(lead) nowhere, as in the source: the first is \(first.name) of \(first.key)")
    }
    if external.missing > 0 {
      let files = external.missing.counted("file of external data is", "files of external data are")
      notes.append("\(files) missing beside the source, too")
    }
    return notes
  }

  /// Throws for what the engine should not have written; returns the faults that the source has, too.
  private func verify(_ path: String) throws -> [String] {
    let report = try StoreVerifier(path: path, model: model, fileSystem: fileSystem).verify(
      mode: .fast, memory: options.memory)
    if let first = report.violations.first(where: { !Self.carried.contains($0.kind) }) {
      throw BatchError(
        .mismatch, "an excerpt of this store is not a sound store: \(first)",
        hint: "Verify the store itself: \(ProgramName.command(["verify", reader.path]))", effect: .nothingWritten,
        path: reader.path)
    }
    return report.violations.filter { ![.externalData, .dangling].contains($0.kind) }.map {
      "the source has this fault, too: \($0)"
    }
  }
}
