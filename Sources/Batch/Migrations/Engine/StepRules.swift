import CoreDataModel
import CoreDataStore
import MappingModels
import Streams

/// The rules for the objects of a step with mapping models, and when each of them can be judged.
struct StepRules {
  private let drafts: StepDraft
  private let mode: ValidationMode
  /// Relationships of the destination that something sets from the other side while the step runs.
  private let setFromOutside: Set<PropertyReference>

  /// Prepares the rules of a step, before its mappings are compiled.
  init(_ drafts: StepDraft, _ mode: ValidationMode) {
    (self.drafts, self.mode) = (drafts, mode)
    setFromOutside = Set(
      drafts.drafts.flatMap { Self.computed($0) }.compactMap { Self.inverse($0, drafts.layout.model) }
        + drafts.drafts.flatMap { draft in
          drafts.lateRules(of: draft).map { PropertyReference(entity: draft.destination.name, name: $0) }
        })
  }

  /// By Z_ENT; nil if nothing is demanded. An inferred step asks for the values alone that it makes required: of a
  /// store that is there they were counted before it began, of what a step with mapping models made they were not.
  func byNumber() throws -> [ObjectRules?] {
    guard mode != .none, !drafts.step.isIdentity else { return [] }
    guard drafts.step.isInferred else { return [nil] + (try drafts.layout.entityNames.map(rules)) }
    let found = drafts.layout.entityNames.map(newlyRequired)
    return found.contains { $0 != nil } ? [nil] + found : []
  }

  private func newlyRequired(_ entity: String) -> ObjectRules? {
    let layout = drafts.layout
    // Most entities demand nothing, and their mappings need not be gone through.
    guard
      layout.model.attributes(of: entity).contains(where: {
        $0.type == .composite || Inference.needsValues($0, from: nil)
      })
    else { return nil }
    let columns = drafts.drafts.filter { $0.destination.name == entity }.flatMap { draft in
      draft.mapping.attributeMappings.flatMap { property -> [ObjectRules.Column] in
        let name = property.copiedAttribute ?? property.name
        guard let attribute = layout.model.attribute(property.name, of: entity), attribute.derivationExpression == nil
        else { return [] }
        let old = drafts.step.source.attribute(name, of: draft.source.name)
        if attribute.type == .composite { return elements(of: attribute, entity: entity, .made, notOf: old) }
        guard Inference.needsValues(attribute, from: old),
          let column = layout.column(forAttribute: property.name, ofEntity: entity),
          let position = layout.position(of: column.role)?.column
        else { return [] }
        return [
          ObjectRules.Column(column: position, property: "\(entity).\(property.name)", required: .made, values: nil)
        ]
      }
    }
    return columns.isEmpty ? nil : ObjectRules(columns)
  }

  private func rules(_ entity: String) throws -> ObjectRules? {
    guard drafts.layout.model.entity(entity)?.isAbstract == false else { return nil }
    let columns = try attributes(of: entity) + relationships(of: entity)
    return columns.isEmpty ? nil : ObjectRules(columns)
  }

  private func attributes(of entity: String) throws -> [ObjectRules.Column] {
    let policies = policies(writing: entity)
    let required = policies.contains(where: \.createsRelationships) ? ObjectRules.Moment.end : .made
    let layout = drafts.layout
    let composites = layout.model.attributes(of: entity).flatMap { elements(of: $0, entity: entity, required) }
    return try composites
      + layout.model.attributes(of: entity).compactMap { attribute in
        guard !attribute.isTransient, attribute.derivationExpression == nil,
          let column = layout.column(forAttribute: attribute.name, ofEntity: entity),
          let position = layout.position(of: column.role)?.column
        else { return nil }
        let values = mode == .all ? try ValueRule(attribute, of: entity) : nil
        guard !attribute.isOptional || values != nil else { return nil }
        return ObjectRules.Column(
          column: position, property: "\(entity).\(attribute.name)", required: attribute.isOptional ? nil : required,
          values: values
        )
      }
  }

  /// The elements that a composite attribute must have, without those that the one it comes from must have, too. Of an
  /// enumeration without raw values it is any of them.
  private func elements(
    of attribute: AttributeDescription, entity: String, _ required: ObjectRules.Moment,
    notOf old: AttributeDescription? = nil
  ) -> [ObjectRules.Column] {
    let layout = drafts.layout
    func column(_ path: String) -> Int? {
      layout.column(forAttribute: path, ofEntity: entity).flatMap { layout.position(of: $0.role)?.column }
    }
    if attribute.needsAnyElement, required == .made {
      guard !attribute.takesAnyElement(of: old) else { return [] }
      let cases = attribute.leaves.compactMap { column($0.path) }
      return cases.prefix(1).map {
        ObjectRules.Column(
          column: $0, property: "\(entity).\(attribute.name)", required: .made, values: nil,
          others: Array(cases.dropFirst()))
      }
    }
    let known = Set(old?.neededElements ?? [])
    return attribute.neededElements.compactMap { path in
      if let old, let from = attribute.origin(of: path, in: old), known.contains(from) { return nil }
      let name = attribute.leaves.count > 1 ? path : attribute.name
      return column(path).map {
        ObjectRules.Column(column: $0, property: "\(entity).\(name)", required: required, values: nil)
      }
    }
  }

  private func relationships(of entity: String) -> [ObjectRules.Column] {
    let isOpen = !policies(writing: entity).isEmpty
    let layout = drafts.layout
    return layout.model.relationships(of: entity).compactMap { relationship in
      guard !relationship.isOptional, !relationship.isTransient, !relationship.isToMany, !leadsToSkipped(relationship),
        let column = layout.column(forToOne: relationship.name, ofEntity: entity),
        let position = layout.position(of: column.role)?.column
      else { return nil }
      let isLate =
        isOpen
        || setFromOutside.contains { other in
          other.name == relationship.name
            && (layout.model.isKind(entity, of: other.entity) || layout.model.isKind(other.entity, of: entity))
        }
      return ObjectRules.Column(
        column: position, property: "\(entity).\(relationship.name)", required: isLate ? .end : .made, values: nil)
    }
  }

  /// Whether another run makes the objects at the other end. Their keys are NULL in this one.
  private func leadsToSkipped(_ relationship: RelationshipDescription) -> Bool {
    drafts.drafts.contains { draft in
      draft.mapping.isSkipped && drafts.layout.model.isKind(draft.destination.name, of: relationship.destinationEntity)
    }
  }

  /// Policies in code that may write objects of an entity.
  private func policies(writing entity: String) -> [any EntityMigrationPolicy] {
    let model = drafts.layout.model
    return drafts.drafts.compactMap { draft in
      guard let policy = draft.policy, !(policy is RulePolicy) else { return nil }
      guard let declared = policy.declaredWrites(for: draft.mapping) else { return policy }
      return declared.contains { model.isKind(entity, of: $0) || model.isKind($0, of: entity) } ? policy : nil
    }
  }

  /// Relationships that expressions and rules of a mapping set.
  private static func computed(_ draft: MappingDraft) -> [PropertyReference] {
    let own = draft.destination.name
    var found = draft.mapping.relationshipMappings.filter { $0.valueExpression?.isEvaluatedRelationship == true }.map {
      PropertyReference(entity: own, name: $0.name)
    }
    guard let rules = draft.mapping.rules else { return found }
    found += rules.relationships.map { PropertyReference(entity: own, name: $0.name) }
    for rule in rules.objects {
      found += [rule.link].compactMap { $0 }.map { PropertyReference(entity: own, name: $0) }
      found += rule.relationships.map { PropertyReference(entity: rule.entity, name: $0.name) }
    }
    return found
  }

  private static func inverse(_ reference: PropertyReference, _ model: ManagedObjectModel) -> PropertyReference? {
    guard let relationship = model.relationship(reference.name, of: reference.entity),
      let inverse = relationship.inverseName
    else {
      return nil
    }
    return PropertyReference(entity: relationship.destinationEntity, name: inverse)
  }
}
