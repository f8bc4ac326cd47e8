import CoreDataModel
import CoreDataStore
import MappingModels
import RunSupport
import Streams

/// The source relationship that a relationship mapping carries over.
struct RelationshipOrigin {
  var name: String
  var relationship: StoredRelationship
  /// The entity mapping whose objects are meant; nil for any that fits.
  var mappingName: String?

  /// The entity whose objects the relationship's links may belong to: the topmost that has it.
  func declaringEntity(_ draft: MappingDraft, _ drafts: StepDraft) throws -> String {
    let model = drafts.graph.binding.layout.model
    return model.ancestors(of: draft.source.name).last {
      drafts.graph.entities[$0.name]?.relationships[name] != nil
    }?.name ?? draft.source.name
  }

  /// Nil when nothing is carried over: no expression, and the source has no relationship of that name (D.2); and where
  /// an expression has to be evaluated.
  init?(_ property: PropertyMapping, draft: MappingDraft, drafts: StepDraft) throws {
    guard let expression = property.valueExpression else {
      guard let same = draft.source.relationships[property.name] else { return nil }
      (name, relationship) = (property.name, same)
      return
    }
    if expression == .constant(.null) { return nil }
    guard let (path, mapping) = expression.carriedRelationship else { return nil }
    if let mapping, drafts.ambiguousNames.contains(mapping) {
      throw BatchError(
        .badMapping,
        "\(draft.mapping.name).\(property.name) names the entity mapping \(mapping), of which the step has several",
        hint: "Give each a name of its own", entity: draft.mapping.destinationEntity)
    }
    guard let found = draft.source.relationships[path] else {
      throw BatchError(
        .badMapping, "\(draft.mapping.name).\(property.name) reads \(path), which the source does not have",
        entity: draft.source.name)
    }
    if let mapping { try Self.check(mapping, of: draft, property, leadingTo: found.destination, in: drafts) }
    (name, relationship, mappingName) = (path, found, mapping)
  }

  /// Throws `badMapping` for an entity mapping that makes none of the objects which the relationship leads to.
  private static func check(
    _ mapping: String, of draft: MappingDraft, _ property: PropertyMapping, leadingTo entity: String,
    in drafts: StepDraft
  ) throws {
    let (model, new) = (drafts.graph.binding.layout.model, draft.destination.relationships[property.name]?.destination)
    let fitting = drafts.drafts.filter { other in
      model.isKind(other.source.name, of: entity)
        && new.map { drafts.layout.model.isKind(other.destination.name, of: $0) } ?? true
    }
    guard !fitting.contains(where: { $0.mapping.name == mapping }) else { return }
    let isThere = drafts.mappingEntities[mapping] != nil
    let names = fitting.map(\.mapping.name).uniqued
    throw BatchError(
      .badMapping,
      "\(draft.mapping.name).\(property.name) names the entity mapping \(mapping), "
        + (isThere ? "which makes no such objects of \(entity)" : "which the step does not have"),
      hint: names.isEmpty ? nil : "Name the one for \(entity): \(names.joined(separator: ", "))",
      entity: draft.mapping.destinationEntity)
  }
}

extension StepDraft {
  /// The mapping whose objects stand for those of a source entity where a relationship leads to them: the first that
  /// fits.
  func target(of source: SourceEntity, via mappingName: String?, to destinationEntity: String) -> MappingDraft? {
    draftsBySource[source.number].first {
      (mappingName == nil || $0.mapping.name == mappingName)
        && layout.model.isKind($0.destination.name, of: destinationEntity)
    }
  }

  /// How keys that lead to objects of a source entity move.
  func keyMap(_ sourceEntity: String, via mappingName: String?, to destinationEntity: String, entityPosition: Int?)
    -> KeyMap
  {
    func target(_ source: SourceEntity) -> KeyMap.Target? {
      self.target(of: source, via: mappingName, to: destinationEntity).map {
        KeyMap.Target(offset: $0.offset, number: $0.destination.number)
      }
    }
    let byNumber = graph.byNumber.map { entity in
      entity.flatMap { graph.binding.layout.model.isKind($0.name, of: sourceEntity) ? target($0) : nil }
    }
    let single = graph.entities[sourceEntity].flatMap(target)
    var map = KeyMap(entityPosition: entityPosition, byNumber: byNumber, single: single)
    if entityPosition != nil {
      map.gone = Set(graph.concrete(sourceEntity).map(\.number).filter { byNumber[$0] == nil })
    }
    return map
  }
}

extension StepDraft {
  /// What may become of objects of a source entity, mapping by mapping. Without a destination entity any counts.
  func carriedTargets(_ sourceEntity: String, via mappingName: String?, to destinationEntity: String?) -> CarriedTargets
  {
    let candidates = draftsBySource.map { own in
      own.filter { draft in
        (mappingName == nil || draft.mapping.name == mappingName)
          && destinationEntity.map { layout.model.isKind(draft.destination.name, of: $0) } ?? true
      }.map {
        CarriedTargets.Candidate(
          filter: $0.filter, target: KeyMap.Target(offset: $0.offset, number: $0.destination.number))
      }
    }
    return CarriedTargets(graph: graph, expected: graph.entities[sourceEntity]?.number ?? 0, candidates: candidates)
  }
}
