import CoreDataModel
import CoreDataStore
import Foundation
import RunSupport
import Streams

/// The names of a model as an XML store writes them: entities in upper case, properties in lower case (F.1).
struct XMLStoreNames {
  struct Entity {
    let plan: ImportPlan.Entity
    /// A row in which no attribute has a value: what a file leaves out is nil.
    let row: [Value]
    let attributes: [String: ImportAttribute]
    /// Positions in ``relationships``.
    let references: [String: Int]
    let relationships: [ImportPlan.Relationship]
  }

  private(set) var entities: [String: Entity] = [:]
  /// By Z_ENT.
  private(set) var byNumber: [Int: Entity] = [:]

  /// Throws ``BatchError`` (`refused`) if two names are one in such a store.
  init(_ plan: ImportPlan) throws {
    for name in plan.layout.entityNames {
      guard let found = plan.entities[name] else { continue }
      let entity = try Self.entity(found)
      guard entities.updateValue(entity, forKey: name.uppercased()) == nil else {
        throw Self.refusal("two entities are named \(name.uppercased()) in an XML store", name)
      }
      byNumber[found.number] = entity
    }
  }

  private static func refusal(_ what: String, _ entity: String) -> BatchError {
    BatchError(
      .refused, what, hint: "Use a version of the model in which names differ in more than case",
      effect: .nothingWritten, entity: entity)
  }

  private static func entity(_ plan: ImportPlan.Entity) throws -> Entity {
    var row = plan.template
    for attribute in plan.attributes.values { row[attribute.column] = .null }
    let relationships = plan.relationships.values.sorted { NameOrder.codeUnits($0.name, $1.name) }
    var (attributes, references): ([String: ImportAttribute], [String: Int]) = ([:], [:])
    for (name, attribute) in plan.attributes { attributes[name.lowercased()] = attribute }
    for (index, relationship) in relationships.enumerated() { references[relationship.name.lowercased()] = index }
    guard
      Set(attributes.keys).union(references.keys).count == plan.attributes.count + relationships.count
    else { throw refusal("two properties have one name in an XML store, which has them in lower case", plan.name) }
    return Entity(
      plan: plan, row: row, attributes: attributes, references: references, relationships: relationships)
  }
}

extension ImportAttribute {
  /// The value of a text of an XML store. Throws ``ImportProblem``.
  func stored(xml text: String, type: String) throws -> Value {
    guard xmlTypes.contains(type.lowercased()) else {
      throw ImportProblem("is of type \(type.prefix(40)) in the file, and \(attribute.type) in the model")
    }
    do { return try stored(value(xml: text)) } catch is ImportProblem {
      throw ImportProblem("is of type \(attribute.type), and its text is no such value")
    }
  }

  /// What an XML store calls the type. Only those in F.1 were seen in files.
  private var xmlTypes: [String] {
    switch attribute.type {
    case .string: ["string"]
    case .integer16: ["int16"]
    case .integer32: ["int32"]
    case .integer64: ["int64"]
    case .boolean: ["bool"]
    case .float: ["float"]
    case .double: ["double"]
    case .decimal: ["decimal"]
    case .date: ["date"]
    case .binaryData: ["binary"]
    case .transformable: ["binary", "transformable"]
    case .uuid: ["uuid"]
    case .uri: ["uri", "url"]
    case .undefined, .objectID, .composite: []
    }
  }

  private func value(xml text: String) throws -> ImportValue {
    if attribute.type == .string { return .text(text) }
    let plain = text.trimmingCharacters(in: .whitespacesAndNewlines)
    switch attribute.type {
    // Bytes go over several lines.
    case .binaryData, .transformable: return .text(text.filter { !$0.isWhitespace })
    case .date, .integer16, .integer32, .integer64, .boolean, .float, .double, .decimal, .uuid, .uri, .undefined,
      .objectID, .composite, .string:
      return .field(plain)
    }
  }
}
