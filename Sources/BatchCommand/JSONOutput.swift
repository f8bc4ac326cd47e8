import Foundation

/// Results for scripts: keys are sorted, and every document says its format.
enum JSONOutput {
  /// A document with `"format": 1` beside its own keys.
  static func document(_ body: some Encodable) throws -> String { try text(Document(body: body)) }

  /// A document in one line.
  static func line(_ body: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return VisibleText.json(String(decoding: try encoder.encode(body), as: UTF8.self))
  }

  /// A document that is nothing but its keys.
  static func text(_ body: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return VisibleText.json(String(decoding: try encoder.encode(body), as: UTF8.self))
  }

  private struct Document<Body: Encodable>: Encodable {
    let body: Body

    private enum Key: String, CodingKey { case format }

    func encode(to encoder: any Encoder) throws {
      try body.encode(to: encoder)
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(1, forKey: .format)
    }
  }
}
