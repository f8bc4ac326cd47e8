import Foundation
import RunSupport

/// Reads property lists in XML. A dictionary whose only key is `CF$UID` is a reference of a keyed archive.
final class PropertyListXMLReader: XMLEvents {
  private static let reference = "CF$UID"

  /// A collection that is still open.
  private struct Open {
    let isDictionary: Bool
    var members: [PropertyListValue] = []
    var entries: [String: PropertyListValue] = [:]
    var key: String?
  }

  private var open: [Open] = []
  private var characters = ""
  private var top: PropertyListValue?

  /// `path` is for messages. Throws ``BatchError`` with the code `badModel`.
  static func read(_ data: Data, path: String) throws -> PropertyListValue {
    let reader = PropertyListXMLReader()
    try XMLFile.parse(data, path: path, code: .badModel, into: reader)
    guard let top = reader.top else { throw BatchError(.badModel, "the file holds no property list", path: path) }
    return top
  }

  func start(_ element: String, _ attributes: [String: String]) throws {
    characters = ""
    if element == "dict" || element == "array" { open.append(Open(isDictionary: element == "dict")) }
  }

  func text(_ characters: String) { self.characters += characters }

  func end(_ element: String) throws {
    switch element {
    case "plist": break
    case "key":
      guard !open.isEmpty, open[open.count - 1].isDictionary, open[open.count - 1].key == nil else {
        throw problem("a key stands where none belongs")
      }
      open[open.count - 1].key = characters
    case "dict", "array":
      guard let closed = open.popLast(), closed.key == nil else { throw problem("a key has no value") }
      try add(closed.isDictionary ? Self.dictionary(closed.entries) : .array(closed.members))
    default: try add(scalar(element, characters))
    }
    characters = ""
  }

  private static func dictionary(_ entries: [String: PropertyListValue]) -> PropertyListValue {
    if entries.count == 1, case .integer(let number)? = entries[reference], let uid = Int(exactly: number), uid >= 0 {
      return .uid(uid)
    }
    return .dictionary(entries)
  }

  private func add(_ value: PropertyListValue) throws {
    guard !open.isEmpty else {
      guard top == nil else { throw problem("it has two top objects") }
      top = value
      return
    }
    let last = open.count - 1
    guard open[last].isDictionary else {
      open[last].members.append(value)
      return
    }
    guard let key = open[last].key else { throw problem("a value has no key") }
    open[last].key = nil
    guard open[last].entries.updateValue(value, forKey: key) == nil else { throw problem("a key is there twice") }
  }

  private func scalar(_ element: String, _ text: String) throws -> PropertyListValue {
    let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
    let value: PropertyListValue?
    switch element {
    case "string": value = .string(text)
    case "true": value = .boolean(true)
    case "false": value = .boolean(false)
    case "integer": value = Int64(trimmed).map { .integer($0) } ?? UInt64(trimmed).map { .unsigned($0) }
    case "real": value = Double(trimmed).map { .real($0) }
    case "data":
      value = Data(base64Encoded: trimmed, options: .ignoreUnknownCharacters).map { .data(Array($0)) }
    case "date":
      value = (try? Date(trimmed, strategy: .iso8601)).map { .date($0.timeIntervalSinceReferenceDate) }
    default: throw problem("\"\(element.prefix(40))\" is no element of property lists")
    }
    guard let value else { throw problem("an element \(element) does not hold one") }
    return value
  }

  private func problem(_ reason: String) -> BatchError {
    BatchError(.badModel, "the property list is damaged: \(reason)")
  }
}
