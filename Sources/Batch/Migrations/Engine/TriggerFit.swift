import CoreDataModel
import CoreDataStore

/// Whether the text of a trigger still fits the new version. It is never run, and not understood beyond its names:
/// every table that it names must still hold the same objects, every column of these tables that it names must mean
/// what it meant, and the attribute that it derives must be derived as before. Core Data's own text holds no entity
/// numbers, others' may (B.8).
struct TriggerFit {
  /// Why a trigger is left out.
  enum Misfit: String, CaseIterable {
    case gone = "triggers that refer to what the new version does not have"
    case derivation = "triggers of attributes that are no longer derived, or are derived in another way"
    case number = "triggers that compare entity numbers, which change,"
  }

  /// Tables of the store that the new version has not, or fills with other objects; by folded name.
  private var lostTables: Set<String> = []
  /// By folded name of any other table of the model: names of columns that the new version has not, or means otherwise.
  private var lostColumns: [String: Set<String>] = [:]
  /// Numbers that are in names, of entities that have another one in the new version.
  private let moved: Set<String>
  /// Beginnings of the names of Core Data's triggers, by whether the attribute is derived as before.
  private let derivations: [String: Bool]

  /// Compares what a store has with what a step writes. `origin` is the store's own version.
  init(_ drafts: StepDraft, origin: StoreBinding) {
    let layout = drafts.layout
    let numbers = (origin.layout.entityNumbers, layout.entityNumbers)
    moved = Set(numbers.0.filter { numbers.1[$0.key] != $0.value }.map { "\($0.value)" })
    derivations = Self.derivations(origin, drafts.step.destination)
    for table in origin.tables {
      let name = NameOrder.folded(table.schema.name)
      if let lost = Self.lost(of: table, drafts) { lostColumns[name] = lost } else { lostTables.insert(name) }
    }
    for join in origin.joins {
      let name = NameOrder.folded(join.schema.name)
      let same = layout.joinTables.first { NameOrder.folded($0.name) == name }
      guard let same, same.relationship == join.layout.relationship, same.columns == join.layout.columns else {
        lostTables.insert(name)
        continue
      }
    }
  }

  /// Names of columns that mean nothing, or something else, in the new version; nil if the table goes or gets other
  /// objects.
  private static func lost(of table: StoreBinding.Table, _ drafts: StepDraft) -> Set<String>? {
    let tables = drafts.layout.entityTables
    let sources = drafts.graph.binding.tables.map(\.layout.name)
    guard let other = tables.firstIndex(where: { NameOrder.folded($0.name) == NameOrder.folded(table.schema.name) }),
      drafts.drafts.allSatisfy({ (sources[$0.source.table] == table.layout.name) == ($0.destination.table == other) })
    else { return nil }
    let roles = Dictionary(tables[other].columns.map { (NameOrder.folded($0.name), $0.role) }) { first, _ in first }
    let known = zip(table.layout.columns, table.positions).map { ($1, $0.role) }
    let meant = Dictionary(known) { first, _ in first }
    return Set(
      table.schema.columns.enumerated().compactMap { position, column in
        let name = NameOrder.folded(column.name)
        guard let role = roles[name] else { return name }
        return meant[position] == role ? nil : name
      })
  }

  /// Core Data names its triggers by table, entity and attribute: the table may be that of the attribute, or one that
  /// it is derived from.
  private static func derivations(_ origin: StoreBinding, _ destination: ManagedObjectModel) -> [String: Bool] {
    var found: [String: Bool] = [:]
    let tables = origin.tables.map(\.schema.name) + origin.joins.map(\.schema.name)
    for entity in origin.layout.model.entities {
      for attribute in origin.layout.model.attributes(of: entity.name) where attribute.derivationExpression != nil {
        let other = destination.hasEntity(entity.name) ? destination.attribute(attribute.name, of: entity.name) : nil
        for table in tables {
          found[NameOrder.folded("Z_DA_\(table)_\(entity.name)_\(attribute.name)_")] =
            other?.isDerived(like: attribute) == true
        }
      }
    }
    return found
  }

  /// Why a trigger is left out; nil if it is kept.
  func misfit(_ row: SchemaRow) -> Misfit? {
    let name = NameOrder.folded(row.name)
    let derivation = derivations.filter { name.hasPrefix($0.key) }.max { $0.key.utf8.count < $1.key.utf8.count }
    guard derivation?.value != false else { return .derivation }
    guard let sql = row.sql else { return .gone }
    let tokens = Array(SQLTokens(sql))
    let names = Set(tokens.compactMap { $0.name.map(NameOrder.folded) })
    for table in names.union([NameOrder.folded(row.tableName)]) {
      guard !lostTables.contains(table), lostColumns[table]?.isDisjoint(with: names) != false else { return .gone }
    }
    if names.contains(where: { NumberedName($0).map { moved.contains($0.number) } ?? false }) { return .number }
    // Any such number may be compared with Z_ENT, in whatever way.
    let hasMoved = tokens.contains { if case .literal(let text) = $0 { moved.contains(text) } else { false } }
    return hasMoved && names.contains("z_ent") ? .number : nil
  }
}
