import CoreDataStore
import RunSupport
import Streams

/// What the proof looks at, as places of columns in records: made from what ``CheckPlan`` decides.
struct ProofPlan {
  /// Where references may lead: rows of a table, all or those of some entities.
  private struct Target: Hashable {
    var table: String
    var numbers: [Int64]?
  }

  let plan: CheckPlan
  /// Whether all is looked at that SQLite's integrity_check looks at, too.
  let isFull: Bool
  private let file: ProofFile
  /// By the folded name of their table.
  private let indexes: [String: [IndexSchema]]
  var tables: [ProofTable] = []
  /// Trees without rowids, and indexes whose order only SQLite knows.
  var trees: [ProofIndex] = []
  var rtrees: [ProofRTree] = []
  /// By R-tree: the places of the tables that say where its rows are, and its nodes.
  var rtreeTables: [(rows: Int, parents: Int)] = []
  /// Tables with expressions, collations or columns that only SQLite knows; empty unless the proof is full.
  var judged: Set<String> = []
  /// What the schema says that cannot be, by table.
  var faults: [(table: String, message: String)] = []
  /// By the number of a set of keys: the largest key of its table.
  private(set) var largestKeys: [Int64] = []
  private var sets: [Target: Int] = [:]
  private(set) var pairCount = 0

  init(_ plan: CheckPlan, in file: ProofFile, isFull: Bool = false) throws {
    (self.plan, self.file, self.isFull) = (plan, file, isFull)
    indexes = Dictionary(grouping: plan.schema.indexes) { NameOrder.folded($0.table) }
    let references = Dictionary(grouping: plan.references()) { $0.table.schema.name }
    for (_, list) in references.sorted(by: { $0.key < $1.key }) { for reference in list { register(reference) } }
    let rowTables = plan.schema.tables.filter { !$0.isWithoutRowid }
    tables = [ProofTable(name: "sqlite_schema", root: 1)] + rowTables.map { table($0, references[$0.name] ?? []) }
    addPairs(references)
    try addOthers()
    if isFull { addDeclarations() }
  }

  // MARK: Sets of keys

  private mutating func register(_ reference: ReferenceCheck) {
    let name = reference.target.table.schema.name
    guard reference.helper != nil else { return add(Target(table: name, numbers: reference.target.allowed)) }
    for number in reference.target.allowed ?? numbers(of: name) { add(Target(table: name, numbers: [number])) }
  }

  private mutating func add(_ target: Target) {
    guard sets[target] == nil else { return }
    sets[target] = largestKeys.count
    largestKeys.append(plan.largestKey(of: target.table))
  }

  private func numbers(of table: String) -> [Int64] {
    plan.table(table).map { plan.rules(for: $0).entities.map(\.number) } ?? []
  }

  /// The keys of one pass. A third of these bytes are there while rows are still written, beside all that this takes.
  func window(_ memory: MemoryBudget) -> Int64 { Proof.window(bytes: memory.total / 6, sets: largestKeys.count) }

  /// The longest record that is put together.
  func recordLimit(_ memory: MemoryBudget) -> Int { memory.total / 8 }

  private static let mostPasses: Int64 = 24

  /// How often the tables are read.
  func passes(_ memory: MemoryBudget) -> Int64 { min(Self.mostPasses, (largestKeys.max() ?? 0) / window(memory) + 1) }

  /// Whether all keys are within the passes. In a store whose keys lie further apart they are left to SQLite.
  func followsKeys(_ memory: MemoryBudget) -> Bool { (largestKeys.max() ?? 0) / window(memory) < Self.mostPasses }

  // MARK: Tables

  private func table(_ schema: TableSchema, _ references: [ReferenceCheck]) -> ProofTable {
    var table = ProofTable(name: schema.name, root: schema.rootPage)
    table.columnCount = schema.columns.count
    table.rowidColumn = schema.columns.firstIndex(where: \.isRowidAlias)
    table.defaults = Self.defaults(schema)
    table.indexes = (indexes[NameOrder.folded(schema.name)] ?? []).map { index($0, of: schema) }
    guard let swept = plan.table(schema.name) else { return table }
    let rules = plan.rules(for: swept)
    table.kindColumn = rules.entityColumn.flatMap(schema.position)
    table.keyColumn = rules.keyColumn.flatMap(schema.position)
    table.required = rules.required.compactMap { schema.position(of: $0.column) }
    table.kinds = rules.entities.map { entity in
      let own = sets.filter { $0.key.table == schema.name && $0.key.numbers?.contains(entity.number) ?? true }
      return ProofTable.Kind(number: entity.number, required: entity.required, sets: own.values.sorted())
    }
    table.places = rules.orders.compactMap { order in
      guard let key = schema.position(of: order.key), let place = schema.position(of: order.order) else { return nil }
      return ProofTable.Place(key: key, place: place)
    }
    table.references = references.compactMap { self.reference($0, in: schema) }
    return table
  }

  static func defaults(_ schema: TableSchema) -> [UInt8] {
    let encoder = RecordEncoder()
    for column in schema.columns { encoder.append(column.defaultValue ?? .null) }
    var bytes = [UInt8](repeating: 0, count: encoder.length)
    bytes.withUnsafeMutableBytes { if let base = $0.baseAddress { encoder.write(to: base) } }
    return bytes
  }

  private func reference(_ check: ReferenceCheck, in schema: TableSchema) -> ProofTable.Reference? {
    guard let column = schema.position(of: check.column) else { return nil }
    let name = check.target.table.schema.name
    guard let helper = check.helper.flatMap(schema.position) else {
      let set = sets[Target(table: name, numbers: check.target.allowed)]
      return set.map { ProofTable.Reference(column: column, isNeeded: check.isLink, set: $0) }
    }
    let byNumber = (check.target.allowed ?? numbers(of: name)).compactMap { number in
      sets[Target(table: name, numbers: [number])].map { (number, $0) }
    }
    return ProofTable.Reference(
      column: column, isNeeded: check.isLink, set: 0, helper: .init(column: helper, sets: Dictionary(byNumber) { $1 }))
  }

  /// Both sides of a one-to-one relationship have the same pairs of keys.
  private mutating func addPairs(_ references: [String: [ReferenceCheck]]) {
    var sums: [[String]: Int] = [:]
    for index in tables.indices {
      for check in references[tables[index].name] ?? [] {
        guard let back = check.back, let schema = plan.table(tables[index].name)?.schema,
          let column = schema.position(of: check.column)
        else { continue }
        let (here, there) = ([check.table.schema.name, check.column], [check.target.table.schema.name, back])
        let (first, second) = here.lexicographicallyPrecedes(there) ? (here, there) : (there, here)
        let sum = sums[first + second] ?? sums.count
        sums[first + second] = sum
        if here == first { tables[index].pairs.append(.init(column: column, sum: sum, isForward: true)) }
        if here == second { tables[index].pairs.append(.init(column: column, sum: sum, isForward: false)) }
      }
    }
    pairCount = sums.count
  }

  // MARK: Indexes and other trees

  private func index(_ index: IndexSchema, of table: TableSchema) -> ProofIndex {
    let columns = index.columns.compactMap { key -> ProofIndexColumn? in
      guard let place = key.column.flatMap(table.position), let comparison = Self.comparison(key),
        !table.columns[place].hasUnknownDefault
      else { return nil }
      return ProofIndexColumn(column: place, isDescending: isDescending(key), collation: comparison)
    }
    let isKnown = columns.count == index.columns.count && !columns.isEmpty
    return ProofIndex(
      name: index.name, root: index.rootPage, columns: isKnown ? columns : nil, isUnique: index.isUnique)
  }

  /// Nil for a collation that is not SQLite's.
  static func comparison(_ key: IndexSchema.Key) -> ProofIndexColumn.Comparison? {
    switch key.collation.uppercased() {
    case "BINARY": .binary
    case "NOCASE": .noCase
    case "RTRIM": .rightTrim
    default: nil
    }
  }

  func isDescending(_ key: IndexSchema.Key) -> Bool { key.isDescending && file.hasDescending }

  /// Whether a row of the schema has a tree of rowids: ordinary tables and SQLite's own. Of one that is not understood
  /// the page says it.
  private func hasRowids(_ row: SchemaRow) throws -> Bool {
    guard row.type != "index", plan.schema.table(row.name)?.isWithoutRowid != true else { return false }
    return try NameOrder.folded(row.name).hasPrefix("sqlite_") || file.hasRowids(row.rootPage)
  }

  /// Everything else that has pages.
  private mutating func addOthers() throws {
    let named = Set((tables.map(\.name) + tables.flatMap(\.indexes).map(\.name)).map(NameOrder.folded))
    for row in plan.schema.rows where row.rootPage > 0 && !named.contains(NameOrder.folded(row.name)) {
      if try hasRowids(row) {
        tables.append(ProofTable(name: row.name, root: row.rootPage))
      } else {
        trees.append(ProofIndex(name: row.name, root: row.rootPage, columns: nil, isUnique: false))
      }
    }
  }
}
