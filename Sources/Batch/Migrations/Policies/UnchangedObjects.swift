import MappingModels
import Streams

extension StepObjects {
  /// The name of the mapping whose calls these are.
  var mappingName: String? { currentCompiled?._withUnsafeGuaranteedRef { $0.mapping.name } }

  /// Writes an object as its mapping alone decides, by the recipe; false where it needs the other way.
  func appendUnchanged(_ object: DestinationObject) -> Bool {
    guard isLocated, object.isUnchanged, let recipe = object.recipe else { return false }
    return recipe._withUnsafeGuaranteedRef {
      $0.append(locator, to: output, table: object.entity.table, rowid: object.key)
    }
  }
}
