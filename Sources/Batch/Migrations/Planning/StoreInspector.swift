import CoreDataModel
import CoreDataStore
import RunSupport
import Streams

/// Makes an inspection. What is damaged in one place does not hide the rest.
struct StoreInspector {
  let reader: StoreReader
  let models: ModelLibrary?
  let fileSystem: any FileSystem
  /// Whether every row is counted. Otherwise the numbers are estimated from samples of the tables' pages.
  private let counts: Bool
  private let samplePages: Int

  private var problems: [String] = []
  private let sharedRoots: Set<UInt32>
  private var binding: StoreBinding?
  private var inspection: StoreInspection

  init(_ reader: StoreReader, models: ModelLibrary?, fileSystem: any FileSystem, counts: Bool) {
    (self.reader, self.models, self.fileSystem, self.counts) = (reader, models, fileSystem, counts)
    samplePages = TableEstimate.pages(tables: reader.schema.tables.count)
    inspection = StoreInspection(reader)
    sharedRoots = reader.schema.sharedRoots
    if let root = sharedRoots.min() { problems.append("several tables or indexes begin at page \(root)") }
  }

  mutating func inspect() throws -> StoreInspection {
    if let problem = reader.metadataProblem { problems.append(problem.message) }
    inspection.journalBytes = try fileSystem.status(reader.path + "-journal")?.size ?? 0
    findModel()
    (inspection.entities, inspection.tables) = (entities(), tables())
    if inspection.modelSource == nil { inspection.rawTables = RawSchema(reader).tables.map { .init($0) } }
    inspection.unknownColumns = binding?.extras.columns.map { "\($0.table).\($0.column)" } ?? []
    inspection.skipsExternalData = !counts && binding.map(ExternalDataSurvey.hasValues) == true
    if let binding, counts {
      do {
        inspection.externalData = try ExternalDataSurvey(reader, binding, fileSystem: fileSystem)
      } catch {
        problems.append("external data: \(error)")
      }
    }
    inspection.problems = problems
    inspection.traps = StoreTraps(reader: reader, inspection: inspection).texts
    return inspection
  }

  /// The model by the hashes, of those given or the store's own; and whether the tables are as it says.
  private mutating func findModel() {
    let hashes = reader.metadata.versionHashes
    var model = hashes.isEmpty ? nil : models?.model(matching: hashes)
    inspection.modelSource = model.map { _ in .given }
    let cache = CachedModel(reader)
    if model == nil, !hashes.isEmpty {
      inspection.versionProblem = models?.noModel(for: hashes, like: cache.model).message
    }
    inspection.modelCache = cache.state
    if model == nil, let cached = cache.model { (model, inspection.modelSource) = (cached, .cached) }
    guard let model else { return }
    if inspection.modelSource == .given { inspection.version = model.name }
    do {
      binding = try StoreBinding(reader, model: model)
    } catch var error as BatchError {
      error.path = nil
      problems.append("\(error)")
    } catch {
      problems.append("\(error)")
    }
  }

  private mutating func entities() -> [StoreInspection.Entity] {
    let own = reader.primaryKeys.filter { $0.entityNumber < StoreReader.firstForeignNumber }
    let byNumber = Dictionary(own.map { ($0.entityNumber, $0) }, uniquingKeysWith: { first, _ in first })
    func root(_ key: StoreReader.PrimaryKey) -> StoreReader.PrimaryKey {
      var key = key
      // Numbers may form a ring in a damaged store: a real hierarchy is never that deep.
      for _ in 0..<256 { if let parent = byNumber[key.superNumber], key.superNumber != 0 { key = parent } }
      return key
    }
    var counts: [String: Counts?] = [:]
    return own.sorted { $0.entityNumber < $1.entityNumber }.map { key in
      let top = root(key)
      let table = table(top)
      if counts[table] == nil { counts[table] = .some(count(table)) }
      let found = counts[table].flatMap { $0 }
      // No table has more rows than keys were given out.
      let most = found?.isEstimate == true && top.maximum > 0 ? UInt64(top.maximum) : .max
      var entity = StoreInspection.Entity(
        name: name(key), number: key.entityNumber, parent: key.superNumber,
        rows: found.map { min(most, $0.rows[key.entityNumber] ?? 0) }, isEstimate: found?.isEstimate == true,
        largestKey: key.maximum,
        versionHash: reader.metadata.versionHashes[name(key)].map(Self.hex))
      describe(&entity)
      return entity
    }
  }

  /// The model's name of an entity: after a rename Z_PRIMARYKEY may still have the old one (B.3).
  private func name(_ key: StoreReader.PrimaryKey) -> String {
    let names = binding?.layout.entityNames ?? []
    return key.entityNumber > 0 && key.entityNumber <= Int64(names.count) ? names[Int(key.entityNumber) - 1] : key.name
  }

  private func table(_ root: StoreReader.PrimaryKey) -> String {
    let position = binding?.layout.tablePosition(ofEntity: name(root))
    return position.flatMap { binding?.tables[$0].schema.name } ?? "Z" + root.name.uppercased()
  }

  /// Rows of a table by Z_ENT.
  private struct Counts {
    var rows: [Int64: UInt64]
    var isEstimate = false
  }

  private mutating func count(_ name: String) -> Counts? {
    guard let table = reader.schema.table(name), !sharedRoots.contains(table.rootPage) else { return nil }
    do {
      guard !counts else { return Counts(rows: try reader.rowCounts(table: table)) }
      let estimate = try TableEstimate(reader, table, pages: samplePages)
      return Counts(rows: estimate.entities.mapValues(\.rows), isEstimate: !estimate.isExact)
    } catch {
      problems.append("table \(name): \(error)")
      return nil
    }
  }

  private func describe(_ entity: inout StoreInspection.Entity) {
    guard let binding, let description = binding.layout.model.entity(entity.name) else { return }
    let layout = binding.layout
    entity.isAbstract = description.isAbstract
    entity.properties = description.attributes.map { attribute in
      let column = layout.column(forAttribute: attribute.name, ofEntity: entity.name)
      return StoreInspection.Property(
        name: attribute.name, kind: "attribute", type: "\(attribute.type)", place: place(column, of: entity.name))
    }
    entity.properties += description.relationships.map { relationship in
      let column = layout.column(forToOne: relationship.name, ofEntity: entity.name)
      let join = layout.joinTable(for: relationship.name, entity: entity.name)?.name
      return StoreInspection.Property(
        name: relationship.name, kind: "relationship", type: relationship.destinationEntity,
        place: place(column, of: entity.name) ?? join)
    }
  }

  private func place(_ column: Column?, of entity: String) -> String? {
    guard let column, let table = binding?.layout.table(ofEntity: entity) else { return nil }
    return "\(table.name).\(column.name)"
  }

  private mutating func tables() -> [StoreInspection.Table] {
    let joins = Dictionary((binding?.joins ?? []).map { ($0.schema.name, $0) }, uniquingKeysWith: { first, _ in first })
    var own = Set(inspection.entities.map { NameOrder.folded("Z" + $0.name) })
    own.formUnion(StoreLayout.fixedTables.map { NameOrder.folded($0.name) })
    own.formUnion((binding?.tables ?? []).map { NameOrder.folded($0.schema.name) })
    var tables: [StoreInspection.Table] = []
    for row in reader.schema.rows where row.type == "table" && !own.contains(NameOrder.folded(row.name)) {
      let kind = kind(row)
      let counted = kind == .virtual ? nil : rows(row)
      tables.append(
        .init(
          name: row.name, kind: kind, relationship: joins[row.name].map { "\($0.layout.relationship)" },
          rows: counted?.rows, isEstimate: counted?.isEstimate == true))
    }
    return tables
  }

  private func kind(_ row: SchemaRow) -> StoreInspection.Table.Kind {
    let name = NameOrder.folded(row.name)
    if row.rootPage == 0 { return .virtual }
    if FrameworkTables.isHistory(name) { return .history }
    if FrameworkTables.isCloudKit(name) { return .cloudKit }
    return NumberedName(row.name)?.prefix == "z_" ? .join : .other
  }

  private mutating func rows(_ row: SchemaRow) -> (rows: UInt64, isEstimate: Bool)? {
    guard !sharedRoots.contains(row.rootPage) else { return nil }
    do {
      guard !counts else { return (try TreeCount.rows(root: row.rootPage, in: reader.snapshot), false) }
      let estimate = try TreeEstimate(root: row.rootPage, in: reader.snapshot, pages: samplePages)
      return (UInt64(clamping: Int64(estimate.rows.rounded())), !estimate.isExact)
    } catch {
      problems.append("table \(row.name): \(error)")
      return nil
    }
  }

  private static func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}

extension StoreInspection {
  /// Inspects a store; `models` may be nil: then the store's own cached model says what its tables mean, where it has
  /// one.
  ///
  /// Rows are counted in stores of up to ``mostCounted`` bytes, and with `counts` in all. In larger ones a sample of
  /// pages gives an estimate of how many there are, and values outside the store are not looked for: that takes less
  /// than a second whatever the size.
  ///
  /// - Throws: ``BatchError`` (`badStore`) for a file that is no Core Data store; damage within one is among
  ///   ``problems``.
  public init(path: String, models: ModelLibrary?, fileSystem: any FileSystem, counts: Bool = false) throws {
    let reader = try SourceStore.open(path, fileSystem, locking: .shared, forInspection: true)
    defer { reader.close() }
    let bytes = UInt64(reader.snapshot.pageCount) * UInt64(reader.snapshot.geometry.pageSize)
    var inspector = StoreInspector(
      reader, models: models, fileSystem: fileSystem, counts: counts || bytes <= Self.mostCounted)
    self = try BatchError.border { try inspector.inspect() }
  }

  /// What the file and its metadata say without a model.
  fileprivate init(_ reader: StoreReader) {
    let (snapshot, metadata) = (reader.snapshot, reader.metadata)
    path = reader.path
    uuid = metadata.uuid
    frameworkVersion = metadata.frameworkVersion
    versionIdentifiers = metadata.versionIdentifiers
    versionChecksum = metadata.versionHashes.isEmpty ? "" : ManagedObjectModel.versionChecksum(metadata.versionHashes)
    applicationKeys = metadata.entries.keys.filter { !$0.hasPrefix("NS") && !$0.hasPrefix("_NS") }.sorted()
    modelCache = "none"
    (entities, tables, unknownColumns, problems, traps) = ([], [], [], [], [])
    indexes = reader.schema.rows.count { $0.type == "index" }
    triggers = reader.schema.triggers.map(\.row.name)
    pageSize = snapshot.geometry.pageSize
    pages = snapshot.pageCount
    encoding = snapshot.header.encoding == .utf8 ? "UTF-8" : "UTF-16"
    autoVacuum = snapshot.header.autoVacuum
    journalMode = snapshot.header.version == .writeAheadLog ? "wal" : "delete"
    walFrames = snapshot.logFrames
    journalBytes = 0
  }
}

/// What a migration has to look out for, in words.
private struct StoreTraps {
  let reader: StoreReader
  let inspection: StoreInspection

  var texts: [String] {
    var texts: [String] = []
    if inspection.walFrames > 0 {
      let pages = inspection.walFrames.counted("page lies", "pages lie")
      texts.append("\(pages) in the -wal file: never move the store without it")
    }
    if reader.isRecovered {
      texts.append(SourceStore.recoveryNote)
    } else if inspection.journalBytes > 0 {
      texts.append("a -journal file exists, of a change that is finished or under way")
    }
    texts += [reader.metadata.newerFramework].compactMap { $0 }
    let kinds = Set(inspection.tables.map(\.kind))
    if kinds.contains(.history) {
      texts.append("persistent history is kept; it refers to this version's entity numbers")
    }
    if kinds.contains(.cloudKit) {
      texts.append("the store is mirrored with CloudKit: refused unless --allow-cloudkit is given")
    }
    if !inspection.triggers.isEmpty {
      texts.append("\(inspection.triggers.count.counted("trigger calls", "triggers call")) functions of Core Data")
    }
    let virtual = inspection.tables.filter { $0.kind == .virtual }.map(\.name)
    if !virtual.isEmpty { texts.append("virtual tables: \(virtual.joined(separator: ", "))") }
    if !inspection.unknownColumns.isEmpty {
      texts.append("columns that the model does not know: \(inspection.unknownColumns.joined(separator: ", "))")
    }
    if inspection.modelSource == nil {
      texts.append("no model is known, so names are those of columns: give --models, or use export --raw")
    }
    if inspection.skipsExternalData { texts.append("values outside the store were not looked for: give --count") }
    return texts + (inspection.externalData?.notes ?? [])
  }
}
