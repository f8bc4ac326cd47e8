import CoreDataModel
import Foundation

/// Reads what a lock says of an entity.
enum LockedEntityReader {
  private static let entity = MappingFileObject(
    title: "an entity", definition: "entity",
    keys: ["hash", "as", "abstract", "parent", "modifier", "formerly", "unique", "properties"])
  private static let attribute = MappingFileObject(
    title: "an attribute", definition: "attribute",
    keys: [
      "type", "optional", "readOnly", "external", "preserved", "derived", "filter", "modifier", "formerly", "elements",
    ])
  private static let element = MappingFileObject(
    title: "an element", definition: "element", keys: ["name"] + attribute.keys)
  private static let relationship = MappingFileObject(
    title: "a relationship", definition: "relationship",
    keys: ["toOne", "toMany", "min", "max", "ordered", "optional", "readOnly", "inverse", "modifier", "formerly"])

  /// By the words that name them.
  private static let types = Dictionary(
    uniqueKeysWithValues: (0...AttributeType.composite.rawValue).compactMap(AttributeType.init).map { ("\($0)", $0) })

  /// The entity, and the hash that it has to have. `earlier` has the versions before, one of which may say what it is.
  static func read(
    _ name: String, _ node: MappingNode, after earlier: [String: ManagedObjectModel]
  ) throws -> (entity: EntityDescription, hash: [UInt8]) {
    let fields = try node.fields(entity)
    guard let hash = try fields["hash"].flatMap({ Data(base64Encoded: try $0.text("hash")) }) else {
      throw node.failure("the entity \(name) has no hash in base64")
    }
    if let version = try fields.text("as") {
      guard fields.count == 2, let found = earlier[version]?.entity(name) else {
        throw node.failure("no version \(version) before this one says what \(name) is")
      }
      return (found, [UInt8](hash))
    }
    var found = EntityDescription(
      name: name, superentity: try fields.text("parent"), isAbstract: try fields.flag("abstract"))
    found.versionHashModifier = try fields.text("modifier")
    found.renamingIdentifier = try fields.text("formerly")
    found.uniquenessConstraints =
      try fields["unique"]?.list("unique").map { try $0.list("a constraint").map { try $0.text("a name") } } ?? []
    for (property, node) in try fields["properties"]?.pairs("properties") ?? [] {
      if node.entries?.contains(where: { $0.name == "type" }) == true {
        found.attributes.append(try attribute(property, node.fields(attribute), at: node))
      } else {
        found.relationships.append(try relationship(property, node))
      }
    }
    return (found, [UInt8](hash))
  }

  private static func attribute(
    _ name: String, _ fields: [String: MappingNode], at node: MappingNode
  ) throws -> AttributeDescription {
    guard let word = try fields.text("type"), let type = types[word] else {
      throw node.failure(
        "\(name) has no type that is known", "Known are \(types.keys.sorted().joined(separator: ", "))")
    }
    var found = AttributeDescription(name: name, type: type, isOptional: try fields.flag("optional"))
    found.isReadOnly = try fields.flag("readOnly")
    found.allowsExternalBinaryDataStorage = try fields.flag("external")
    found.preservesValueInHistoryOnDeletion = try fields.flag("preserved")
    found.derivationExpression = try fields.text("derived")
    found.derivationFilter = try fields.text("filter")
    found.versionHashModifier = try fields.text("modifier")
    found.renamingIdentifier = try fields.text("formerly")
    found.elements =
      try fields["elements"]?.list("elements").map { node in
        let fields = try node.fields(element)
        guard let name = try fields.text("name") else { throw node.failure("an element has no name") }
        return try attribute(name, fields, at: node)
      } ?? []
    return found
  }

  private static func relationship(_ name: String, _ node: MappingNode) throws -> RelationshipDescription {
    let fields = try node.fields(relationship)
    let (one, many) = (try fields.text("toOne"), try fields.text("toMany"))
    guard let destination = one ?? many, one == nil || many == nil else {
      throw node.failure("\(name) needs one of type, toOne and toMany")
    }
    let most = try fields.number("max") ?? (one == nil ? 0 : 1)
    guard (most == 1) == (one != nil) else { throw node.failure("\(name) is to-one if its max is 1, and else to-many") }
    var found = RelationshipDescription(
      name: name, destinationEntity: destination, inverseName: try fields.text("inverse"), maxCount: most)
    found.minCount = try fields.number("min") ?? 0
    found.isOrdered = try fields.flag("ordered")
    found.isOptional = try fields.flag("optional")
    found.isReadOnly = try fields.flag("readOnly")
    found.versionHashModifier = try fields.text("modifier")
    found.renamingIdentifier = try fields.text("formerly")
    return found
  }
}

extension [String: MappingNode] {
  fileprivate func text(_ key: String) throws -> String? { try self[key].map { try $0.text(key) } }

  fileprivate func flag(_ key: String) throws -> Bool { try self[key]?.flag(key) ?? false }

  fileprivate func number(_ key: String) throws -> Int32? {
    try self[key].map { node in
      guard let number = Int32(exactly: try node.integer(key)) else { throw node.failure("\(key) is out of range") }
      return number
    }
  }
}
