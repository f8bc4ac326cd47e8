import CoreDataModel

extension AttributeType {
  /// How a mapping file makes a value of this type of an attribute.
  func cast(_ name: String) -> String {
    let word =
      switch self {
      case .string: "text"
      case .integer16, .integer32, .integer64: "integer"
      case .double, .float, .decimal: "double"
      case .boolean, .uuid, .uri: "\(self)"
      case .undefined, .date, .binaryData, .transformable, .objectID, .composite: "…"
      }
    return self == .date ? "{ date: $source.\(name), format: … }" : "{ cast: $source.\(name), to: \(word) }"
  }
}
