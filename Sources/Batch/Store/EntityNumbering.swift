/// Gives every entity its Z_ENT: 1…n depth first, roots in case-insensitive name order, children likewise (B.3).
struct EntityNumbering {
  /// Entity names in Z_ENT order.
  let names: [String]
  /// Entity name to Z_ENT.
  let numbers: [String: Int]
  /// Direct sub-entities, in numbering order.
  let children: [String: [String]]

  init(model: ManagedObjectModel) throws {
    var children: [String: [String]] = [:]
    var roots: [String] = []
    for entity in model.entities {
      guard let parent = entity.superentity else {
        roots.append(entity.name)
        continue
      }
      guard model.entity(parent) != nil else {
        throw BatchError(.badModel, "the parent entity \(parent) is not in model \(model.name)", entity: entity.name)
      }
      children[parent, default: []].append(entity.name)
    }
    for parent in children.keys { children[parent]?.sort(by: NameOrder.ignoringCase) }

    // A stack, not recursion: the depth of a hierarchy comes from a file.
    var names: [String] = []
    var pending = Array(roots.sorted(by: NameOrder.ignoringCase).reversed())
    while let name = pending.popLast() {
      names.append(name)
      pending.append(contentsOf: (children[name] ?? []).reversed())
    }
    let numbers = Dictionary(names.enumerated().map { ($1, $0 + 1) }, uniquingKeysWith: { first, _ in first })
    if let stray = model.entities.first(where: { numbers[$0.name] == nil }) {
      throw BatchError(.badModel, "the entity is its own ancestor in model \(model.name)", entity: stray.name)
    }
    guard numbers.count == model.entities.count else {
      throw BatchError(.badModel, "model \(model.name) names an entity twice", hint: "Give every entity a name of its own.")
    }
    self.names = names
    self.numbers = numbers
    self.children = children
  }
}
