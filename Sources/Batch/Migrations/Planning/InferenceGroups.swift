import CoreDataModel
import MappingModels

/// How consecutive inferred steps are made.
public enum InferencePath: String, Sendable, Codable {
  /// By inference from the first version to the last, as Core Data infers.
  case direct
  /// Version by version.
  case stepwise

  static let all: [InferencePath] = [.stepwise, .direct]
}

/// Entities or properties of two versions that one way of inference or the other ties together. In each group the way
/// is taken that keeps what the other keeps, and more; where each keeps something that the other does not, and where
/// they are equal, step by step.
struct InferenceGroups {
  struct Place: Hashable {
    let isSource: Bool
    let name: String

    static func source(_ name: String) -> Place { Place(isSource: true, name: name) }
    static func destination(_ name: String) -> Place { Place(isSource: false, name: name) }
  }

  private struct Kept {
    let place: Place
    let source: String
    let way: InferencePath
    let narrowings: Int
  }

  private var parents: [Place: Place] = [:]
  private var kept: [Kept] = []

  mutating func tie(_ first: Place, _ second: Place) {
    let (from, to) = (root(of: first), root(of: second))
    if from != to { parents[from] = to }
  }

  /// A way keeps what a source holds, up to so many types that do not hold all of it.
  mutating func keep(_ source: String, at place: Place, _ way: InferencePath, narrowings: Int = 0) {
    kept.append(Kept(place: place, source: source, way: way, narrowings: narrowings))
  }

  private func root(of place: Place) -> Place {
    var place = place
    while let parent = parents[place] { place = parent }
    return place
  }

  /// The places whose group is better made directly.
  func direct() -> (Place) -> Bool {
    var found: [Place: [InferencePath: [String: Int]]] = [:]
    for one in kept {
      found[root(of: one.place), default: [:]][one.way, default: [:]].merge(
        [one.source: one.narrowings], uniquingKeysWith: min)
    }
    let groups = Set(
      found.filter { InferredRanks.isBetter($1[.direct] ?? [:], than: $1[.stepwise] ?? [:]) }.keys)
    return { groups.contains(root(of: $0)) }
  }
}

/// What a way keeps, each with the number of types on its way that do not hold all of it.
enum InferredRanks {
  /// What the second way keeps better than the first.
  static func lost(_ taken: [String: Int], _ other: [String: Int]) -> Set<String> {
    Set(other.filter { $0.value < taken[$0.key] ?? .max }.keys)
  }

  /// Whether the first loses nothing that the second keeps, and keeps more.
  static func isBetter(_ first: [String: Int], than second: [String: Int]) -> Bool {
    lost(first, second).isEmpty && !lost(second, first).isEmpty
  }

  /// Of a trail, for entities and properties of the first version.
  static func of(_ entities: [String: InferredTrail.Entity], in model: ManagedObjectModel) -> [String: Int] {
    var found: [String: Int] = [:]
    for (name, entity) in entities {
      found[entity.source] = 0
      for (path, origin) in entity.attributes where !model.isDerived(path, of: name) {
        guard case .source(let source, _, _) = origin else { continue }
        found.merge(["\(entity.source).\(source)": origin.narrowings], uniquingKeysWith: min)
      }
      for source in entity.relationships.values { found["\(entity.source).\(source)"] = 0 }
    }
    return found
  }
}

extension ManagedObjectModel {
  /// Whether Core Data computes an attribute, whatever it held before.
  func isDerived(_ path: String, of entity: String) -> Bool { attribute(path, of: entity)?.derivationExpression != nil }

  /// A property with the entity that declares it, as `Book.title`; `path` may lead into a composite attribute.
  func declared(_ path: String, of entity: String) -> String {
    let name = path.prefix { $0 != "." }
    let owner = ancestors(of: entity).last { parent in
      parent.attributes.contains { $0.name == name } || parent.relationships.contains { $0.name == name }
    }
    return "\(owner?.name ?? entity).\(path)"
  }
}
