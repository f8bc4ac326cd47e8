/// Makes one step of steps behind each other, wherever that gives the same store, to the byte, as one after the other.
struct PathFusion {
  /// The steps, some of them made of several.
  private(set) var steps: [MigrationStep] = []
  /// Why steps behind each other stay apart.
  private(set) var notes: [String] = []

  /// Steps that become one.
  private struct Stretch {
    let first: Int
    var composition: MappingComposition
  }

  /// Prepares a path for a store. `layouts` are those of the steps' destinations. Custom stages stay steps of their own.
  init(
    _ path: [MigrationStep], layouts: [StoreLayout], source: StoreBinding, schema: StoreSchema, isStaged: Bool
  ) {
    guard path.count > 1 else {
      steps = path
      return
    }
    if let stranger = Self.stranger(in: schema, source) {
      steps = path
      notes = ["the steps are made one after the other, because the store has \(stranger), which no model knows"]
      return
    }
    var stretch: Stretch?
    for (index, step) in path.enumerated() {
      let mappings = step.mappingModels.flatMap(\.entityMappings)
      let before = index == 0 ? source.layout : layouts[index - 1]
      do {
        if isStaged, !step.isInferred { throw MappingComposition.Obstacle(reason: "it is a custom stage") }
        var longer = stretch ?? Stretch(first: index, composition: MappingComposition(before))
        try longer.composition.append(mappings, to: layouts[index])
        stretch = longer
      } catch {
        if stretch != nil, let obstacle = error as? MappingComposition.Obstacle {
          notes.append("\(step.source.name) to \(step.destination.name) takes a pass of its own: \(obstacle.reason)")
        }
        close(&stretch, path, before: index)
        var composition = MappingComposition(before)
        let isOwn = isStaged && !step.isInferred
        let isFitting = !isOwn && (try? composition.append(mappings, to: layouts[index])) != nil
        if isFitting { stretch = Stretch(first: index, composition: composition) } else { steps.append(step) }
      }
    }
    close(&stretch, path, before: path.count)
  }

  private mutating func close(_ stretch: inout Stretch?, _ path: [MigrationStep], before end: Int) {
    guard let closed = stretch else { return }
    stretch = nil
    guard end - closed.first > 1 else { return steps.append(path[closed.first]) }
    let joined = path[closed.first..<end]
    let mapped = joined.filter { !$0.isInferred }.flatMap(\.mappingModels).map(\.name)
    let first = joined[closed.first]
    let last = joined[end - 1]
    var model = MappingModel(
      name: mapped.isEmpty ? "inferred" : mapped.joined(separator: " and "),
      entityMappings: closed.composition.entityMappings())
    (model.sourceModelName, model.destinationModelName) = (first.source.name, last.destination.name)
    model.sourceHashes = first.mappingModels.reduce(into: [:]) { $0.merge($1.sourceHashes) { first, _ in first } }
    model.destinationHashes = last.mappingModels.reduce(into: [:]) { $0.merge($1.destinationHashes) { first, _ in first } }
    let reason =
      mapped.isEmpty
      ? "\(joined.count) steps that can be inferred, in one pass"
      : "\(joined.count) steps in one pass, by \(mapped.joined(separator: ", ")) and inference"
    steps.append(
      MigrationStep(
        source: first.source, destination: last.destination, mappingModels: [model], isInferred: mapped.isEmpty,
        reason: reason, passedVersions: joined.dropFirst().map(\.source.name)))
  }

  /// Something that steps carry or leave by what the versions between have: a table of other code, a trigger, history.
  private static func stranger(in schema: StoreSchema, _ binding: StoreBinding) -> String? {
    var own = Set(StoreLayout.fixedTables.map { NameOrder.folded($0.name) })
    own.formUnion(binding.tables.map { NameOrder.folded($0.schema.name) })
    own.formUnion(binding.joins.map { NameOrder.folded($0.schema.name) })
    // SQLite's statistics are left out by every step.
    let table = schema.rows.first {
      $0.type == "table" && !own.contains(NameOrder.folded($0.name)) && !$0.name.hasPrefix("sqlite_stat")
    }
    let other = schema.rows.first { $0.type == "trigger" || $0.type == "view" }
    return (table ?? other).map { "the \($0.type) \($0.name)" }
  }
}
