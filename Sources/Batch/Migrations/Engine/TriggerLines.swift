import CoreDataStore

/// The triggers of a store, and whether a step carries them over.
package struct TriggerLines {
  package let lines: [AccountLine]

  /// Looks at the store that a step reads.
  package init(_ plan: StepPlan) {
    let kept = Dictionary(plan.carried.texts.map { (NameOrder.folded($0.name), $0.sql) }) { first, _ in first }
    let renewed = plan.carried.renewedTriggers
    lines = plan.graph.reader.schema.rows.filter { $0.type == "trigger" }.map { row in
      let isKept = kept[NameOrder.folded(row.name)] == row.sql || renewed[row.name] == row.name
      guard let name = renewed[row.name], !isKept else {
        return AccountLine(.trigger, entity: row.tableName, name: row.name, fate: isKept ? .carried : .dropped)
      }
      return AccountLine(.trigger, entity: row.tableName, name: row.name, fate: .renamed, to: [name])
    }
  }
}
