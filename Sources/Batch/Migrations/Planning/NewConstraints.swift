import CoreDataModel
import CoreDataStore
import MappingModels
import RunSupport
import Streams

/// Uniqueness constraints that the steps of a path add, as far as their values can be followed back to the store: an
/// index over them can only be built where no two objects have the same values.
struct NewConstraints {
  /// The objects of an entity of the store, and where their values under the constraint come from.
  struct Share {
    var entity: String
    var values: [MappingComposition.AttributeOrigin]
  }

  /// A constraint of a version, and whose objects it is about.
  struct Constraint {
    var entity: String
    var properties: [String]
    var version: String
    var shares: [Share]

    /// Properties that have one value in all objects.
    var newProperties: [(name: String, isUUID: Bool)] {
      properties.indices.compactMap { index in
        for share in shares {
          if case .constant(let value) = share.values[index] {
            if case .blob(let bytes) = value { return (properties[index], bytes.count == 16) }
            return (properties[index], false)
          }
        }
        return nil
      }
    }
  }

  private(set) var constraints: [Constraint] = []

  /// Prepares a path. Constraints count of `written` versions alone, by name.
  init(_ path: [MigrationStep], composed: ComposedPath, written: Set<String>) {
    func adds(_ step: MigrationStep) -> Bool {
      written.contains(step.destination.name)
        && step.destination.entities.contains { !$0.uniquenessConstraints.isEmpty }
    }
    guard let last = path.lastIndex(where: adds) else { return }
    // Keys stay as they are as long as nothing but inference moves them.
    let copied = path.firstIndex { !$0.isInferred } ?? path.count
    for (index, step) in path[...last].enumerated() {
      let whole = composed.after(index + 1)
      guard let composition = whole ?? Self.copying(step, after: composed.after(index)) else { return }
      let computed = whole == nil ? step.computedNames : []
      guard adds(step) else { continue }
      for entity in step.destination.entities {
        for properties in entity.uniquenessConstraints where computed.isDisjoint(with: properties) {
          guard
            let shares = Self.shares(
              entity.name, properties: properties, composition: composition,
              keepsKeys: index < copied && Self.keepsAll(path[0].source, composition))
          else { continue }
          constraints.append(
            Constraint(entity: entity.name, properties: properties, version: step.destination.name, shares: shares))
        }
      }
    }
  }

  /// A step whose rules are for attributes alone, without these rules: all other attributes are copied. Nil for any other
  /// step.
  private static func copying(_ step: MigrationStep, after composition: MappingComposition?) -> MappingComposition? {
    var mappings = step.mappingModels.flatMap(\.entityMappings)
    guard var composition, mappings.allSatisfy({ $0.rules?.objects.isEmpty ?? true }) else { return nil }
    for index in mappings.indices {
      guard mappings[index].rules != nil else { continue }
      (mappings[index].rules, mappings[index].policyClassName) = (nil, nil)
    }
    guard (try? composition.append(mappings, to: VersionLayout(step.destination))) != nil else { return nil }
    return composition
  }

  /// The entity that declares a property of another one: itself or the nearest of its parents.
  private static func declarer(of property: String, _ entity: String, in model: ManagedObjectModel) -> String {
    let kinds = [model.entity(entity)].compactMap { $0 } + model.ancestors(of: entity)
    let found = kinds.first { kind in
      kind.attributes.contains { $0.name == property } || kind.relationships.contains { $0.name == property }
    }
    return found?.name ?? entity
  }

  /// Of all entities whose objects have values in the columns of the index: those of a sister of the entity, too, where a
  /// common parent declares the properties. Nil if a property is computed, or a relationship whose keys may move.
  private static func shares(
    _ entity: String, properties: [String], composition: MappingComposition, keepsKeys: Bool
  ) -> [Share]? {
    var shares: [Share] = []
    let model = composition.latest.model
    let declarers = properties.map { declarer(of: $0, entity, in: model) }
    for name in model.entities.map(\.name) where declarers.allSatisfy({ model.isKind(name, of: $0) }) {
      guard let origin = composition.origins[name] else { continue }
      let values = properties.compactMap { property in
        origin.attributes[property]
          ?? (keepsKeys ? Self.key(of: property, model.relationship(property, of: name), origin) : nil)
      }
      let isComputed = values.contains { if case .computed = $0 { true } else { false } }
      guard values.count == properties.count, !isComputed else { return nil }
      // NULL differs from NULL.
      if values.contains(where: { if case .constant(.null) = $0 { true } else { false } }) { continue }
      shares.append(Share(entity: origin.entity, values: values))
    }
    return shares
  }

  /// Whether no object goes, and with it keys that lead to it.
  private static func keepsAll(_ model: ManagedObjectModel, _ composition: MappingComposition) -> Bool {
    let kept = Set(composition.origins.values.map(\.entity))
    return model.entities.allSatisfy { $0.isAbstract || kept.contains($0.name) }
  }

  /// Where the key of a to-one relationship comes from; nil for another property.
  private static func key(
    of name: String, _ relationship: RelationshipDescription?, _ origin: MappingComposition.Origin
  ) -> MappingComposition.AttributeOrigin? {
    guard let relationship, !relationship.isToMany, !relationship.isTransient else { return nil }
    return origin.relationship(name).map { .source($0, types: [.integer64]) } ?? .constant(.null)
  }

  /// Throws `refused` for the first constraint that objects of the store break, with their number and some of their
  /// keys. Reads the tables concerned, in 16 MiB; what does not fit is sorted in a temporary file.
  func check(_ reader: StoreReader, _ binding: StoreBinding) throws {
    var seen: Set<[String]> = []
    for constraint in constraints {
      guard let check = try ConstraintCheck(constraint, reader: reader, binding: binding),
        !check.isKept(by: reader.schema.indexes),
        seen.insert(check.identity).inserted
      else { continue }
      let equal: ConstraintCheck.Equal
      do { equal = try check.run() } catch let error as StreamsError
        where error.code == .diskFull || error.code == .inputOutput
      {
        throw BatchError(
          .refused,
          "the objects under a uniqueness constraint cannot be sorted in the temporary directory: \(error.message)",
          hint: "Set TMPDIR to a folder on a larger disk", effect: .nothingWritten, path: reader.path,
          entity: constraint.entity)
      }
      guard equal.count > 0 else { continue }
      throw failure(constraint, check: check, equal: equal, reader: reader)
    }
  }

  private func failure(
    _ constraint: Constraint, check: ConstraintCheck, equal: ConstraintCheck.Equal, reader: StoreReader
  ) -> BatchError {
    let pairs = equal.pairs.map { "\($0.later) as \($0.earlier)" }.joined(separator: ", ")
    let more = equal.count > UInt64(equal.pairs.count) ? ", …" : ""
    let verb = equal.count.counted("object has", "objects have")
    let list = check.query.map { ". `\(ShellWords.line(["sqlite3", reader.path, $0]))` lists all of them" } ?? ""
    let own = constraint.newProperties.first.map {
      "All objects get one value of \($0.name), which is new: give each its own in a mapping file (--mappings)"
        + ($0.isUUID ? ", as \($0.name): { uuid: per-row }" : ", or change what is equal beside it")
    }
    return BatchError(
      .refused,
      "\(verb) the same \(constraint.properties.joined(separator: ", ")) as another one (\(pairs)\(more)), "
        + "which a uniqueness constraint of \(constraint.version) forbids",
      hint: (own ?? "Change or remove them in the application, or leave them out with a mapping model") + list,
      effect: .nothingWritten,
      path: reader.path, entity: constraint.entity)
  }
}

extension MigrationStep {
  /// Attributes that rules set, of whatever entity.
  fileprivate var computedNames: Set<String> {
    Set(mappingModels.flatMap(\.entityMappings).flatMap { $0.rules?.attributes.map(\.name) ?? [] })
  }
}
