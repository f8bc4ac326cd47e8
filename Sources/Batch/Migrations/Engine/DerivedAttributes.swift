import CoreDataModel
import CoreDataStore
import MappingModels

/// What becomes of the attributes that a step's destination derives: Core Data keeps their values by triggers, which it
/// makes with a table.
struct DerivedAttributes {
  private let drafts: StepDraft
  /// The store's own version.
  private let origin: ManagedObjectModel
  private let old: [SchemaRow]
  /// Triggers of this tool's own: for what an inferred step computes, and for what they kept before.
  private(set) var triggers: [SchemaRow] = []
  /// Names of the store's triggers that they take the place of, each with its new name.
  private(set) var renewed: [String: String] = [:]
  /// Attributes that have such triggers now for the first time.
  private var kept: [String] = []

  /// Looks at the triggers of a store whose version is laid out as `origin`.
  init(drafts: StepDraft, origin: StoreLayout, triggers: [SchemaRow]) {
    (self.drafts, self.origin, old) = (drafts, origin.model, triggers)
    for (entity, attribute) in derived { write(attribute, of: entity, origin) }
  }

  private var derived: [(entity: String, attribute: AttributeDescription)] {
    drafts.step.destination.entities.flatMap { entity in
      entity.attributes.filter { $0.derivationExpression != nil }.map { (entity.name, $0) }
    }
  }

  /// Triggers of its own text hold names of tables and columns, which may be others now: they are rewritten.
  private mutating func write(_ attribute: AttributeDescription, of entity: String, _ origin: StoreLayout) {
    guard let rows = DerivedTriggers(layout: drafts.layout).rows(attribute, of: entity) else { return }
    if isNew(attribute, of: entity) {
      guard isComputed(attribute, of: entity, by: \.isInferred) else { return }
      kept.append("\(entity).\(attribute.name)")
    } else {
      let before = DerivedTriggers(layout: origin).rows(attribute, of: entity) ?? []
      guard before.count == rows.count,
        before.allSatisfy({ row in old.contains { $0.name == row.name && $0.sql == row.sql } })
      else { return }
      for (row, new) in zip(before, rows) { renewed[row.name] = new.name }
    }
    triggers += rows
  }

  /// What a person should know. `texts` are the triggers of the new store.
  func notes(kept texts: [SchemaRow]) -> [String] {
    var (unkept, uncomputed): ([String], [String]) = ([], [])
    for (entity, attribute) in derived {
      let (name, isNew) = ("\(entity).\(attribute.name)", isNew(attribute, of: entity))
      if isNew, !isComputed(attribute, of: entity) {
        uncomputed.append(name)
      } else if isNew || has(name, in: old), !has(name, in: texts) {
        unkept.append(name)
      }
    }
    let notes = [
      (
        "derived attributes are computed now, and kept up to date by triggers in plain SQL, which are not Core Data's",
        kept
      ),
      ("derived attributes are computed now, but have no triggers of Core Data's that keep them up to date", unkept),
      ("derived attributes are not computed, and have no triggers of Core Data's", uncomputed),
    ]
    return notes.filter { !$0.1.isEmpty }.map { "\($0.0): \($0.1.sorted().joined(separator: ", "))" }
  }

  private func isNew(_ attribute: AttributeDescription, of entity: String) -> Bool {
    let before = origin.hasEntity(entity) ? origin.attribute(attribute.name, of: entity) : nil
    return before?.isDerived(like: attribute) != true
  }

  private func has(_ name: String, in triggers: [SchemaRow]) -> Bool {
    let part = NameOrder.folded("_\(name.replacing(".", with: "_"))_")
    return triggers.contains { trigger in
      let folded = NameOrder.folded(trigger.name)
      return folded.hasPrefix("z_da_") && folded.contains(part)
    }
  }

  private func isComputed(
    _ attribute: AttributeDescription, of entity: String, by isMeant: (MigrationStep) -> Bool = { _ in true }
  ) -> Bool {
    let model = drafts.step.destination
    let isPath = attribute.derivationExpression?.contains { "@(".contains($0) } == false
    return (drafts.step.passed + [drafts.step]).filter(isMeant).flatMap(\.mappingModels).flatMap(\.entityMappings)
      .contains {
        mapping in
        guard let destination = mapping.destinationEntity, model.isKind(destination, of: entity) else { return false }
        return mapping.attributeMappings.contains { property in
          guard property.name == attribute.name, let expression = property.valueExpression else { return false }
          return expression.isComputed || (isPath && !expression.isConstant)
        }
      }
  }
}

extension Expression {
  fileprivate var isConstant: Bool { if case .constant = self { true } else { false } }
}
