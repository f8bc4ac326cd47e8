/// The triggers of a store, and whether a step carries them over.
struct TriggerLines {
  let lines: [AccountLine]

  /// Looks at the store that a step reads.
  init(_ plan: StepPlan) {
    let kept = Set((plan.carried.texts + plan.carried.trees).map { NameOrder.folded($0.name) })
    lines = plan.graph.reader.schema.rows.filter { $0.type == "trigger" }.map { row in
      AccountLine(.trigger, row.tableName, row.name, kept.contains(NameOrder.folded(row.name)) ? .carried : .dropped)
    }
  }
}
