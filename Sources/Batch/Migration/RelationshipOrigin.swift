import Streams

/// The source relationship that a relationship mapping carries over.
struct RelationshipOrigin {
  var name: String
  var relationship: StoredRelationship
  /// The entity mapping whose objects are meant; nil for any that fits.
  var mappingName: String?

  /// Has the expression to be evaluated for every object, since no relationship of the source is simply carried over?
  static func isLate(_ expression: Expression) -> Bool { expression != .constant(.null) && understand(expression) == nil }

  /// The entity whose objects the relationship's links may belong to: the topmost that has it.
  func declaringEntity(_ draft: MappingDraft, _ drafts: StepDraft) throws -> String {
    let model = drafts.graph.binding.layout.model
    return model.ancestors(of: draft.source.name).last {
      drafts.graph.entities[$0.name]?.relationships[name] != nil
    }?.name ?? draft.source.name
  }

  /// Nil when nothing is carried over: no expression, and the source has no relationship of that name (D.2); and where an
  /// expression has to be evaluated.
  init?(_ property: PropertyMapping, _ draft: MappingDraft, _ drafts: StepDraft) throws {
    guard let expression = property.valueExpression else {
      guard let same = draft.source.relationships[property.name] else { return nil }
      (name, relationship) = (property.name, same)
      return
    }
    if expression == .constant(.null) { return nil }
    guard let (path, mapping) = Self.understand(expression) else { return nil }
    guard let found = draft.source.relationships[path] else {
      throw BatchError(
        .badMapping, "\(draft.mapping.name).\(property.name) reads \(path), which the source does not have",
        entity: draft.source.name)
    }
    (name, relationship, mappingName) = (path, found, mapping)
  }

  private static func understand(_ expression: Expression) -> (path: String, mapping: String?)? {
    switch expression {
    case .keyPath(.variable("source"), let path) where path.count == 1: (path[0], nil)
    case .function(.some(.variable("manager")), let name, let arguments) where arguments.count == 2:
      switch (name, arguments[0], arguments[1]) {
      case (
        "destinationInstancesForEntityMappingNamed:sourceInstances:", .constant(.text(let mapping)),
        .keyPath(.variable("source"), let path)
      ) where path.count == 1:
        (path[0], mapping)
      case (
        "destinationInstancesForSourceRelationshipNamed:sourceInstances:", _, .keyPath(.variable("source"), let path)
      ) where path.count == 1:
        (path[0], nil)
      default: nil
      }
    default: nil
    }
  }
}

extension StepDraft {
  /// How keys that lead to objects of a source entity move.
  func keyMap(_ sourceEntity: String, via mappingName: String?, to destinationEntity: String, entityPosition: Int?) -> KeyMap {
    func target(_ source: SourceEntity) -> KeyMap.Target? {
      drafts.first {
        $0.source === source && (mappingName == nil || $0.mapping.name == mappingName)
          && layout.model.isKind($0.destination.name, of: destinationEntity)
      }.map { KeyMap.Target(offset: $0.offset, number: $0.destination.number) }
    }
    let byNumber = graph.byNumber.map { entity in
      entity.flatMap { graph.binding.layout.model.isKind($0.name, of: sourceEntity) ? target($0) : nil }
    }
    let single = graph.entities[sourceEntity].flatMap(target)
    return KeyMap(entityPosition: entityPosition, byNumber: byNumber, single: single)
  }
}

extension StepDraft {
  /// What may become of objects of a source entity, mapping by mapping. Without a destination entity any counts.
  func carriedTargets(_ sourceEntity: String, via mappingName: String?, to destinationEntity: String?) -> CarriedTargets {
    let candidates = graph.byNumber.map { entity in
      drafts.filter { draft in
        draft.source === entity && (mappingName == nil || draft.mapping.name == mappingName)
          && destinationEntity.map { layout.model.isKind(draft.destination.name, of: $0) } ?? true
      }.map {
        CarriedTargets.Candidate(
          filter: $0.filter, target: KeyMap.Target(offset: $0.offset, number: $0.destination.number))
      }
    }
    return CarriedTargets(graph: graph, expected: graph.entities[sourceEntity]?.number ?? 0, candidates: candidates)
  }
}
