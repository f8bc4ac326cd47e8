import CoreDataModel
import CoreDataStore
import RunSupport
import Streams

/// What a step does to the objects that history names: which entities keep all of them under their keys, and why others
/// do not.
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
  /// Of others whose properties are the same, a to-one whose objects got or lost sub-entities.
  private var widened: [Int64: String] = [:]
  private let names: [String]
  private let destination: String

  init(_ drafts: StepDraft) throws {
    let layout = drafts.graph.binding.layout
    (names, destination) = (layout.entityNames, drafts.step.destination.name)
    let (before, after) = (drafts.step.source, drafts.step.destination)
    let (old, new) = (before.versionHashes, after.versionHashes)
    let parents = (try EntityNumbering(model: before).parents, try EntityNumbering(model: after).parents)
    for (name, number) in layout.entityNumbers {
      let (mappings, number) = (drafts.drafts.filter { $0.source.name == name }, Int64(number))
      reasons[number] = reason(mappings)
      if mappings.isEmpty { removed.insert(number) }
      guard let only = mappings.first, reasons[number] == nil else { continue }
      numbers[number] = Int64(only.destination.number)
      if only.isBehindOthers { mayMove.insert(number) }
      let isSame = old[name] != nil && old[name] == new[only.destination.name]
      let families = (
        Self.families(of: name, before, parents: parents.0),
        Self.families(of: only.destination.name, after, parents: parents.1)
      )
      if isSame, families.0 == families.1 { unchanged.insert(number) }
      if isSame, let moved = families.0.symmetricDifference(families.1).min() { widened[number] = moved }
    }
  }

  /// To-one relationships to objects of several entities have a second bit in a bitmap of changed properties (B.9),
  /// which no hash shows.
  private static func families(of entity: String, _ model: ManagedObjectModel, parents: Set<String>) -> Set<String> {
    Set(model.relationships(of: entity).filter { !$0.isToMany && parents.contains($0.destinationEntity) }.map(\.name))
  }

  private func reason(_ mappings: [MappingDraft]) -> String? {
    guard let only = mappings.first else { return "has no objects in \(destination)" }
    guard mappings.count == 1 else { return "is migrated by several entity mappings" }
    if only.mapping.isSkipped { return "belongs to a part that is left out" }
    if only.mapping.rules != nil { return "is migrated by rules, which may leave objects out" }
    if only.policy != nil { return "is migrated by a policy, which may leave objects out" }
    if only.filter != nil { return "has a filter, which may leave objects out" }
    return only.offset == 0 ? nil : "gets other keys in \(destination)"
  }

  /// Throws `refused` for the first row that names what the new version does not have.
  func check(_ rows: HistoryRows, isForeseen: Bool = false) throws {
    for (number, key) in rows.first.sorted(by: { $0.value < $1.value }) {
      if let reason = reasons[number] { throw refusal(rows, number: number, key: key, reason: reason) }
      guard numbers[number] != nil else {
        throw refusal(rows, number: number, key: key, reason: "is no entity of the store's version")
      }
      if isForeseen, mayMove.contains(number) {
        throw refusal(rows, number: number, key: key, reason: "may get other keys in \(destination)")
      }
    }
    for (number, key) in rows.firstBitmap.sorted(by: { $0.value < $1.value }) where !unchanged.contains(number) {
      let reason = widened[number].map {
        "has the to-one \($0), whose objects have other sub-entities in \(destination): the bits of changed properties move"
      }
      throw refusal(rows, number: number, key: key, reason: reason ?? "has other properties in \(destination)")
    }
  }

  /// Checks what this step does to the history that the steps before leave, and gives what it leaves.
  package func pass(_ rows: HistoryRows, isForeseen: Bool) throws -> HistoryRows {
    try check(rows, isForeseen: isForeseen)
    return rows.renumbered(numbers)
  }

  private func refusal(_ rows: HistoryRows, number: Int64, key: Int64, reason: String) -> BatchError {
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
