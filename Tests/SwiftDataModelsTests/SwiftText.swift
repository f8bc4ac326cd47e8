import CoreDataModel
import RunSupport

@testable import SwiftDataModels

/// Sources that tests write down.
struct SwiftText {
  var files: [String: String]
  var types: [String] = []
  var flags: [String] = []

  init(_ text: String, types: [String] = [], flags: [String] = []) {
    (files, self.types, self.flags) = (["Models.swift": text], types, flags)
  }

  init(files: [String: String]) { self.files = files }

  func schema() throws -> SwiftDataSchema {
    let texts = files.sorted { $0.key < $1.key }.map { SourceText(path: $0.key, bytes: Array($0.value.utf8)) }
    return try SwiftDataReader(types: types, flags: flags).schema(texts: texts)
  }

  /// The only version.
  func model() throws -> ManagedObjectModel {
    let versions = try schema().versions
    guard versions.count == 1 else { throw BatchError(.failed, "\(versions.count) versions") }
    return versions[0]
  }

  /// An entity of the only version.
  func entity(_ name: String) throws -> EntityDescription {
    guard let found = try model().entity(name) else { throw BatchError(.failed, "no entity \(name)") }
    return found
  }

  /// What is wrong with the sources; nil if nothing is.
  var problem: String? {
    do {
      _ = try schema()
      return nil
    } catch { return "\(error)" }
  }

  /// One class named `A` with these members.
  static func members(_ text: String, _ rest: String = "") -> SwiftText {
    SwiftText("import SwiftData\n@Model final class A {\n\(text)\n}\n\(rest)")
  }

  /// The attributes of that class as texts: name, type, `?`, and elements of composites.
  func attributes() throws -> [String] { try entity("A").attributes.map(Self.text) }

  static func text(_ attribute: AttributeDescription) -> String {
    let elements = attribute.elements.isEmpty ? "" : "(\(attribute.elements.map(text).joined(separator: ", ")))"
    return "\(attribute.name) \(attribute.type)\(elements)\(attribute.isOptional ? "?" : "")"
  }
}
