import Codecs
import CoreDataModel
import Streams

extension AttributeType {
  /// What to write in a mapping file so that an attribute of this type gets the values of one of another type.
  func advice(for attribute: String, from name: String, of source: AttributeType) -> String {
    guard let form = form("$source.\(name)", of: source) else {
      return "No rule makes \(self) of \(source): set \(attribute) in a policy, or leave it out "
        + "with \(attribute): null"
    }
    return "In a mapping file: \(attribute): \(form)"
  }

  /// A rule's value that this type may take; nil where no form makes one of the other type.
  private func form(_ text: String, of source: AttributeType) -> String? {
    switch (self, source) {
    case (.string, .date): "{ text: \(text), format: yyyy-MM-dd }"
    case (.string, _) where source.isLegible: "{ cast: \(text), to: text }"
    case (.integer16, _) where source.isCounted, (.integer32, _) where source.isCounted,
      (.integer64, _) where source.isCounted:
      "{ cast: \(text), to: integer }"
    case (.double, _) where source.isCounted, (.float, _) where source.isCounted, (.decimal, _) where source.isCounted:
      "{ cast: \(text), to: double }"
    case (.boolean, _) where source.isCounted, (.uuid, .string), (.uuid, .binaryData), (.uri, .string):
      "{ cast: \(text), to: \(self) }"
    case (.date, .string): "{ date: \(text), format: yyyy-MM-dd }"
    default: nil
    }
  }

  /// Whether values can be read as texts.
  private var isLegible: Bool { isCounted || self == .uuid || self == .uri }
  /// Whether values are numbers, or texts that may be.
  private var isCounted: Bool { isNumeric || self == .string || self == .date }

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
