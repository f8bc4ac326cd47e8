import CoreDataModel
import CoreDataStore

/// Gives the entity numbers in persistent history and in CloudKit's tables their new values, where each of them has one
/// (B.9).
///
/// A row of ACHANGE names an object by entity number and key, and the changed properties by a bitmap over the entity's
/// properties. It stays true where all objects of the entity are copied under their keys, and, for a row with a bitmap,
/// where its version hash is the same. A history with any row that would not stay true is refused, or emptied where the
/// caller asks for that.
struct HistoryCarrier {
  let drafts: StepDraft
  let reader: StoreReader
  let options: ExtrasOptions

  func apply(to found: inout CarriedObjects) throws {
    guard !drafts.step.isIdentity else { return }
    let fates = try HistoryFates(drafts)
    found.fates = fates
    for index in found.tables.indices {
      let name = NameOrder.folded(found.tables[index].row.name)
      if FrameworkTables.isHistory(name), options.history == .empty {
        found.tables[index].isEmptied = true
        found.notes.append("the history in \(found.tables[index].row.name) is emptied")
        continue
      }
      let column = name == FrameworkTables.changes ? "ZENTITY" : FrameworkTables.isCloudKit(name) ? "ZENTITYID" : nil
      guard let column, let table = reader.schema.table(name), let position = table.position(of: column) else {
        continue
      }
      var rows = try HistoryRows(of: table, entity: position, in: reader)
      let removed = FrameworkTables.isCloudKit(name) ? rows.remove(fates.removed) : 0
      try fates.check(rows)
      if name == FrameworkTables.changes { found.history = rows }
      if removed > 0 {
        found.tables[index].removed = fates.removed
        let version = drafts.step.destination.name
        found.notes.append(
          "\(removed.counted("row")) of \(table.name) \(removed.verb("is", "are")) dropped with \(removed.verb("its entity", "their entities")), which \(version) does not have"
        )
      }
      let numbers = fates.numbers
      if removed > 0 || numbers.contains(where: { $0.key != $0.value }) {
        found.tables[index].numbers = (position, numbers)
      }
    }
  }
}
