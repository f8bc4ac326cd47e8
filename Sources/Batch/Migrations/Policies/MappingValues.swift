import CoreDataModel
import MappingModels
import Streams

// What expressions know of their entity mapping.
extension EntityMapping {
  /// Whether `$entityPolicy` is there.
  var hasPolicy: Bool { policyClassName != nil || rules != nil }

  /// What `$entityMapping` has at a key path.
  func value(at path: [String]) throws -> Value {
    switch (path.first, path.count) {
    case ("name", 1): .text(name)
    case ("sourceEntityName", 1): sourceEntity.map { .text($0) } ?? .null
    case ("destinationEntityName", 1): destinationEntity.map { .text($0) } ?? .null
    case ("userInfo", 2...): userInfo[path[1...].joined(separator: ".")].map { .text($0) } ?? .null
    default: throw ExpressionDamage("asks the entity mapping for \(path.joined(separator: "."))")
    }
  }
}
