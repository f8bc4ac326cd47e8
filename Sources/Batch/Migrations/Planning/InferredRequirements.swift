import CoreDataModel
import CoreDataStore
import MappingModels
import RunSupport
import Streams

/// An inferred step may make an attribute required only while no row lacks a value (E.2, rule 4): counted before
/// anything is written, for all steps up to the first that is not inferred, each table read once.
struct InferredRequirements {
  /// An attribute that has to have values, or a to-one relationship that has to lead to an object.
  private struct Requirement {
    /// The entity and the attributes whose values it gets, in the store, one of which is enough; none where it gets
    /// none.
    var origin: String
    var attributes: [String]
    var entity: String
    var name: String
    var version: String
    /// The versions of the step that requires it.
    var step: (source: ManagedObjectModel, destination: ManagedObjectModel)
    /// Whether its default value fills in what is missing.
    var isFilled = false
    /// Whether it is a relationship. Nothing is refused for that: an object may get it later.
    var isToOne = false
    /// Where sources write a default that they compute; nil for others.
    var place: String?
    /// What gives it one.
    var remedy = "give the attribute a value in a mapping file (--mappings)"

    func note(_ count: UInt64) -> String {
      let subject = "\(entity).\(name) is required in \(version)"
      guard isFilled else {
        return "\(subject), and \(count.counted("object has", "objects have")) none. "
          + "Core Data refuses to save such objects until they have one"
      }
      return "\(subject): \(count) "
        + "\(count == 1 ? "object without a value gets the" : "objects without a value get the") default"
    }

    func refusal(_ count: UInt64, path: String, begin: AdvisedCommand?) -> BatchError {
      let objects = count.counted("object")
      guard let place else {
        return BatchError(
          .refused, "the required attribute \(name) of \(version) would have no value in \(objects)",
          hint: "Give it a default value, or give it values in a mapping file (--mappings)"
            + (begin.map { "; to begin one: \($0)" } ?? ""),
          effect: .nothingWritten, next: begin.map { [$0.line] } ?? [], path: path, entity: entity)
      }
      return BatchError(
        .refused,
        "the attribute \(name) of \(version) would have no value in \(objects): its default is no literal (\(place))",
        hint: "Write a literal, or \(remedy)",
        effect: .nothingWritten, path: path, entity: entity)
    }
  }

  private var requirements: [Requirement] = []

  /// Prepares a path from the store's version.
  init(_ path: [MigrationStep], composed: ComposedPath) {
    for (index, step) in path.enumerated() where !step.isIdentity {
      guard step.isInferred, let model = step.mappingModels.first, let composition = composed.after(index) else {
        return
      }
      let kept = KeptEntities(from: step.source, to: step.destination)
      for mapping in model.entityMappings { add(mapping, step: step, composition: composition, kept: kept) }
    }
  }

  private mutating func add(
    _ mapping: EntityMapping, step: MigrationStep, composition: MappingComposition, kept: KeptEntities
  ) {
    guard let source = mapping.sourceEntity, let destination = mapping.destinationEntity,
      let origin = composition.origins[source]
    else { return }
    let keepsAttributes = kept.keepsAttributes(mapping)
    var copied = CopiedAttributes(mapping, of: keepsAttributes ? [] : step.source.attributes(of: source))
    for property in keepsAttributes ? [] : mapping.attributeMappings {
      guard let target = step.destination.attribute(property.name, of: destination), !copied.keep(target),
        target.derivationExpression == nil || property.valueExpression == nil
      else { continue }
      let (name, isFilled) = (property.copiedAttribute ?? property.name, property.valueForNull != nil)
      if case .constant(let value) = property.valueExpression, value != .null { continue }
      // What only a version between requires.
      if isFilled, target.isOptional { continue }
      let old = step.source.attribute(name, of: source)
      let place = old == nil ? target.unreadDefault : nil
      var requirement = Requirement(
        origin: origin.entity, attributes: [], entity: destination, name: property.name, version: step.destination.name,
        step: (step.source, step.destination), isFilled: isFilled)
      requirement.place = place
      guard target.type != .composite || place != nil else {
        addElements(of: target, from: old, requirement, origin: origin)
        continue
      }
      guard isFilled || Inference.needsValues(target, from: old) else { continue }
      if target.type == .composite { requirement.remedy = "give its elements values in a mapping file (--mappings)" }
      add(requirement, of: [old.flatMap { origin.attributes[$0.name] }])
    }
    for property in kept.keepsRelationships(mapping) ? [] : mapping.relationshipMappings {
      addToOne(property, from: source, to: destination, step: step, origin: origin)
    }
  }

  /// A to-one relationship that was optional and is required.
  private mutating func addToOne(
    _ property: PropertyMapping, from source: String, to destination: String, step: MigrationStep,
    origin: MappingComposition.Origin
  ) {
    let name = property.valueExpression?.carriedRelationship?.path ?? property.name
    guard let new = step.destination.relationship(property.name, of: destination), !new.isOptional, !new.isToMany,
      let old = step.source.relationship(name, of: source), old.isOptional, !old.isToMany,
      let first = origin.relationship(name)
    else { return }
    requirements.append(
      Requirement(
        origin: origin.entity, attributes: [first], entity: destination, name: property.name,
        version: step.destination.name, step: (step.source, step.destination), isToOne: true))
  }

  /// Adds what has a value where one of these has.
  private mutating func add(_ requirement: Requirement, of values: [MappingComposition.AttributeOrigin?]) {
    var requirement = requirement
    for value in values {
      switch value {
      case .constant(let value) where value != .null: return
      case .source(_, _, .some): return
      case .source(let attribute, _, nil): requirement.attributes.append(attribute)
      // What an attribute without a source in the store gets is no row's matter.
      default: if requirement.isFilled { return }
      }
    }
    requirements.append(requirement)
  }

  /// A composite has a value where those of its elements have that need one.
  private mutating func addElements(
    of target: AttributeDescription, from old: AttributeDescription?, _ whole: Requirement,
    origin: MappingComposition.Origin
  ) {
    func value(of path: String?) -> MappingComposition.AttributeOrigin? { path.flatMap { origin.attributes[$0] } }
    func from(_ path: String) -> String? { old.flatMap { target.origin(of: path, in: $0) } }
    if target.needsAnyElement, !target.takesAnyElement(of: old) {
      add(whole, of: target.leaves.map { value(of: from($0.path)) })
    }
    let known = Set(old?.neededElements ?? [])
    for path in target.neededElements {
      let from = from(path)
      if let from, known.contains(from) { continue }
      var requirement = whole
      if target.leaves.count > 1 { requirement.name = path }
      add(requirement, of: [value(of: from)])
    }
  }

  /// Relationships that an inferred step adds and that must have an object: nothing gives them one. A sentence for each
  /// step.
  static func newRelationships(_ steps: [MigrationStep]) -> [String] {
    steps.filter(\.isInferred).compactMap { step in
      let kept = KeptEntities(from: step.source, to: step.destination)
      let names = step.mappingModels.flatMap(\.entityMappings).flatMap { mapping -> [String] in
        guard let source = mapping.sourceEntity, let entity = mapping.destinationEntity,
          !kept.keepsRelationships(mapping)
        else {
          return []
        }
        return step.destination.relationships(of: entity).filter { relationship in
          guard !relationship.isOptional, !relationship.isTransient, !relationship.isToMany else { return false }
          let carried = mapping.relationshipMappings.first { $0.name == relationship.name }
          return carried?.valueExpression == .constant(.null)
            || carried?.valueExpression == nil && step.source.relationship(relationship.name, of: source) == nil
        }.map { "\(entity).\($0.name)" }
      }
      guard !names.isEmpty else { return nil }
      return "\(step.source.name) to \(step.destination.name) adds required relationships that no object has: "
        + names.joined(separator: ", ") + ". Core Data refuses to save such objects until they have one"
    }
  }

  /// Throws `refused`, naming the first attribute that would lack values and the number of objects. Returns notes about
  /// those that get their default value.
  func check(_ reader: StoreReader, _ binding: StoreBinding, in library: ModelLibrary) throws -> [String] {
    let entities = try requirements.map { try SourceEntity(name: $0.origin, binding: binding) }
    let sought = zip(requirements, entities).map { requirement, entity in
      let positions = requirement.attributes.compactMap { name in
        requirement.isToOne ? entity.relationships[name]?.keyPosition : entity.attributes[name]?.position
      }
      return ValueCount.Sought(entity: entity, positions: positions)
    }
    let missing = try ValueCount(sought, reader: reader, binding: binding).missing
    for (requirement, count) in zip(requirements, missing)
    where count > 0 && !requirement.isFilled && !requirement.isToOne {
      let begin = library.beginning(requirement.step.source, requirement.step.destination)
      throw requirement.refusal(UInt64(count), path: reader.path, begin: begin)
    }
    return zip(requirements, missing).filter { ($0.isFilled || $0.isToOne) && $1 > 0 }.map { $0.note($1) }
  }
}
