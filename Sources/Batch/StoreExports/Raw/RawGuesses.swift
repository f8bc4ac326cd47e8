import CoreDataStore

/// What an export without a model has to admit.
struct RawGuesses {
  let tables: [RawSchema.Table]
  /// Tables that are not exported.
  let others: [RawSchema.Table]

  var notes: [String] {
    var notes = [
      "no model is used: names are those of columns, and keys, Booleans and UUIDs are shown as they are stored"
    ]
    let dates = tables.flatMap(\.columns).count { $0.isDate }
    if dates > 0 {
      let hold = dates.counted("column declared TIMESTAMP holds", "columns declared TIMESTAMP hold")
      notes.append("guess: \(hold) seconds since 2001, written as dates")
    }
    for table in tables {
      guard case .links(let ends) = table.content else { continue }
      let names = ends.map { $0.entity ?? "an unknown entity" }
      notes.append("guess: \(table.name) links \(names[0]) and \(names[1]), by the numbers in its columns' names")
    }
    if !others.isEmpty {
      notes.append("left out, because no entity has them: \(others.map(\.name).joined(separator: ", "))")
    }
    return notes
  }
}
