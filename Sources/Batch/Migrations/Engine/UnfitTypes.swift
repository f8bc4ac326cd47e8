import CoreDataModel
import MappingModels
import RunSupport

extension MappingCompiler {
  /// An attribute is mapped by name, and its new type does not take the values.
  static func unfit(
    _ property: PropertyMapping, from source: AttributeType, to target: AttributeType, draft: MappingDraft
  ) -> BatchError {
    let name = property.name
    let isConditional =
      draft.mapping.rules?.attributes.contains { rule in
        if rule.name == name, case .when = rule.value { true } else { false }
      } ?? false
    guard !isConditional else {
      return BatchError(
        .badMapping,
        "\(name) is mapped by name where its `when` does not hold, and changes from \(source) to \(target)",
        hint:
          "Leave `when` out, as what is missing stays missing; or say both: { if: CONDITION, then: VALUE, else: VALUE }",
        entity: draft.destination.name)
    }
    return BatchError(
      .badMapping, "\(name) changes from \(source) to \(target), which needs a value expression or a policy",
      hint: target == .date && source.isNumeric
        ? Measure.hint : target.advice(for: name, from: property.copiedAttribute ?? name, of: source),
      entity: draft.destination.name)
  }
}
