import Streams

/// Turns pages of source rows into finished records, unit by unit. Lives on one thread.
final class RowTransformer {
  private let plan: StepPlan
  let manager: MigrationManager
  let dropped: DroppedKeys
  @exclusivity(unchecked) var state: StepState
  private let encoder = RecordEncoder()
  private let row: RecordDecoder
  /// For every source table: finds the columns of its records.
  private let locators: [RecordLocator]
  /// The way for rows without objects of the pass at hand.
  private var prepared: (table: Int, mappings: [Int], fast: FastRows?)?
  /// For every mapping: its recipe, where it has one.
  private let programs: [RecordProgram?]

  init(plan: StepPlan, manager: MigrationManager, dropped: DroppedKeys, state: StepState) {
    self.plan = plan
    self.manager = manager
    self.dropped = dropped
    self.state = state
    row = manager.currentRow
    programs = plan.mappings.map { manager.lookups.wants($0.destination.name) ? nil : $0.program() }
    locators = plan.binding.tables.map { RecordLocator(columnCount: $0.schema.columns.count) }
    manager.nextKeys = state.nextKeys
  }

  /// The table that a unit reads; nil for a unit that is a single call.
  func root(of unit: StepUnit) -> UInt32? {
    switch unit {
    case .rows(let table, _), .relationships(let table, _): plan.binding.tables[table].schema.rootPage
    case .links(let link): link.scan.root
    case .carried(let index): plan.carried.tables[index].row.rootPage
    default: nil
    }
  }

  /// Is the unit's table kept as an index? Only links may come from such a one.
  func isWithoutRowid(_ unit: StepUnit) -> Bool {
    if case .links(let link) = unit { link.scan.isWithoutRowid } else { false }
  }

  /// Runs a unit that is a single call.
  func call(_ unit: StepUnit) throws {
    switch unit {
    case .begin(let index): try policy(index) { try $0.begin($1, with: manager) }
    case .endCreation(let index): try policy(index) { try $0.endInstanceCreation(forMapping: $1, manager: manager) }
    case .endRelationships(let index): try policy(index) { try $0.endRelationshipCreation(forMapping: $1, manager: manager) }
    case .validation(let index): try policy(index) { try $0.performCustomValidation(forMapping: $1, manager: manager) }
    case .end(let index): try policy(index) { try $0.end($1, manager: manager) }
    case .rows, .links, .carried, .relationships: break
    }
    try manager.closeObjects()
    state.nextKeys = manager.nextKeys
  }

  private func policy(_ index: Int, _ body: (any EntityMigrationPolicy, EntityMapping) throws -> Void) throws {
    let mapping = plan.mappings[index]
    guard let policy = mapping.policy else { return }
    try naming(mapping, key: nil) { try body(policy, mapping.mapping) }
  }

  /// Says of an error from a policy where it happened, unless it says so itself.
  private func naming<R>(_ mapping: CompiledMapping, key: Int64?, _ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let error as BatchError {
      var named = error
      named.entity = error.entity ?? mapping.source.name
      named.key = error.key ?? key
      throw named
    } catch let error as StreamsError where error.code == .tooLarge {
      throw BatchError(
        .refused, error.message, hint: error.hint, path: error.path, entity: mapping.source.name, key: key)
    } catch let error as StreamsError {
      throw error
    } catch {
      throw BatchError(
        .policyFailed, "the policy \(mapping.mapping.policyClassName ?? "") failed", entity: mapping.source.name, key: key,
        cause: error)
    }
  }

  /// Migrates a page of rows of a unit into the manager's output.
  func transform(_ page: RowPage, of unit: StepUnit) throws {
    switch unit {
    case .rows(let table, let indexes): try rows(page, table: table, mappings: indexes)
    case .links(let link): try links(page, link)
    case .carried(let index): try carry(page, plan.carried.tables[index], to: plan.firstCarried + index)
    case .relationships(let table, let index): try relationships(page, table: table, mapping: index)
    default: break
    }
    state.rowsRead += UInt64(page.count)
    if page.count > 0 { state.after = page.rowid(page.count - 1) }
    state.nextKeys = manager.nextKeys
  }

  private func decode(_ page: RowPage, _ index: Int, table: Int) throws -> SourceEntity {
    let bound = plan.binding.tables[table]
    let key = page.rowid(index)
    guard row.decode(page.record(index)) else {
      throw BatchError(
        .badStore, "a row of \(bound.schema.name) is damaged", path: plan.graph.reader.path,
        entity: bound.layout.rootEntity, key: key)
    }
    let entities = plan.graph.byNumber
    guard let number = row.integer(bound.positions[1]), number > 0, number < Int64(entities.count),
      let entity = entities[Int(number)], entity.table == table
    else {
      throw BatchError(
        .badStore, "a row of \(bound.schema.name) has an entity number that its table does not hold",
        path: plan.graph.reader.path, entity: bound.layout.rootEntity, key: key)
    }
    return entity
  }

  private func rows(_ page: RowPage, table: Int, mappings indexes: [Int]) throws {
    if prepared?.table != table || prepared?.mappings != indexes {
      prepared = (table, indexes, fastRows(table: table, mappings: indexes))
    }
    let fast = prepared?.fast
    defer { fast?.count(into: &state) }
    for index in 0..<page.count {
      let key = page.rowid(index)
      if let fast, fast.migrate(page.record(index), key, to: manager.output) { continue }
      let entity = try decode(page, index, table: table)
      var isMapped = false
      for mappingIndex in plan.mappingsByEntity[entity.number] where indexes.contains(mappingIndex) {
        isMapped = true
        let mapping = plan.mappings[mappingIndex]
        let kept = try naming(mapping, key: key) { try migrate(key, mapping) }
        state.counts[mappingIndex].read += 1
        if kept {
          state.counts[mappingIndex].kept += 1
        } else {
          state.counts[mappingIndex].dropped += 1
          try dropped.append(key, mapping: mappingIndex)
        }
      }
      if !isMapped { state.unmapped += 1 }
    }
  }

  /// The way for rows that need no object; nil where a mapping of this pass has no recipe.
  private func fastRows(table: Int, mappings indexes: [Int]) -> FastRows? {
    let bound = plan.binding.tables[table]
    var byNumber: [FastRows.Mapping?] = Array(repeating: nil, count: plan.mappingsByEntity.count)
    for number in plan.mappingsByEntity.indices {
      let used = plan.mappingsByEntity[number].filter(indexes.contains)
      guard used.count == 1, let index = used.first, let program = programs[index] else {
        if used.isEmpty { continue }
        return nil
      }
      let mapping = plan.mappings[index]
      byNumber[number] = FastRows.Mapping(
        index: index, program: program, table: mapping.destination.table, offset: mapping.offset)
    }
    return FastRows(locators[table], entityPosition: bound.positions[1], byNumber: byNumber, mappings: plan.mappings.count)
  }

  private func migrate(_ key: Int64, _ mapping: CompiledMapping) throws -> Bool {
    if !manager.lookups.wants(mapping.destination.name), try mapping.encode(row, rowid: key, to: encoder) {
      manager.output.append(table: mapping.destination.table, rowid: key &+ mapping.offset, encoder)
      return true
    }
    let source = manager.source(for: mapping, key: key)
    return try manager.withSource(source, mapping) {
      if let policy = mapping.policy {
        try policy.createDestinationInstances(forSource: source, in: mapping.mapping, manager: manager)
      } else {
        _ = try manager.createDestinationInstance(forSource: source, in: mapping.mapping)
      }
    }
  }

  private func links(_ page: RowPage, _ unit: LinkUnit) throws {
    for index in 0..<page.count {
      let rowid = page.rowid(index)
      guard row.decode(page.record(index)) else {
        throw BatchError(.badStore, "a row with links of \(unit.name) is damaged", path: plan.graph.reader.path, key: rowid)
      }
      guard let owner = unit.scan.owner.read(row, rowid), let other = unit.scan.other.read(row, rowid) else { continue }
      let (from, to) = (owner &+ unit.ownerOffset, other &+ unit.otherOffset)
      let (order, inverse) = (unit.order.flatMap { row.integer($0) }, unit.inverseOrder.flatMap { row.integer($0) })
      try manager.link(
        unit.join, source: unit.ownerIsSource ? from : to, destination: unit.ownerIsSource ? to : from,
        sourceOrder: unit.ownerIsSource ? inverse : order, destinationOrder: unit.ownerIsSource ? order : inverse)
    }
  }

  /// Copies records as they are; where entity numbers changed, theirs is replaced.
  private func carry(_ page: RowPage, _ table: CarriedObjects.Table, to number: Int) throws {
    for index in 0..<page.count {
      guard let (column, map) = table.numbers else {
        manager.output.append(table: number, rowid: page.rowid(index), record: page.record(index))
        continue
      }
      guard row.decode(page.record(index)) else {
        throw BatchError(
          .badStore, "a row of \(table.row.name) is damaged", path: plan.graph.reader.path, key: page.rowid(index))
      }
      encoder.reset()
      for position in 0..<row.columnCount {
        if position == column, let old = row.integer(position) {
          encoder.append(.integer(map[old] ?? old))
        } else {
          encoder.append(type: row.type(position), body: row.body(position))
        }
      }
      manager.output.append(table: number, rowid: page.rowid(index), encoder)
    }
  }

  private func relationships(_ page: RowPage, table: Int, mapping index: Int) throws {
    let mapping = plan.mappings[index]
    guard let policy = mapping.policy else { return }
    for rowIndex in 0..<page.count {
      guard try decode(page, rowIndex, table: table) === mapping.source else { continue }
      let key = page.rowid(rowIndex)
      guard try !dropped.contains(key, mapping: index) else { continue }
      let destination = DestinationObject(reference: mapping.destination, key: key + mapping.offset, manager: manager)
      try naming(mapping, key: key) {
        try policy.createRelationships(forDestination: destination, in: mapping.mapping, manager: manager)
        try manager.closeObjects()
      }
    }
  }
}
