import RunSupport

/// Puts the elements of a model's composites into the attributes that use them.
struct CompositeExpander {
  private static let greatestDepth = 16
  private static let mostElements = 10_000

  let composites: [String: CompositeDescription]
  private var expanded = 0

  init(composites: [String: CompositeDescription]) { self.composites = composites }

  /// Composites may hold composites; a ring or a doubling chain of them is refused by depth and number.
  mutating func expand(_ attribute: AttributeDescription, depth: Int = 0) throws -> AttributeDescription {
    guard attribute.type == .composite, let name = attribute.compositeName else { return attribute }
    guard let composite = composites[name] else {
      throw BatchError(
        .badModel, "the attribute \(attribute.name) uses the composite \(name), which the model does not define",
        hint: "Define the composite, or correct the attribute in Xcode")
    }
    expanded += composite.elements.count
    guard depth < Self.greatestDepth, expanded <= Self.mostElements else {
      throw BatchError(
        .badModel, "the composite \(name) holds itself or too many elements",
        hint: "Take the ring of composites apart in Xcode")
    }
    var whole = attribute
    whole.elements = []
    for element in composite.elements { whole.elements.append(try expand(element, depth: depth + 1)) }
    return whole
  }
}
