import CoreDataModel

/// What a comparison has to know of a property.
protocol ComparedProperty {
  var name: String { get }
  var renamingIdentifier: String? { get }
  /// Whether it has a place in the store, and so in version hashes.
  var isStored: Bool { get }
}

extension AttributeDescription: ComparedProperty {
  var isStored: Bool { !isTransient }
}

extension RelationshipDescription: ComparedProperty {
  var isStored: Bool { !isTransient }
}

extension FetchedPropertyDescription: ComparedProperty {
  var isStored: Bool { false }
}

/// A property and the entity that declares it.
struct Declared<Property: ComparedProperty> {
  let property: Property
  let owner: String

  /// Own and inherited properties; own ones first.
  static func all(
    _ properties: KeyPath<EntityDescription, [Property]>, of entity: EntityDescription, in model: ManagedObjectModel
  ) -> [Declared] {
    ([entity] + model.ancestors(of: entity.name)).flatMap { owner in
      owner[keyPath: properties].map { Declared(property: $0, owner: owner.name) }
    }
  }
}

/// Pairs the properties of two entities: first the stored ones among themselves, as inference does, then what is left.
struct PropertyMatch<Property: ComparedProperty> {
  let destination: [Declared<Property>]
  /// Source properties that nothing comes from.
  let left: [Declared<Property>]
  private let source: [Declared<Property>]
  private var pairs: [String: String]

  init(source: [Declared<Property>], destination: [Declared<Property>]) {
    self.source = source
    self.destination = destination
    let stored = Self.match(source.filter(\.property.isStored), destination.filter(\.property.isStored))
    let used = Set(stored.values)
    let rest = Self.match(
      source.filter { !used.contains($0.property.name) }, destination.filter { stored[$0.property.name] == nil })
    pairs = stored.merging(rest) { first, _ in first }
    let kept = Set(pairs.values)
    left = source.filter { !kept.contains($0.property.name) }
  }

  /// The source property that a destination property continues; nil for a new one.
  func origin(of property: Declared<Property>) -> Declared<Property>? {
    pairs[property.property.name].flatMap { name in source.first { $0.property.name == name } }
  }

  /// Of several that claim one source, the one that has its name continues it; inference refuses such a step.
  private static func match(_ source: [Declared<Property>], _ destination: [Declared<Property>]) -> [String: String] {
    let item = { (declared: Declared<Property>) in
      RenamingMatch.Item(name: declared.property.name, identifier: declared.property.renamingIdentifier)
    }
    let match = RenamingMatch(source: source.map(item), destination: destination.map(item))
    var pairs = match.pairs
    for conflict in match.conflicts {
      let heir = conflict.destination.first { $0 == conflict.source } ?? conflict.destination.first
      for name in conflict.destination where name != heir { pairs[name] = nil }
    }
    return pairs
  }
}
