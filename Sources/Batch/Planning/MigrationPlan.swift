import Streams

/// What a migration of a store would do: the path, its mapping models in the order in which they run, rows and bytes.
public struct MigrationPlan: Sendable {
  /// Rows of an entity in the source.
  public struct EntityRows: Sendable, Equatable {
    /// The entity.
    public var entity: String
    /// Its Z_ENT.
    public var number: Int
    /// Objects of exactly this entity.
    public var rows: UInt64
  }

  /// The store.
  public var source: String
  /// The version found by the store's hashes.
  public var sourceVersion: ManagedObjectModel
  /// The version to reach.
  public var targetVersion: ManagedObjectModel
  /// Steps; empty when nothing is to be done. The mapping models of a step stand in the order in which they run.
  public var steps: [MigrationStep]
  /// Rows of the source by entity, in Z_ENT order.
  public var rows: [EntityRows]
  /// Bytes of the source's database, its log included.
  public var bytes: UInt64
  /// Bytes that the destination's file system must have free at the peak.
  public var diskNeeded: UInt64
  /// What a person should know before running it.
  public var notes: [String]

  /// True when the store already has the target version.
  public var isUpToDate: Bool { steps.isEmpty }
}

/// Makes plans. Read-only (trap 1).
public struct MigrationPlanner: Sendable {
  private let library: ModelLibrary
  private let mappings: [MappingModel]
  private let policies: PolicyRegistry

  /// Uses these models, mapping models and policies.
  public init(library: ModelLibrary, mappings: [MappingModel], policies: PolicyRegistry) {
    self.library = library
    self.mappings = mappings
    self.policies = policies
  }

  /// Plans the migration of a store to a version; nil means the current version of its bundle.
  ///
  /// Throws ``BatchError``: `noModel`, `noPath`, `badMapping`, `missingPolicy`, `refused`, `badStore`.
  ///
  /// `countsRows` may be false where only the steps matter: counting reads the whole store.
  public func plan(_ reader: StoreReader, target name: String?, countsRows: Bool = true) throws -> MigrationPlan {
    let hashes = reader.metadata.versionHashes
    guard let source = library.model(matching: hashes) else { throw library.noModel(for: hashes, path: reader.path) }
    let target = try library.target(named: name, from: source)
    var steps = try VersionPath.find(from: source, to: target, library: library, mappings: mappings)
    for index in steps.indices { steps[index] = try MappingOrder(step: steps[index], policies: policies).ordered() }
    let layout = try StoreLayout(model: source, purpose: .reading)
    let binding = try StoreBinding(layout: layout, schema: reader.schema, modelName: source.name, path: reader.path)
    let rows = countsRows ? try Self.rows(reader, binding) : []
    let bytes = UInt64(reader.snapshot.pageCount) * UInt64(reader.snapshot.geometry.pageSize)
    var notes = LeftOut.notes(steps)
    if !steps.isEmpty { try Self.check(binding.extras, reader, &notes) }
    for step in steps where step.isInferred && countsRows {
      try InferredRequirements(step: step, isFirst: step.source == source).check(reader, binding)
    }
    return MigrationPlan(
      source: reader.path, sourceVersion: source, targetVersion: target, steps: steps, rows: rows, bytes: bytes,
      // A step's input stays until the next step is done; a quarter more for what steps add, and for sorting.
      diskNeeded: steps.isEmpty ? 0 : bytes * UInt64(min(steps.count, 3)) * 5 / 4 + bytes / 4 + (8 << 20), notes: notes)
  }

  static func rows(_ reader: StoreReader, _ binding: StoreBinding) throws -> [MigrationPlan.EntityRows] {
    var counts: [Int64: UInt64] = [:]
    for table in binding.tables {
      for (number, count) in try reader.rowCounts(table: table.schema) { counts[number, default: 0] += count }
    }
    return binding.layout.entityNames.enumerated().map { index, name in
      MigrationPlan.EntityRows(entity: name, number: index + 1, rows: counts[Int64(index + 1)] ?? 0)
    }
  }

  /// Refuses what would be lost without a word, and notes what is left out.
  private static func check(_ extras: StoreBinding.Extras, _ reader: StoreReader, _ notes: inout [String]) throws {
    let own = ["Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE"]
    let foreign = extras.tables.filter { !own.contains($0.uppercased()) && !$0.lowercased().hasPrefix("sqlite_") }
    let lost = extras.cloudKit + foreign + reader.schema.virtualTables.map(\.row.name)
    guard lost.isEmpty else {
      throw BatchError(
        .refused, "the store has tables that the model does not know and that would be lost: \(lost.joined(separator: ", "))",
        hint: "Remove them with the application that made them; nothing was written", path: reader.path)
    }
    if !extras.history.isEmpty {
      notes.append("persistent history (\(extras.history.joined(separator: ", "))) refers to the old version and is left out")
    }
    if !reader.schema.triggers.isEmpty {
      notes.append("\(reader.schema.triggers.count) triggers are left out; Core Data makes its own again")
    }
    if !extras.columns.isEmpty {
      notes.append(
        "columns that the model does not know are left out: "
          + extras.columns.map { "\($0.table).\($0.column)" }.joined(separator: ", "))
    }
  }
}
