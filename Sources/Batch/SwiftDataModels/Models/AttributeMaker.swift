import CoreDataModel

/// Makes attributes of shapes.
enum AttributeMaker {
  static func attribute(_ name: String, _ shape: AttributeShape, isOptional: Bool) -> AttributeDescription {
    switch shape {
    case .plain(let type): return AttributeDescription(name: name, type: type, isOptional: isOptional)
    case .raw(let type):
      let element = AttributeDescription(name: name, type: type, isOptional: true)
      return composite(name, [element], isOptional: isOptional)
    case .transformed(let className):
      var attribute = AttributeDescription(name: name, type: .transformable, isOptional: isOptional)
      attribute.valueTransformerName = "NSSecureUnarchiveFromData"
      attribute.attributeValueClassName = className
      return attribute
    case .composite(let elements, let isOfCases):
      // An element may be missing if it may, or if the whole may.
      let parts = elements.map { attribute($0.name, $0.shape, isOptional: $0.isOptional || isOptional) }
      var whole = composite(name, parts, isOptional: isOptional)
      if isOfCases { whole.userInfo[AttributeDescription.enumeration] = "cases" }
      return whole
    case .model: preconditionFailure("a relationship is no attribute")
    }
  }

  private static func composite(
    _ name: String, _ elements: [AttributeDescription], isOptional: Bool
  ) -> AttributeDescription {
    var attribute = AttributeDescription(name: name, type: .composite, isOptional: isOptional)
    attribute.elements = elements
    return attribute
  }
}
