import Streams

// Rows that are read once more, when all objects are there.
extension RowTransformer {
  /// Makes the relationships of objects that expressions and policies set.
  func relationships(_ page: RowPage, table: Int, mapping index: Int) throws {
    let mapping = plan.mappings[index]
    let calls = mapping.policy?.policy.createsRelationships == true ? mapping.calls : nil
    let pass = try pass(table: table, mappings: [index])
    let hasDropped = state.counts[index].dropped > 0
    manager.enter(index)
    for rowIndex in 0..<page.count {
      let key = page.rowid(rowIndex)
      // Of this pass, only the mapping's own entity has a way.
      guard try !ways(page, index: rowIndex, pass: pass).isEmpty,
        try !hasDropped || !dropped.contains(key, mapping: index)
      else {
        continue
      }
      if !plan.late[index].isEmpty || mapping.ownRules?.late.isEmpty == false {
        _ = try decode(page, index: rowIndex, pass: pass)
      }
      try naming(mapping, key: key) {
        try relate(mapping, plan.late[index], key: key)
        if let calls {
          let destination = manager.reference(to: mapping.destination, key: key &+ mapping.offset)
          try calls._withUnsafeGuaranteedRef {
            try $0.createRelationships(forDestination: destination, manager: MigrationManager(manager))
          }
        }
        try manager.closeObjects()
      }
    }
  }

  /// Fills relationships by expressions and rules, before a policy adds to them.
  private func relate(_ mapping: CompiledMapping, _ late: [PropertyExpression], key: Int64) throws {
    let rules = mapping.ownRules.flatMap { $0.late.isEmpty ? nil : $0 }
    guard !late.isEmpty || rules != nil else { return }
    let destination = manager.reference(to: mapping.destination, key: key &+ mapping.offset)
    try manager.withSource(for: mapping, key: key) { source in
      try rules?.relate(source, object: destination, manager: manager)
      var scope = ExpressionScope(source: source)
      (scope.destination, scope.policy, scope.manager) = (destination, mapping.policy?.policy, manager)
      for expression in late {
        try expression.naming(mapping.mapping, source: source) { try expression.apply(to: destination, scope) }
      }
    }
  }
}
