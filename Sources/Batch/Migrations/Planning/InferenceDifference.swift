import CoreDataModel
import MappingModels

/// An entity or property that inference gives other values directly than step by step.
public struct InferenceDifference: Sendable, Hashable, Codable {
  /// The version before the steps.
  public var source: String
  /// The version after them.
  public var destination: String
  /// What differs, in the version after them: `Book`, or `Book.pages`.
  public var name: String
  /// Which way is taken for it.
  public var taken: InferencePath
  /// What it gets directly.
  public var direct: String
  /// What it gets version by version.
  public var stepwise: String
  /// What the other way takes from the version before, and the one that is taken does not keep.
  public var lost: String?

  /// As a note says it.
  public var text: String {
    let (own, other) = taken == .direct ? (direct, stepwise) : (stepwise, direct)
    let ways = taken == .direct ? ("directly", "step by step") : ("step by step", "directly")
    let loss = lost == nil ? "" : ", which is lost"
    return "\(source) to \(destination): \(name) is inferred \(ways.0), \(own) (\(ways.1): \(other)\(loss))"
  }
}

extension InferenceDifference {
  /// What two ways give otherwise, as pairs of an entity and a path in it; of an entity with other objects that alone.
  /// Sorted.
  static func names(
    _ one: InferenceChoice.Entities, _ other: InferenceChoice.Entities, in model: ManagedObjectModel
  ) -> [(entity: String, path: String?)] {
    Set(one.keys).union(other.keys).sorted().flatMap { name -> [(entity: String, path: String?)] in
      guard let mine = one[name], let its = other[name], mine.source == its.source else { return [(name, nil)] }
      guard mine != its else { return [] }
      let attributes = mine.attributes.keys.filter {
        mine.attributes[$0] != its.attributes[$0] && !model.isDerived($0, of: name)
      }
      let relationships = Set(mine.relationships.keys).union(its.relationships.keys).filter {
        mine.relationships[$0] != its.relationships[$0]
      }
      return (attributes + relationships).sorted().map { (name, $0) }
    }
  }

  /// Where the ways of a choice differ, and what becomes of it where some entities are taken.
  static func all(
    _ choice: InferenceChoice, taken: InferenceChoice.Entities, otherwise way: InferencePath
  ) -> [InferenceDifference] {
    let (direct, stepwise) = (choice.entities(.direct), choice.entities(.stepwise))
    let ranks = choice.ranks(taken)
    let lost = InferencePath.all.reduce(into: Set<String>()) {
      $0.formUnion(InferredRanks.lost(ranks, choice.ranks(choice.entities($1))))
    }
    var seen: Set<InferenceDifference> = []
    return names(direct, stepwise, in: choice.last).compactMap { name, path in
      let origins = [direct, stepwise, taken].map { Origin(name, path: path, entity: $0[name]) }
      let own = origins[2] == origins[1] ? .stepwise : origins[2].isAlike(origins[0]) ? .direct : way
      let source = origins[own == .direct ? 1 : 0].source
      let texts = (own == .direct ? [2, 1] : [0, 2]).map { origins[$0].text }
      let found = InferenceDifference(
        source: choice.first.name, destination: choice.last.name,
        name: path.map { choice.last.declared($0, of: name) } ?? name,
        taken: own, direct: texts[0], stepwise: texts[1], lost: source.flatMap { lost.contains($0) ? $0 : nil })
      return seen.insert(found).inserted ? found : nil
    }
  }

  /// Where an entity or a property of it comes from.
  private enum Origin: Equatable {
    case entity(String?)
    case attribute(MappingComposition.AttributeOrigin, String)
    case relationship(String?)

    init(_ name: String, path: String?, entity: InferredTrail.Entity?) {
      if let path, let entity {
        self =
          entity.attributes[path].map { .attribute($0, entity.source) }
          ?? .relationship(entity.relationships[path].map { "\(entity.source).\($0)" })
      } else {
        self = .entity(entity?.source)
      }
    }

    /// Whether it is the same, except for what objects without a value get.
    func isAlike(_ other: Origin) -> Bool {
      guard case .attribute(.source(let name, let types, _), let entity) = self else { return self == other }
      guard case .attribute(.source(name, types, _), entity) = other else { return false }
      return true
    }

    /// What it takes from the version before.
    var source: String? {
      switch self {
      case .entity(let name), .relationship(let name): name
      case .attribute(.source(let path, _, _), let entity): "\(entity).\(path)"
      case .attribute: nil
      }
    }

    var text: String {
      switch self {
      case .entity(nil): return "without objects"
      case .relationship(nil): return "without links"
      case .attribute(.constant(.null), _): return "without a value"
      case .attribute(.constant, _): return "with a default value"
      case .attribute(.computed, _): return "with a computed value"
      case .attribute(.source(_, let types, let null), _):
        let passed = types.dropFirst().dropLast().map { "\($0)" }
        return "from \(source ?? "")" + (passed.isEmpty ? "" : " as \(passed.joined(separator: " and ")) on the way")
          + (null == nil ? "" : ", with a default for what has no value")
      case .entity, .relationship: return "from \(source ?? "")"
      }
    }
  }
}
