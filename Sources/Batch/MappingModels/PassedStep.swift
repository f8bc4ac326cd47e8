import CoreDataModel
import CoreDataStore
import Streams

/// Whether a pass can make the objects of a step on its way to those of a later one: each follows from one row, under
/// its key, and the table of its version would have the rows in the same order.
package struct PassedStep {
  private let pairs: [(source: String, destination: String, mapping: EntityMapping)]
  private let source: StoreLayout
  private let destination: StoreLayout

  package init(_ mappings: [EntityMapping], from source: StoreLayout, to destination: StoreLayout) {
    pairs = mappings.compactMap { mapping in
      mapping.sourceEntity.flatMap { source in mapping.destinationEntity.map { (source, $0, mapping) } }
    }
    (self.source, self.destination) = (source, destination)
  }

  /// What stands against it; nil for nothing. `next` is the step after it, if that can be inferred: links that it does
  /// not read are never made.
  package func obstacle(before next: PassedStep? = nil) -> String? {
    pairs.lazy.compactMap { Self.obstacle(in: $0.mapping) }.first ?? obstacleInTables() ?? obstacleInLinks(next)
  }

  /// Whether the step carries links of a join table of its source.
  private func reads(_ join: JoinTable) -> Bool {
    let model = destination.model
    return model.entities.contains { entity in
      entity.relationships.contains { relationship in
        origins(PropertyReference(entity: entity.name, name: relationship.name)).contains { origin in
          if case .join(let place, _) = origin { source.joinTables[place] == join } else { false }
        }
      }
    }
  }

  private static func obstacle(in mapping: EntityMapping) -> String? {
    if let policy = mapping.policyClassName { return "\(mapping.name) has the policy \(policy)" }
    if let rules = mapping.rules, !rules.objects.isEmpty || !rules.relationships.isEmpty {
      return "the rules of \(mapping.name) create, find or link objects"
    }
    if mapping.countsRemovals { return "\(mapping.name) removes objects for several reasons, which are counted apart" }
    let evaluated = mapping.relationshipMappings.first { $0.valueExpression?.isEvaluatedRelationship == true }
    return evaluated.map { "\(mapping.name).\($0.name) is computed" }
  }

  private func obstacleInTables() -> String? {
    let heirs = Dictionary(pairs.map { ($0.source, $0.destination) }) { first, _ in first }
    guard heirs.count == pairs.count else { return "an entity has several mappings" }
    return VersionLayout(source).keepsTables(in: VersionLayout(destination), heirs: heirs)
      ? nil : "objects move to other tables"
  }

  private func obstacleInLinks(_ next: PassedStep?) -> String? {
    destination.joinTables.lazy.filter { next?.reads($0) ?? true }.compactMap { join in
      let sides = [join.relationship, join.inverse].map(origins).filter { !$0.isEmpty }
      let name = join.relationship.description
      guard let origin = sides.first?.first else { return nil }
      guard case .join = origin else { return "links of \(name) were keys in the version before" }
      guard sides.allSatisfy({ Set($0.map { "\($0)" }).count == 1 }) else {
        return "links of \(name) come from several relationships"
      }
      // Places in an order may depend on the links before.
      guard join.sourceOrderColumn == nil, join.destinationOrderColumn == nil else {
        return "links of \(name) are ordered"
      }
      let hasFilter = pairs.contains { $0.mapping.filterPredicate != nil }
      return hasFilter && sides.contains { $0.count > 1 }
        ? "links of \(name) are filtered by each mapping on its own" : nil
    }.first
  }

  /// Where mappings take the links of a relationship from, a mapping each.
  private func origins(_ reference: PropertyReference) -> [RelationshipStorage] {
    pairs.filter { destination.model.isKind($0.destination, of: reference.entity) }.compactMap { pair in
      guard let property = pair.mapping.relationshipMappings.first(where: { $0.name == reference.name }) else {
        return nil
      }
      let name = property.valueExpression.map { $0.carriedRelationship?.path } ?? property.name
      return name.flatMap { source.storage(of: $0, entity: pair.source) }
    }
  }
}
