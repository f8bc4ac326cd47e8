import CoreDataModel
import CoreDataStore
import MappingModels

extension AccountLines {
  /// Values of an attribute that pass types on their way which do not hold all of them.
  struct Conversion {
    var entity: String
    var attribute: String
    var types: [AttributeType]
  }

  /// Conversions that may change a value.
  var conversions: [Conversion] {
    all.flatMap { mapping in
      mapping.attributeMappings.flatMap { property -> [Conversion] in
        let entity = mapping.sourceEntity ?? ""
        return (types.source[entity] ?? [:]).keys.sorted().compactMap { path in
          guard let types = target(of: path, in: property, mapping)?.types, types.mayChange else { return nil }
          return Conversion(entity: entity, attribute: path, types: types)
        }
      }
    }
  }
}

extension [AttributeType] {
  /// Whether a number of the first type may be another one after the last.
  fileprivate var mayChange: Bool { zip(self, dropFirst()).contains { !$0.fits(into: $1) } }
}

extension AttributeType {
  /// Whether another type holds every number of this one.
  fileprivate func fits(into other: AttributeType) -> Bool {
    guard self != other, isNumeric, other.isNumeric else { return true }
    switch (self, other) {
    case (.boolean, _): return true
    case (_, .boolean): return false
    case (.integer16, _): return true
    case (.integer32, .float): return false
    // An integer that is out of range is refused.
    case (.integer32, _), (.integer64, .integer32), (.integer64, .integer16), (.float, .double), (.float, .decimal):
      return true
    case (.double, .decimal), (.decimal, .double): return true
    default: return false
    }
  }
}
