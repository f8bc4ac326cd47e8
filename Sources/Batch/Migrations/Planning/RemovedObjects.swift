import MappingModels
import RunSupport

extension [EntityMapping] {
  /// Source entities that are removed, and why.
  var removed: [String: String?] {
    let named = filter { $0.destinationEntity == nil }.compactMap { mapping in
      mapping.sourceEntity.map { ($0, mapping.removalReason) }
    }
    return Dictionary(named, uniquingKeysWith: { first, _ in first })
  }

  /// What may leave objects out that these mappings take; nil if one of them takes all.
  var leavingOut: AccountLine.Rule? {
    let hasPolicy = map { $0.policyClassName != nil && $0.rules == nil }
    guard zip(self, hasPolicy).allSatisfy({ $0.isSkipped || $0.filterPredicate != nil || $1 }) else { return nil }
    if hasPolicy.contains(true) { return .policy }
    return allSatisfy { $0.isSkipped || $0.isFilteredByRemovals } ? .removal : .filter
  }

  /// Why objects are removed; nil if nobody said so.
  var removalReasons: String? {
    let reasons = compactMap(\.removalReason).uniqued
    return reasons.isEmpty ? nil : reasons.joined(separator: "; ")
  }
}

extension EntityMapping {
  /// Whether it says that a property has no value, and no rule gives it another one.
  func empties(_ name: String) -> Bool {
    if let rules, rules.objects.contains(where: { $0.link == name }) { return false }
    return (attributeMappings + relationshipMappings).contains {
      $0.name == name && $0.valueExpression == .constant(.null)
    }
  }
}
