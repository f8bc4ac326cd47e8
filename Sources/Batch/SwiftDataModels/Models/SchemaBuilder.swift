import CoreDataModel

/// Makes a model of the classes of a schema and those that they lead to.
struct SchemaBuilder {
  let resolver: TypeResolver

  /// The model; its name is the version's.
  func model(of roots: [Int], version: String) throws -> ManagedObjectModel {
    let drafts = try self.drafts(of: roots)
    try refuseRepeated(drafts)
    let relationships = try InverseLinker.linked(drafts.flatMap(\.relationships), resolver.index)
    let entities = drafts.map { draft in
      var entity = draft.entity
      entity.relationships = relationships.filter { $0.owner == draft.position }.map(\.description)
      return entity
    }
    var model = ManagedObjectModel(name: version, entities: entities, versionIdentifiers: [version])
    model.isUsedWithSwiftData = true
    // By this the model is known again that a store carries.
    model.configurations = ["default": model.entities.map(\.name)]
    return model
  }

  /// The classes themselves and all that relationships lead to.
  func closure(of roots: [Int]) throws -> Set<Int> { Set(try drafts(of: roots).map(\.position)) }

  private func drafts(of roots: [Int]) throws -> [EntityDraft] {
    var (waiting, seen, drafts) = (roots, Set<Int>(), [EntityDraft]())
    while let position = waiting.popLast() {
      guard seen.insert(position).inserted else { continue }
      let draft = try EntityReader.draft(of: position, resolver)
      waiting += draft.relationships.map(\.destination)
      drafts.append(draft)
    }
    return drafts.sorted { $0.position < $1.position }
  }

  private func refuseRepeated(_ drafts: [EntityDraft]) throws {
    var known: [String: Int] = [:]
    for draft in drafts {
      guard let other = known.updateValue(draft.position, forKey: draft.entity.name) else { continue }
      throw resolver.index.types[draft.position].place.error(
        "the schema has two classes named \(draft.entity.name); the other is at \(resolver.index.types[other].place)",
        hint: "Name the files or the folder of one target alone")
    }
  }
}
