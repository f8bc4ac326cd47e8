import Codecs
import Foundation
import RunSupport

/// Reads the objects of an `xcmapping.xml`: a store of Core Data in XML (D.1).
final class MappingXMLReader: XMLEvents {
  /// One object: texts of its attributes and the identifiers that its relationships name.
  struct Object {
    var type: String
    var attributes: [String: String] = [:]
    var relationships: [String: [String]] = [:]
  }

  /// The objects by identifier, and the identifiers in the order of the file.
  private(set) var objects: [String: Object] = [:]
  private(set) var order: [String] = []

  private var open: [String] = []
  private var identifier = ""
  private var attribute: String?

  static func read(_ path: String) throws -> MappingXMLReader {
    let reader = MappingXMLReader()
    try XMLFile.parse(path, code: .badMapping, into: reader)
    return reader
  }

  /// What can be read of a file that is damaged.
  static func readable(_ path: String) -> MappingXMLReader {
    let reader = MappingXMLReader()
    try? XMLFile.parse(path, code: .badMapping, into: reader)
    return reader
  }

  func start(_ element: String, _ attributes: [String: String]) throws {
    let parent = open.last
    open.append(element)
    switch (parent, element) {
    case (nil, "database"): break
    case (nil, _): throw BatchError(.badMapping, "the file is no mapping model")
    case ("database", "object"):
      guard let type = attributes["type"], let id = attributes["id"], objects[id] == nil else {
        throw BatchError(.badMapping, "an object has no type, no identifier, or another object's")
      }
      identifier = id
      order.append(id)
      objects[id] = Object(type: type)
    case ("object", "attribute"): attribute = attributes["name"]
    case ("object", "relationship"):
      guard let name = attributes["name"], let references = attributes["idrefs"] else { return }
      objects[identifier]?.relationships[name] = references.split(separator: " ").map(String.init)
    default: break
    }
  }

  func text(_ characters: String) {
    guard let attribute else { return }
    objects[identifier]?.attributes[attribute, default: ""] += characters
  }

  func end(_ element: String) throws {
    open.removeLast()
    if element == "attribute" { attribute = nil }
  }
}
