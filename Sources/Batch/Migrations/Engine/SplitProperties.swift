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
        let position = Self.position(of: split, in: entity, plan.binding)
      else { continue }
      let carriers = plan.mappingsByEntity[entity.number].filter { split.carriers.contains(plan.mappings[$0].mapping) }
      properties[entity.number, default: []].append(
        Property(path: split.path, position: position, carriers: Set(carriers)))
    }
  }

  private static func position(
    of split: AccountLines.Split, in entity: SourceEntity, _ binding: StoreBinding
  ) -> Int? {
    switch split.place {
    case .attribute: return entity.attributes[split.name]?.position
    case .relationship: return entity.relationships[split.name]?.keyPosition
    case .owner(let owner):
      guard case .ownerKey(let table, let column, _)? = binding.layout.storage(of: split.name, entity: owner) else {
        return nil
      }
      return binding.tables[table].positions[column]
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
