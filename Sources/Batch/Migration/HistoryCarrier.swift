import Streams

/// Gives the entity numbers in persistent history and in CloudKit's tables their new values, where each of them has one (B.9).
///
/// A row of ACHANGE names an object by entity number and key, and the changed properties by a bitmap over the entity's
/// properties. It stays true where the entity is copied under its keys, and, for a row with a bitmap, where its version hash is
/// the same. A history with any row that would not stay true is refused, or emptied where the caller asks for that.
struct HistoryCarrier {
  let drafts: StepDraft
  let reader: StoreReader
  let options: ExtrasOptions

  func apply(to found: inout CarriedObjects) throws {
    guard !drafts.step.isIdentity else { return }
    let numbers = newNumbers()
    for index in found.tables.indices {
      let name = NameOrder.folded(found.tables[index].row.name)
      if FrameworkTables.isHistory(name), options.history == .empty {
        found.tables[index].isEmptied = true
        found.notes.append("the history in \(found.tables[index].row.name) is emptied")
        continue
      }
      let column = name == FrameworkTables.changes ? "ZENTITY" : FrameworkTables.isCloudKit(name) ? "ZENTITYID" : nil
      guard let column, let table = reader.schema.table(name), let position = table.position(of: column) else { continue }
      let removed = FrameworkTables.isCloudKit(name) ? removedNumbers() : []
      let rows = try check(table, entity: position, numbers, removed)
      if rows > 0 {
        found.tables[index].removed = removed
        let version = drafts.step.destination.name
        found.notes.append("\(rows) rows of \(table.name) go with their entities, which \(version) does not have")
      }
      if rows > 0 || numbers.contains(where: { $0.key != $0.value }) { found.tables[index].numbers = (position, numbers) }
    }
  }

  /// Old to new numbers of the entities whose objects all keep their keys: one mapping, no policy.
  private func newNumbers() -> [Int64: Int64] {
    var numbers: [Int64: Int64] = [:]
    for (name, number) in drafts.graph.binding.layout.entityNumbers {
      let mappings = drafts.drafts.filter { $0.source.name == name }
      guard mappings.count == 1, let only = mappings.first, only.policy == nil, only.offset == 0 else { continue }
      numbers[Int64(number)] = Int64(only.destination.number)
    }
    return numbers
  }

  /// Old numbers of entities whose objects come to no entity of the new version.
  private func removedNumbers() -> Set<Int64> {
    let mapped = Set(drafts.drafts.map(\.source.name))
    return Set(drafts.graph.binding.layout.entityNumbers.filter { !mapped.contains($0.key) }.map { Int64($0.value) })
  }

  /// Entities, by old number, whose properties are the same before and after: bitmaps over them stay true.
  private func unchanged() -> Set<Int64> {
    let (old, new) = (drafts.step.source.versionHashes, drafts.step.destination.versionHashes)
    let numbers = drafts.graph.binding.layout.entityNumbers
    return Set(numbers.filter { old[$0.key] != nil && old[$0.key] == new[$0.key] }.map { Int64($0.value) })
  }

  /// How many rows go with entities that are removed. Throws `refused` for the first row that names what else the new version does
  /// not have.
  private func check(_ table: TableSchema, entity: Int, _ numbers: [Int64: Int64], _ removed: Set<Int64>) throws -> Int {
    var gone = 0
    let bitmaps = table.columns.indices.filter { index in
      let name = NameOrder.folded(table.columns[index].name)
      return name == "zcolumns" || name.hasPrefix("ztombstone")
    }
    let unchanged = unchanged()
    let (scan, page, row) = (
      TableScan(snapshot: reader.snapshot, root: table.rootPage, rowLimit: StoreReader.fixedRowLimit), RowPage(), RecordDecoder()
    )
    while try scan.next(into: page) {
      for index in 0..<page.count {
        guard row.decode(page.record(index)) else {
          throw BatchError(.badStore, "a row of \(table.name) is damaged", path: reader.path, key: page.rowid(index))
        }
        guard let number = row.integer(entity) else { continue }
        guard !removed.contains(number) else {
          gone += 1
          continue
        }
        guard numbers[number] != nil else { throw refusal(table, number, page.rowid(index), "is not copied under its keys") }
        let hasBitmap = bitmaps.contains { $0 < row.columnCount && row.type($0) != 0 }
        if hasBitmap, !unchanged.contains(number) {
          throw refusal(table, number, page.rowid(index), "has other properties in \(drafts.step.destination.name)")
        }
      }
    }
    return gone
  }

  private func refusal(_ table: TableSchema, _ number: Int64, _ key: Int64, _ reason: String) -> BatchError {
    let names = drafts.graph.binding.layout.entityNames
    // Any number may stand there, the least one too.
    let name = number > 0 && number <= Int64(names.count) ? names[Int(number) - 1] : "entity number \(number)"
    let isHistory = FrameworkTables.isHistory(NameOrder.folded(table.name))
    return BatchError(
      .refused, "row \(key) of \(table.name) would become untrue: \(name) \(reason)",
      hint: isHistory
        ? "Choose --history empty, and clients of the history begin anew; nothing was written"
        : "Let the application migrate the store; nothing was written", path: reader.path)
  }
}
