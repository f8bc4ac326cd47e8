import CoreDataStore
import MappingModels
import Streams

/// Finds values and keys of a row that no mapping carries of those that take it, where its entity becomes several.
struct SplitProperties {
  private struct Property {
    var path: String
    var position: Int
    /// Positions in the plan's mappings.
    var carriers: Set<Int>
  }

  /// By Z_ENT.
  private var properties: [Int: [Property]] = [:]

  /// Nothing to find in a step that carries all of each object, whoever takes it.
  init(_ plan: StepPlan) {
    for split in plan.step.splits {
      guard let entity = plan.graph.entities[split.entity],
        let position = split.isAttribute
          ? entity.attributes[split.name]?.position : entity.relationships[split.name]?.keyPosition
      else { continue }
      let carriers = plan.mappingsByEntity[entity.number].filter { split.carriers.contains(plan.mappings[$0].mapping) }
      properties[entity.number, default: []].append(
        Property(path: split.path, position: position, carriers: Set(carriers)))
    }
  }

  /// Z_ENT of entities whose rows have to be looked at.
  var numbers: Set<Int> { Set(properties.keys) }

  /// What of a decoded row is lost, by path. `takes` says whether a mapping takes the row, by its position in the plan.
  func lost(_ row: RecordDecoder, number: Int, takes: (Int) throws -> Bool) rethrows -> [String] {
    try (properties[number] ?? []).filter { property in
      guard property.position < row.columnCount, row.type(property.position) != SerialType.null else { return false }
      return try !property.carriers.contains(where: takes)
    }.map(\.path)
  }
}
