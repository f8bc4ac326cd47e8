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

  /// Where an attribute mapping puts an attribute's values as they are, and the types on the way; nil if it does not
  /// read it alone.
  func target(
    of path: String, in property: PropertyMapping, _ mapping: EntityMapping
  ) -> (name: String, path: String, types: [AttributeType])? {
    guard let read = property.copiedAttribute, let entity = mapping.destinationEntity,
      path == read || path.hasPrefix(read + "."),
      let name = element(of: property.name, entity, taking: path, of: read, mapping.sourceEntity ?? "")
    else { return nil }
    guard let found = types.destination[entity]?[name], let type = types.source[mapping.sourceEntity ?? ""]?[path]
    else {
      return nil
    }
    return (name, "\(entity).\(name)", [type] + property.passedTypes + [found])
  }

  /// Whether inference keeps a composite attribute, and none of its values: an enumeration that became another one.
  func isEmptied(_ attribute: AttributeDescription, _ taken: [EntityMapping]) -> Bool {
    guard step.isInferred, attribute.type == .composite else { return false }
    return taken.contains { mapping in
      mapping.attributeMappings.contains { property in
        guard property.copiedAttribute == attribute.name,
          let new = step.destination.attribute(property.name, of: mapping.destinationEntity ?? "")
        else { return false }
        return new.type == .composite && !new.leaves.contains { new.origin(of: $0.path, in: attribute) != nil }
      }
    }
  }

  /// Whether a step does so with some attribute: it has an account of its own then.
  var emptiesComposites: Bool {
    takers.contains { entity, taken in
      step.source.attributes(of: entity).contains { $0.type == .composite && !$0.isTransient && isEmptied($0, taken) }
    }
  }

  /// What of a destination attribute takes a source attribute's element over; nil for nothing.
  private func element(
    of name: String, _ entity: String, taking path: String, of read: String, _ source: String
  ) -> String? {
    if path == read, types.destination[entity]?[name] != nil { return name }
    guard let new = step.destination.attribute(name, of: entity), let old = step.source.attribute(read, of: source)
    else { return name + path.dropFirst(read.count) }
    return new.leaves.first { new.origin(of: $0.path, in: old) == path }?.path
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
