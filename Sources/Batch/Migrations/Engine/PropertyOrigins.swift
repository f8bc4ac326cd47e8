import CoreDataModel
import CoreDataStore
import MappingModels

/// Where the properties of an entity mapping's objects come from, in words: by the mapping as it was compiled, and by
/// what a call has set.
package struct PropertyOrigins {
  /// How the origin of a relationship begins that is carried over by its name.
  package static let carried = "carried from "

  package let mapping: CompiledMapping
  package let isInferred: Bool
  private let others: InverseRules

  package init(mapping: CompiledMapping, in step: MigrationStep) {
    self.mapping = mapping
    isInferred = step.isInferred
    others = InverseRules(step)
  }

  private var own: EntityMapping { mapping.mapping }
  private var policy: String { own.policyClassName.map { "the policy \($0)" } ?? "a rule" }

  /// Of an attribute. `columns` are those that were set for the object at hand.
  package func attribute(_ name: String, set columns: Set<Int> = []) -> String {
    guard let target = mapping.destination.attributes[name] else { return "not stored" }
    if let rule = own.rules?.attributes.first(where: { $0.name == name }) { return "rule: \(rule.value.words)" }
    // What an expression gives is set, too.
    if case .expression = mapping.columns[target.position] {
      return expression(name, of: own.attributeMappings).map { "expression \($0)" } ?? "expression"
    }
    guard !columns.contains(target.position) else { return "set by \(policy)" }
    return origin(name, mapping.columns[target.position])
  }

  private func origin(_ name: String, _ column: ColumnSource) -> String {
    switch column {
    case .filled(let source, _): return "\(origin(name, source)), or the default value"
    case .borrow(let position, _): return origin(name, position)
    case .convert(let position, _, let types):
      return "\(origin(name, position)), converted from \(types.map { "\($0)" }.joined(separator: " to "))"
    case .value(let value):
      if let constant = expression(name, of: own.attributeMappings) { return "constant \(constant)" }
      return value == .null ? "no value: no source and no default value" : "the default value: no source"
    case .unfit(_, let message): return "left to \(policy): \(message)"
    default: return "the row"
    }
  }

  /// Of a relationship.
  package func relationship(_ name: String, set columns: Set<Int> = []) -> String {
    if own.rules?.relationships.contains(where: { $0.name == name }) == true { return "rule" }
    if let rule = own.rules?.objects.first(where: { $0.link == name }) {
      return "rule: \(rule.kind.rawValue) \(rule.entity)"
    }
    if let property = own.relationshipMappings.first(where: { $0.name == name }) {
      let isSet: Bool
      if case .ownKey(_, let column, _, _) = mapping.destination.relationships[name]?.storage {
        if case .expression = mapping.columns[column] { isSet = false } else { isSet = columns.contains(column) }
        if !isSet, case .value = mapping.columns[column] { return setByOthers(name) ?? "no objects: no source" }
      } else {
        isSet = false
      }
      guard !isSet else { return "set by \(policy)" }
      if let expression = property.valueExpression {
        return isInferred ? "renamed: \(expression)" : "expression \(expression)"
      }
      guard mapping.source.relationships[name] != nil else { return linked(name) }
      return "\(Self.carried)\(mapping.source.name).\(name)"
    }
    return linked(name)
  }

  private func linked(_ name: String) -> String {
    if let others = setByOthers(name) { return others }
    return mapping.policy == nil ? "no source; others may link it" : "linked by \(policy), or by others"
  }

  /// Rules of this mapping or of others that set the relationship from its other side.
  private func setByOthers(_ name: String) -> String? {
    let rules = others.setting(name, of: mapping.destination.name)
    return rules.isEmpty ? nil : "set by rules of \(rules.joined(separator: ", and of "))"
  }

  private func expression(_ name: String, of properties: [PropertyMapping]) -> Expression? {
    properties.first { $0.name == name }?.valueExpression
  }

  private func origin(_ name: String, _ position: Int) -> String {
    let attributes = mapping.source.attributes
    guard let source = attributes.names.first(where: { attributes[$0]?.position == position }) else { return "the row" }
    let place = "\(mapping.source.name).\(source)"
    return source == name ? place : "\(place), renamed\(isInferred ? " by its renaming identifier" : "")"
  }
}
