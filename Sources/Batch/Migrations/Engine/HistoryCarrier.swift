import CoreDataModel
import CoreDataStore
import MappingModels
import RunSupport
import Streams

/// Gives the entity numbers in persistent history and in CloudKit's tables their new values, where each of them has one (B.9).
///
/// A row of ACHANGE names an object by entity number and key, and the changed properties by a bitmap over the entity's
/// properties. It stays true where all objects of the entity are copied under their keys, and, for a row with a bitmap, where
/// its version hash is the same. A history with any row that would not stay true is refused, or emptied where the caller asks
/// for that.
struct HistoryCarrier {
  let drafts: StepDraft
  let reader: StoreReader
  let options: ExtrasOptions

  func apply(to found: inout CarriedObjects) throws {
    guard !drafts.step.isIdentity else { return }
    let fates = HistoryFates(drafts)
    found.fates = fates
    for index in found.tables.indices {
      let name = NameOrder.folded(found.tables[index].row.name)
      if FrameworkTables.isHistory(name), options.history == .empty {
        found.tables[index].isEmptied = true
        found.notes.append("the history in \(found.tables[index].row.name) is emptied")
        continue
      }
      let column = name == FrameworkTables.changes ? "ZENTITY" : FrameworkTables.isCloudKit(name) ? "ZENTITYID" : nil
      guard let column, let table = reader.schema.table(name), let position = table.position(of: column) else { continue }
      var rows = try HistoryRows(of: table, entity: position, in: reader)
      let removed = FrameworkTables.isCloudKit(name) ? rows.remove(fates.removed) : 0
      try fates.check(rows)
      if name == FrameworkTables.changes { found.history = rows }
      if removed > 0 {
        found.tables[index].removed = fates.removed
        let version = drafts.step.destination.name
        found.notes.append("\(removed) rows of \(table.name) are dropped with their entities, which \(version) does not have")
      }
      let numbers = fates.numbers
      if removed > 0 || numbers.contains(where: { $0.key != $0.value }) { found.tables[index].numbers = (position, numbers) }
    }
  }
}

/// What the rows of a table of history name: entities by number, each with the first row that does, and the first with a bitmap.
package struct HistoryRows {
  let table: String
  let path: String
  private(set) var first: [Int64: Int64] = [:]
  private(set) var firstBitmap: [Int64: Int64] = [:]
  /// Rows by entity number, in the table itself.
  private var counts: [Int64: Int] = [:]

  init(of table: TableSchema, entity: Int, in reader: StoreReader) throws {
    (self.table, path) = (table.name, reader.path)
    let bitmaps = table.columns.indices.filter { index in
      let name = NameOrder.folded(table.columns[index].name)
      return name == "zcolumns" || name.hasPrefix("ztombstone")
    }
    let (scan, page, row) = (
      TableScan(snapshot: reader.snapshot, root: table.rootPage, rowLimit: StoreReader.fixedRowLimit), RowPage(), RecordDecoder()
    )
    while try scan.next(into: page) {
      for index in 0..<page.count {
        guard row.decode(page.record(index)) else {
          throw BatchError(.badStore, "a row of \(table.name) is damaged", path: reader.path, key: page.rowid(index))
        }
        guard let number = row.integer(entity) else { continue }
        counts[number, default: 0] += 1
        if first[number] == nil { first[number] = page.rowid(index) }
        guard firstBitmap[number] == nil, bitmaps.contains(where: { $0 < row.columnCount && row.type($0) != 0 }) else { continue }
        firstBitmap[number] = page.rowid(index)
      }
    }
  }

  /// Forgets the rows of these entities; how many there were.
  fileprivate mutating func remove(_ numbers: Set<Int64>) -> Int {
    let count = numbers.reduce(0) { $0 + (counts[$1] ?? 0) }
    for number in numbers { (first[number], firstBitmap[number], counts[number]) = (nil, nil, nil) }
    return count
  }

  /// The same rows with other numbers.
  fileprivate func renumbered(_ numbers: [Int64: Int64]) -> HistoryRows {
    func changed(_ rows: [Int64: Int64]) -> [Int64: Int64] {
      Dictionary(rows.compactMap { number, row in numbers[number].map { ($0, row) } }, uniquingKeysWith: min)
    }
    var result = self
    (result.first, result.firstBitmap) = (changed(first), changed(firstBitmap))
    return result
  }
}

/// What a step does to the objects that history names: which entities keep all of them under their keys, and why others do not.
package struct HistoryFates {
  /// Old to new numbers of the entities whose objects all keep their keys.
  private(set) var numbers: [Int64: Int64] = [:]
  /// Old numbers of the entities whose objects come to no entity of the new version.
  private(set) var removed: Set<Int64> = []
  /// Why an entity's rows would become untrue, by old number.
  private var reasons: [Int64: String] = [:]
  /// Entities that may get other keys, which depends on objects that are not there when the path is planned.
  private var mayMove: Set<Int64> = []
  /// Entities whose properties are the same before and after: bitmaps over them stay true.
  private var unchanged: Set<Int64> = []
  private let names: [String]
  private let destination: String

  init(_ drafts: StepDraft) {
    let layout = drafts.graph.binding.layout
    (names, destination) = (layout.entityNames, drafts.step.destination.name)
    let (old, new) = (drafts.step.source.versionHashes, drafts.step.destination.versionHashes)
    for (name, number) in layout.entityNumbers {
      let (mappings, number) = (drafts.drafts.filter { $0.source.name == name }, Int64(number))
      reasons[number] = reason(mappings)
      if mappings.isEmpty { removed.insert(number) }
      guard let only = mappings.first, reasons[number] == nil else { continue }
      numbers[number] = Int64(only.destination.number)
      if only.isBehindOthers { mayMove.insert(number) }
      if old[name] != nil, old[name] == new[only.destination.name] { unchanged.insert(number) }
    }
  }

  private func reason(_ mappings: [MappingDraft]) -> String? {
    guard let only = mappings.first else { return "has no objects in \(destination)" }
    guard mappings.count == 1 else { return "is migrated by several entity mappings" }
    if only.mapping.isSkipped { return "belongs to a part that is left out" }
    if only.policy != nil { return "is migrated by a policy, which may leave objects out" }
    if only.filter != nil { return "has a filter, which may leave objects out" }
    return only.offset == 0 ? nil : "gets other keys in \(destination)"
  }

  /// Throws `refused` for the first row that names what the new version does not have.
  func check(_ rows: HistoryRows, isForeseen: Bool = false) throws {
    for (number, key) in rows.first.sorted(by: { $0.value < $1.value }) {
      if let reason = reasons[number] { throw refusal(rows, number, key, reason) }
      guard numbers[number] != nil else { throw refusal(rows, number, key, "is no entity of the store's version") }
      if isForeseen, mayMove.contains(number) { throw refusal(rows, number, key, "may get other keys in \(destination)") }
    }
    for (number, key) in rows.firstBitmap.sorted(by: { $0.value < $1.value }) where !unchanged.contains(number) {
      throw refusal(rows, number, key, "has other properties in \(destination)")
    }
  }

  /// Checks what this step does to the history that the steps before leave, and gives what it leaves.
  package func pass(_ rows: HistoryRows, isForeseen: Bool) throws -> HistoryRows {
    try check(rows, isForeseen: isForeseen)
    return rows.renumbered(numbers)
  }

  private func refusal(_ rows: HistoryRows, _ number: Int64, _ key: Int64, _ reason: String) -> BatchError {
    // Any number may stand there, the least one too.
    let name = number > 0 && number <= Int64(names.count) ? names[Int(number) - 1] : "entity number \(number)"
    let isHistory = FrameworkTables.isHistory(NameOrder.folded(rows.table))
    return BatchError(
      .refused, "row \(key) of \(rows.table) would become untrue: \(name) \(reason)",
      hint: isHistory
        ? "Choose --history empty, and clients of the history begin anew"
        : "Let the application migrate the store", effect: .nothingWritten, path: rows.path)
  }
}
