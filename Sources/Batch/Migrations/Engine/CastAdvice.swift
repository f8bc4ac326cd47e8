import Codecs
import CoreDataModel
import Streams

extension AttributeType {
  /// What to write in a mapping file so that an attribute of this type gets the values of another one.
  func advice(for attribute: String, from name: String) -> String {
    let word: String
    switch self {
    case .string: word = "text"
    case .integer16, .integer32, .integer64: word = "integer"
    case .double, .float, .decimal: word = "double"
    case .boolean, .uuid, .uri: word = "\(self)"
    case .date: return "In a mapping file: \(attribute): { date: $source.\(name), format: … }"
    case .undefined, .binaryData, .transformable, .objectID, .composite:
      return "No rule makes \(self) of it: set \(attribute) in a policy, or leave it out with \(attribute): null"
    }
    return "In a mapping file: \(attribute): { cast: $source.\(name), to: \(word) }"
  }

  /// How a mapping file writes a constant of this type, if it is no number and no text.
  func constantAdvice(_ value: Value) -> String {
    switch self {
    case .uuid:
      if case .text(let text) = value, UUIDText.bytes(text) != nil {
        "Write { uuid: \(text) }"
      } else {
        "Write { uuid: 6F9619FF-8B86-D011-B42D-00C04FC964FF }"
      }
    case .date: "Write { date: 2024-05-01T12:00:00Z }"
    case .uri: "Write { uri: https://example.org/a }"
    case .binaryData: "Write { binary: AAEC }, in base64"
    default: "Write a constant of that type"
    }
  }
}
