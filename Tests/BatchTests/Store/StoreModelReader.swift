import Foundation
import FoundationXML

@testable import CoreDataModel

/// Reads just enough of a model file to predict a store: XML `contents` and decoded JSON.
enum StoreModelReader {
  static func read(_ path: String) throws -> ManagedObjectModel {
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    return path.hasSuffix(".json") ? try json(data, name: path) : try xml(data, name: path)
  }

  private static func xml(_ data: Data, name: String) throws -> ManagedObjectModel {
    let root = try XMLDocument(data: data).rootElement()
    let composites = (root?.elements(forName: "composite") ?? []).reduce(into: [String: XMLElement]()) {
      $0[$1.text("name") ?? ""] = $1
    }
    let entities = (root?.elements(forName: "entity") ?? []).map { element in
      var entity = EntityDescription(name: element.text("name") ?? "")
      entity.superentity = element.text("parentEntity")
      entity.isAbstract = element.flag("isAbstract")
      entity.attributes = element.elements(forName: "attribute").map { attribute($0, composites) }
      entity.relationships = element.elements(forName: "relationship").map(relationship)
      entity.fetchedProperties = element.elements(forName: "fetchedProperty").map {
        FetchedPropertyDescription(name: $0.text("name") ?? "")
      }
      for list in element.elements(forName: "uniquenessConstraints") {
        entity.uniquenessConstraints += list.elements(forName: "uniquenessConstraint").map(values)
      }
      for list in element.elements(forName: "compoundIndexes") {
        entity.compoundIndexes += list.elements(forName: "compoundIndex").map(values)
      }
      entity.indexes = element.elements(forName: "fetchIndex").map(fetchIndex)
      return entity
    }
    return ManagedObjectModel(name: name, entities: entities)
  }

  private static func values(_ element: XMLElement) -> [String] {
    (element.children ?? []).compactMap { ($0 as? XMLElement)?.text("value") }
  }

  private static func fetchIndex(_ element: XMLElement) -> EntityDescription.FetchIndex {
    let elements = element.elements(forName: "fetchIndexElement").map { part in
      EntityDescription.FetchIndex.Element(
        property: part.text("property") ?? "", type: part.text("type") ?? "Binary",
        isAscending: part.text("order") != "descending")
    }
    return EntityDescription.FetchIndex(name: element.text("name") ?? "", elements: elements)
  }

  private static let types: [String: AttributeType] = [
    "Integer 16": .integer16, "Integer 32": .integer32, "Integer 64": .integer64, "Decimal": .decimal,
    "Double": .double,
    "Float": .float, "String": .string, "Boolean": .boolean, "Date": .date, "Binary": .binaryData, "UUID": .uuid,
    "URI": .uri, "Transformable": .transformable, "Composite": .composite,
  ]

  private static func attribute(_ element: XMLElement, _ composites: [String: XMLElement]) -> AttributeDescription {
    var attribute = AttributeDescription(
      name: element.text("name") ?? "", type: types[element.text("attributeType") ?? ""] ?? .undefined)
    attribute.isTransient = element.flag("transient")
    attribute.isIndexed = element.flag("indexed")
    if attribute.type == .composite, let composite = composites[element.text("composite") ?? ""] {
      attribute.elements = composite.elements(forName: "attribute").map { self.attribute($0, composites) }
    }
    return attribute
  }

  private static func relationship(_ element: XMLElement) -> RelationshipDescription {
    let maximum = element.flag("toMany") ? Int32(element.text("maxCount") ?? "") ?? 0 : 1
    var relationship = RelationshipDescription(
      name: element.text("name") ?? "", destinationEntity: element.text("destinationEntity") ?? "",
      inverseName: element.text("inverseName"), maxCount: maximum)
    relationship.isTransient = element.flag("transient")
    relationship.isOrdered = element.flag("ordered")
    return relationship
  }

  private static func json(_ data: Data, name: String) throws -> ManagedObjectModel {
    let root = try JSONSerialization.jsonObject(with: data) as? [String: Any]
    let described = root?["entities"] as? [String: [String: Any]] ?? [:]
    let entities = described.map { name, fields in
      var entity = EntityDescription(name: name)
      entity.superentity = fields["parent"] as? String
      for (name, value) in fields["attributes"] as? [String: [String: Any]] ?? [:] {
        var attribute = AttributeDescription(name: name, type: types[value["type"] as? String ?? ""] ?? .undefined)
        attribute.isTransient = value["transient"] as? Bool ?? false
        entity.attributes.append(attribute)
      }
      for (name, value) in fields["relationships"] as? [String: [String: Any]] ?? [:] {
        var relationship = RelationshipDescription(
          name: name, destinationEntity: value["destination"] as? String ?? "",
          inverseName: value["inverse"] as? String,
          maxCount: (value["toMany"] as? Bool ?? false) ? 0 : 1)
        relationship.isTransient = value["transient"] as? Bool ?? false
        relationship.isOrdered = value["ordered"] as? Bool ?? false
        entity.relationships.append(relationship)
      }
      return entity
    }
    return ManagedObjectModel(name: name, entities: entities)
  }
}

extension XMLElement {
  fileprivate func text(_ name: String) -> String? { attribute(forName: name)?.stringValue }
  fileprivate func flag(_ name: String) -> Bool { ["YES", "true"].contains(text(name) ?? "") }
}
