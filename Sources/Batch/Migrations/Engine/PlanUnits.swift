import CoreDataStore

/// What the units of a plan read.
extension StepPlan {
  /// The number of steps that the pass makes before this one.
  var depth: Int { passed.map { $0.plan.depth + 1 } ?? 0 }

  /// For every mapping, whether its source rows are read a second time, for relationships.
  var isReadAgain: [Bool] {
    zip(mappings, late).map { $0.policy?.policy.createsRelationships == true || !$1.isEmpty }
  }

  /// Whether this is the unit that reads its table for the first time.
  func isFirstRead(_ unit: StepUnit) -> Bool {
    guard case .rows(let table, let mappings) = unit else { return false }
    for case .rows(table, let others) in units { return others == mappings }
    return false
  }

  /// The join table that a unit is the first to read; nil for a unit that reads none, or one that was read before.
  func firstReadJoin(_ unit: StepUnit) -> Int? {
    guard case .links(let link) = unit, link.isFirstOfPairs else { return nil }
    return binding.joins.firstIndex { $0.schema.rootPage == link.scan.root }
  }

  /// The root of the table that a unit reads, in the step's own version; nil for a unit that is a single call.
  func root(of unit: StepUnit) -> UInt32? {
    switch unit {
    case .rows(let table, _), .relationships(let table, _): binding.tables[table].schema.rootPage
    case .links(let link): link.scan.root
    case .carried(let index): carried.tables[index].row.rootPage
    case .begin, .endCreation, .endRelationships, .validation, .end: nil
    }
  }

  /// The store's table that a unit reads; nil for a unit that reads none.
  package func origin(of unit: StepUnit) -> (root: UInt32, isWithoutRowid: Bool)? {
    guard let root = root(of: unit) else { return nil }
    if case .links(let link) = unit { return graph.origin(root, isWithoutRowid: link.scan.isWithoutRowid) }
    return graph.origin(root, isWithoutRowid: false)
  }
}
