import Codecs
import CoreDataModel
import Foundation

/// Reads new UUIDs, and constants that are no texts and numbers.
struct RuleConstantReader {
  let fields: [String: MappingNode]

  /// Throws `badMapping` naming line and key.
  func read(_ form: String, _ operand: MappingNode) throws -> RuleValue {
    let text = operand.node.scalar?.string ?? ""
    switch form {
    case "uuid": return try uuid(text, operand)
    case "uri":
      guard RuleType.isURI(text), text.contains(":") else {
        throw operand.failure(
          "uri has to be a constant such as https://example.org/a",
          "Of a text of the source write { cast: $source.NAME, to: uri }")
      }
      return .expression(.constant(.text(text)))
    default:
      guard !text.isEmpty, let data = Data(base64Encoded: text) else {
        throw operand.failure("binary has to be a constant in base64", "For example { binary: AAEC }")
      }
      return .expression(.constant(.blob(Array(data))))
    }
  }

  private func uuid(_ text: String, _ operand: MappingNode) throws -> RuleValue {
    if let name = fields["name"], text != "repeatable" {
      throw name.failure("name goes with uuid: repeatable alone")
    }
    switch text {
    case "per-row": return .perRow(.uuid)
    case "random": return .uuid(.random)
    case "repeatable": return .uuid(.repeatable(name: try fields["name"]?.text("name")))
    default:
      guard let bytes = UUIDText.bytes(text) else {
        throw operand.failure(
          "uuid has to be repeatable, random, per-row, or a constant such as 6F9619FF-8B86-D011-B42D-00C04FC964FF",
          "Of a text of the source write { cast: $source.NAME, to: uuid }")
      }
      return .expression(.constant(.blob(bytes)))
    }
  }
}

extension RuleType {
  /// Whether a text can be a URI: without blanks, controls and letters beyond ASCII.
  package static func isURI(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }
}
