import RunSupport

/// The XML attributes of one element. What a reader does not take is left over and kept as unknown.
package struct XMLAttributes {
  package let element: String
  /// The element's name attribute, for messages.
  let name: String?
  package private(set) var rest: [String: String]

  package init(_ element: String, _ attributes: [String: String]) {
    self.element = element
    self.name = attributes["name"]
    self.rest = attributes
  }

  /// The value, or nil when it is missing or empty.
  package mutating func take(_ name: String) -> String? {
    guard let value = rest.removeValue(forKey: name), !value.isEmpty else { return nil }
    return value
  }

  /// The value, which may be empty, or nil when it is missing.
  package mutating func takeText(_ name: String) -> String? { rest.removeValue(forKey: name) }

  /// The value; a missing or empty one is an error.
  package mutating func need(_ name: String) throws -> String {
    guard let value = take(name) else { throw problem("has no \(name)") }
    return value
  }

  /// The value, which may be empty; a missing one is an error.
  package mutating func needText(_ name: String) throws -> String {
    guard let value = takeText(name) else { throw problem("has no \(name)") }
    return value
  }

  /// A truth value as Xcode and generators of models write it; false when missing.
  package mutating func flag(_ name: String) throws -> Bool { try optionalFlag(name) ?? false }

  /// A truth value; nil when missing.
  package mutating func optionalFlag(_ name: String) throws -> Bool? {
    guard let text = take(name) else { return nil }
    guard let value = Self.truth(text) else { throw problem("has \(name)=\"\(text)\", which is neither YES nor NO") }
    return value
  }

  /// A whole number; nil when missing.
  package mutating func number(_ name: String) throws -> Int32? {
    guard let text = take(name) else { return nil }
    guard let value = Int32(text) else { throw problem("has \(name)=\"\(text)\", which is no number") }
    return value
  }

  package static func truth(_ text: String) -> Bool? {
    switch text {
    case "YES", "true", "1": return true
    case "NO", "false", "0": return false
    default: return nil
    }
  }

  /// Where the element stands: the names of the elements around it and its own.
  package func place(in open: [String]) -> String {
    (open + [element]).joined(separator: "/") + (name.map { " \"\($0)\"" } ?? "")
  }

  package func problem(_ text: String) -> BatchError {
    BatchError(.badModel, "the element \(element) \(name.map { "\"\($0)\" " } ?? "")\(text)")
  }
}
