import CoreDataModel
import MappingModels
import RunSupport

/// What a migration would refuse of a mapped step for its models and mappings alone: the step is compiled as a run
/// compiles it, for a store without objects.
struct MappingTrial {
  private let step: MigrationStep
  /// The step as its files have it.
  private let given: MigrationStep
  private let policies: PolicyRegistry

  /// Takes the place of policies that another program has.
  private struct AnyPolicy: EntityMigrationPolicy {}

  init(step: MigrationStep, policies: PolicyRegistry) {
    given = step
    self.step = Self.changed(step) { mapping in
      let isUnknown = mapping.policyClassName != nil && (try? policies.version(for: mapping)) == nil
      if isUnknown { mapping.policyClassName = AnyPolicy.className }
      mapping.rules?.decide()
    }
    self.policies = policies.adding(AnyPolicy.self)
  }

  /// A sentence each.
  func problems() -> [String] {
    let missing = given.mappingModels.flatMap { model in
      model.entityMappings.flatMap {
        RequiredValues(mapping: $0, step: given).missing.map { text in "\(model.name): \(text)" }
      }
    }
    guard let whole = failure(of: step) else { return missing }
    // A run ends with the first; who mends a file wants to know all of them.
    let single = parts.compactMap(failure).uniqued
    return (single.isEmpty ? [whole] : single) + missing
  }

  private func failure(of step: MigrationStep) -> String? {
    do {
      _ = try [step.source, step.destination].map { try $0.validate() }
      let ordered = try MappingOrder(step: step, policies: policies).ordered()
      _ = try MappingSplit(ordered, policies: policies)
      let files = StepFiles(prefix: "mapping", fileSystem: MemoryDisk(limit: 1 << 20), budget: .standard)
      _ = try StepPlan(
        step: ordered, reader: EmptyStore.reader(of: step.source), policies: policies, files: files, now: 0)
      return nil
    } catch {
      return "\(step.mappingModels.map(\.name).joined(separator: " and ")): \(error)"
    }
  }

  /// The step with one attribute at a time, then with its relationships.
  private var parts: [MigrationStep] {
    var parts: [MigrationStep] = []
    for model in step.mappingModels.indices {
      for (index, mapping) in step.mappingModels[model].entityMappings.enumerated() {
        parts += Self.pieces(of: mapping).map { piece in
          var part = Self.changed(step, Self.bare)
          part.mappingModels[model].entityMappings[index] = piece
          return part
        }
      }
    }
    return parts + [Self.changed(step, Self.withoutAttributes)]
  }

  private static func changed(_ step: MigrationStep, _ change: (inout EntityMapping) -> Void) -> MigrationStep {
    var changed = step
    for model in changed.mappingModels.indices {
      for index in changed.mappingModels[model].entityMappings.indices {
        change(&changed.mappingModels[model].entityMappings[index])
      }
    }
    return changed
  }

  private static func withoutAttributes(_ mapping: inout EntityMapping) {
    mapping.attributeMappings = []
    mapping.rules?.attributes = []
  }

  private static func bare(_ mapping: inout EntityMapping) {
    withoutAttributes(&mapping)
    mapping.relationshipMappings = []
    if mapping.rules != nil { mapping.rules = MappingRules() }
  }

  /// The mapping with each of its attributes alone, and with each attribute and object of its rules.
  private static func pieces(of mapping: EntityMapping) -> [EntityMapping] {
    func piece(_ change: (inout EntityMapping) -> Void) -> EntityMapping {
      var piece = mapping
      bare(&piece)
      change(&piece)
      return piece
    }
    let attributes = mapping.attributeMappings.indices.map { index in
      piece { piece in
        // Expressions may ask what the attributes before have.
        let before = mapping.attributeMappings[..<index].map {
          PropertyMapping(name: $0.name, valueExpression: .constant(.null))
        }
        piece.attributeMappings = before + [mapping.attributeMappings[index]]
      }
    }
    guard let rules = mapping.rules else { return attributes }
    return attributes + rules.attributes.map { rule in piece { $0.rules?.attributes = [rule] } }
      + rules.objects.enumerated().map { place, rule in
        // Rules may mean the objects of those before.
        piece { $0.rules?.objects = rules.objects[..<place].filter { $0.givenName != nil } + [rule] }
      }
  }
}

extension MappingRules {
  /// Puts NULL where a value is still to be decided, and leaves out such relationships.
  fileprivate mutating func decide() {
    func decided(_ attribute: RuleAttribute) -> RuleAttribute {
      guard attribute.value.undecided != nil else { return attribute }
      return RuleAttribute(name: attribute.name, value: .expression(.constant(.null)))
    }
    attributes = attributes.map(decided)
    relationships.removeAll { $0.target.undecided != nil }
    for index in objects.indices {
      objects[index].attributes = objects[index].attributes.map(decided)
      objects[index].relationships.removeAll { $0.target.undecided != nil }
    }
  }
}

/// Attributes that must have a value, and that nothing in an entity mapping gives one.
private struct RequiredValues {
  let mapping: EntityMapping
  let step: MigrationStep

  /// A sentence each.
  var missing: [String] {
    guard let from = mapping.sourceEntity, let to = mapping.destinationEntity, mapping.policyClassName == nil else {
      return []
    }
    let old = Set(step.source.attributes(of: from).filter { !$0.isTransient }.map(\.name))
    let mapped = Dictionary(mapping.attributeMappings.map { ($0.name, $0) }) { first, _ in first }
    let own = missing(in: to, setting: mapping.rules?.attributes ?? []) { name in
      guard let property = mapped[name] else { return false }
      return property.valueExpression.map { $0 != .constant(.null) } ?? old.contains(name)
    }
    let others = mapping.rules?.objects.filter { $0.kind != .find } ?? []
    return own
      + others.flatMap { missing(in: $0.entity, setting: $0.attributes + [$0.key].compactMap { $0 }) { _ in false } }
  }

  private func missing(in entity: String, setting rules: [RuleAttribute], _ hasSource: (String) -> Bool) -> [String] {
    let set = Set(rules.filter { $0.value != .expression(.constant(.null)) }.map(\.name))
    return step.destination.attributes(of: entity).filter { attribute in
      let elements = attribute.needsAnyElement ? attribute.leaves.map(\.path) : attribute.neededElements
      let needs = attribute.type == .composite ? !elements.isEmpty : Inference.needsValues(attribute, from: nil)
      return !attribute.isOptional && needs && attribute.derivationExpression == nil
        && !([attribute.name] + elements).contains { set.contains($0) || hasSource($0) }
    }.map {
      "\(mapping.name): \(entity).\($0.name) is required in \(step.destination.name), and nothing gives it a value"
    }
  }
}
