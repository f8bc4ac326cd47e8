/// Puts the elements of a model's composites into the attributes that use them.
struct CompositeExpander {
  /// The XML attribute, kept as unknown, that names an attribute's composite.
  static let reference = "composite"
  private static let greatestDepth = 16
  private static let mostElements = 10_000

  let composites: [String: [AttributeDescription]]
  let path: String
  private var expanded = 0

  init(composites: [String: [AttributeDescription]], path: String) {
    self.composites = composites
    self.path = path
  }

  /// Composites may hold composites; a ring or a doubling chain of them is refused by depth and number.
  mutating func expand(_ attribute: AttributeDescription, depth: Int = 0) throws -> AttributeDescription {
    guard attribute.type == .composite, let name = attribute.unknown[Self.reference] else { return attribute }
    guard let elements = composites[name] else {
      throw BatchError(
        .badModel, "the attribute \(attribute.name) uses the composite \(name), which the model does not define",
        path: path)
    }
    expanded += elements.count
    guard depth < Self.greatestDepth, expanded <= Self.mostElements else {
      throw BatchError(.badModel, "the composite \(name) holds itself or too many elements", path: path)
    }
    var whole = attribute
    whole.elements = []
    for element in elements { whole.elements.append(try expand(element, depth: depth + 1)) }
    return whole
  }
}
