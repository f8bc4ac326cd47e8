/// Makes one step of inferred steps behind each other, wherever that gives the same store, to the byte, as one after the other.
struct PathFusion {
  /// The steps, some of them made of several.
  private(set) var steps: [MigrationStep] = []
  /// Why inferred steps behind each other stay apart.
  private(set) var notes: [String] = []

  /// Prepares a path for a store. `layouts` are those of the steps' destinations.
  init(_ path: [MigrationStep], layouts: [StoreLayout], source: StoreBinding, schema: StoreSchema) {
    guard path.count > 1 else {
      steps = path
      return
    }
    if let stranger = Self.stranger(in: schema, source) {
      steps = path
      notes = ["the steps are made one after the other, because the store has \(stranger), which no model knows"]
      return
    }
    var stretch: (first: Int, composition: MappingComposition)?
    for (index, step) in path.enumerated() {
      do {
        guard step.isInferred, let model = step.mappingModels.first, step.mappingModels.count == 1 else {
          throw MappingComposition.Obstacle(reason: "")
        }
        var composition = stretch?.composition ?? MappingComposition(index == 0 ? source.layout : layouts[index - 1])
        try composition.append(model, to: layouts[index])
        stretch = (stretch?.first ?? index, composition)
      } catch {
        let wasInferred = stretch != nil && step.isInferred
        close(&stretch, path, before: index)
        if wasInferred, let obstacle = error as? MappingComposition.Obstacle {
          notes.append("\(step.source.name) to \(step.destination.name) takes a pass of its own: \(obstacle.reason)")
        }
        stretch = step.isInferred ? begin(step, index, layouts, source) : nil
        if stretch == nil { steps.append(step) }
      }
    }
    close(&stretch, path, before: path.count)
  }

  /// A stretch of that one step; nil where even that cannot be composed.
  private func begin(
    _ step: MigrationStep, _ index: Int, _ layouts: [StoreLayout], _ source: StoreBinding
  ) -> (first: Int, composition: MappingComposition)? {
    var composition = MappingComposition(index == 0 ? source.layout : layouts[index - 1])
    guard let model = step.mappingModels.first, (try? composition.append(model, to: layouts[index])) != nil else { return nil }
    return (index, composition)
  }

  private mutating func close(
    _ stretch: inout (first: Int, composition: MappingComposition)?, _ path: [MigrationStep], before end: Int
  ) {
    guard let (first, composition) = stretch else { return }
    stretch = nil
    guard end - first > 1 else { return steps.append(path[first]) }
    let (source, destination) = (path[first].source, path[end - 1].destination)
    var model = MappingModel(name: "inferred", entityMappings: composition.entityMappings())
    (model.sourceModelName, model.destinationModelName) = (source.name, destination.name)
    (model.sourceHashes, model.destinationHashes) =
      (path[first].mappingModels[0].sourceHashes, path[end - 1].mappingModels[0].destinationHashes)
    steps.append(
      MigrationStep(
        source: source, destination: destination, mappingModels: [model], isInferred: true,
        reason: "\(end - first) steps that can be inferred, in one pass",
        passedVersions: path[first + 1..<end].map(\.source.name)))
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
