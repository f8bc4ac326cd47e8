import CoreDataModel
import CoreDataStore
import RunSupport
import Streams

/// Counts the objects that no filter takes, before any is migrated.
package struct FilterCount {
  /// By source entity.
  package private(set) var leftOut: [String: UInt64] = [:]
  /// By source entity and attribute, the values of these objects that are not null.
  package private(set) var values: [String: [String: UInt64]] = [:]
  /// By path of a property, values and keys of objects that are taken by mappings none of which carries them.
  package private(set) var lost: [String: UInt64] = [:]
  private let binding: StoreBinding
  private let snapshot: DatabaseSnapshot
  private let model: ManagedObjectModel
  private var keys: LeftOutKeys

  /// Asks the filters of a step that reads the store itself. Reads the tables of these entities. What filters look up
  /// is sorted in memory: throws `diskFull` where that is too much. With an account also the tables of objects to which
  /// its links cannot lead any more, for ``withLinks(_:)``.
  package init(
    _ entities: Set<String>, links account: VersionAccount? = nil, step: MigrationStep, reader: StoreReader,
    policies: PolicyRegistry, now: Double, memory: MemoryBudget
  ) throws {
    let disk = MemoryDisk(limit: memory.sortBytes)
    let files = StepFiles(prefix: "filters", fileSystem: disk, budget: memory)
    let plan = try StepPlan(step: step, reader: reader, policies: policies, files: files, now: now)
    let transformer = try plan.makeTransformer(files)
    (binding, snapshot, model) = (plan.binding, reader.snapshot, step.destination)
    keys = LeftOutKeys(bytes: memory.sortBytes)
    let layout = plan.binding.layout
    let numbers = Set(entities.compactMap { layout.entityNumbers[$0] })
    let apart = account.map { fates(of: $0).apart(in: $0) } ?? []
    let split = account == nil ? [] : plan.splits?.numbers ?? []
    let tables = numbers.union(apart).union(split).compactMap {
      layout.tablePosition(ofEntity: layout.entityNames[$0 - 1])
    }
    for table in Set(tables).sorted() {
      try count(numbers, apart: apart, split: split, plan: plan, table: table, transformer: transformer)
    }
  }

  private func fates(of account: VersionAccount) -> LinkFates { LinkFates(account, binding, to: model) }

  /// The account with what no mapping carries, the links of objects that are left out, and those that lead to them. Not
  /// whole, without links to objects that are left out, where their keys take too much memory.
  package func withLinks(_ account: VersionAccount) throws -> (account: VersionAccount, isWhole: Bool) {
    var counted = account
    if !keys.isFull {
      let links = LeftOutLinks(keys: keys, binding: binding, snapshot: snapshot, fates: fates(of: account))
      counted = try links.count(account)
    }
    for index in counted.lines.indices where counted.lines[index].countedAs == nil {
      guard let path = counted.lines[index].lossPath(in: binding.layout.model), let count = lost[path] else { continue }
      counted.lines[index].cleared = (counted.lines[index].cleared ?? 0) &+ count
    }
    counted.noteUnfit(binding)
    return (counted, !keys.isFull)
  }

  private mutating func add(
    _ entity: SourceEntity, _ row: RecordDecoder, columns: inout [String: [(path: String, position: Int)]],
    plan: StepPlan
  ) {
    leftOut[entity.name, default: 0] += 1
    if columns[entity.name] == nil {
      columns[entity.name] = plan.step.source.storedAttributes(of: entity.name).compactMap { attribute in
        entity.attribute(attribute.path).map { (attribute.path, $0.pointee.position) }
      }
    }
    for (path, position) in columns[entity.name] ?? []
    where position < row.columnCount && row.type(position) != SerialType.null {
      values[entity.name, default: [:]][path, default: 0] += 1
    }
  }

  private mutating func count(
    _ numbers: Set<Int>, apart: Set<Int>, split: Set<Int>, plan: StepPlan, table: Int, transformer: RowTransformer
  ) throws {
    let bound = plan.binding.tables[table]
    var columns: [String: [(path: String, position: Int)]] = [:]
    let (page, scan) = (RowPage(), try RowScan.whole(bound.schema.rootPage, plan.graph.reader.snapshot))
    while try scan.next(into: page) {
      for index in 0..<page.count where transformer.row.decode(page.record(index)) {
        guard let number = transformer.row.integer(bound.positions[1]).map({ Int($0) }) else { continue }
        if apart.contains(number) { keys.add(page.rowid(index), number: number) }
        guard numbers.contains(number) || split.contains(number) else { continue }
        let taken = try plan.mappingsByEntity[number].filter { mapping in
          try transformer.isTaken(page.rowid(index), plan.mappings[mapping])
        }
        if split.contains(number), !taken.isEmpty, let splits = plan.splits {
          for path in splits.lost(transformer.row, number: number, takes: taken.contains) {
            lost[path, default: 0] += 1
          }
        }
        if taken.isEmpty, numbers.contains(number), let entity = plan.graph.byNumber[number] {
          add(entity, transformer.row, columns: &columns, plan: plan)
          keys.add(page.rowid(index), of: table)
        }
      }
      transformer.row.forget()
    }
  }
}

extension RowTransformer {
  /// Whether a mapping's filter takes the row that was decoded last.
  fileprivate func isTaken(_ key: Int64, _ mapping: CompiledMapping) throws -> Bool {
    try manager.withSource(for: mapping, key: key) { try mapping.takes($0) }
  }
}

extension StepPlan {
  /// Makes what transforms rows if nobody writes them.
  func makeTransformer(_ files: StepFiles) throws -> RowTransformer {
    let lookups = try LookupTable([], model: layout.model, files: files, restoring: nil)
    let patches = try PatchLog(path: files.path("patches"), fileSystem: files.fileSystem, restoring: nil)
    return RowTransformer(
      plan: self, manager: makeManager(lookups, patches),
      dropped: try DroppedKeys(of: isReadAgain, files: files, restoring: nil),
      state: StepState(plan: self))
  }

  /// Makes what policies ask of a running step.
  func makeManager(_ lookups: LookupTable, _ patches: PatchLog) -> StepObjects {
    StepObjects(
      sourceModel: step.source, layout: layout, keys: keys, graph: graph, lookups: lookups, patches: patches,
      compiled: mappings,
      entities: entities, rules: rules)
  }
}
