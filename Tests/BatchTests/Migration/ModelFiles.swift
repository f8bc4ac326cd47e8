import Foundation
import Streams

@testable import Batch

/// Writes models and mapping models that a test made in code as Xcode would write them.
enum ModelFiles {
  static func escaped(_ text: String) -> String {
    text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "\"", with: "&quot;")
      .replacingOccurrences(of: "<", with: "&lt;")
  }

  private static func element(_ name: String, _ attributes: [(String, String?)], _ inner: [String] = []) -> String {
    let list = attributes.compactMap { name, value in value.map { " \(name)=\"\(escaped($0))\"" } }.joined()
    return inner.isEmpty ? "<\(name)\(list)/>" : "<\(name)\(list)>\(inner.joined(separator: "\n"))</\(name)>"
  }

  private static func flag(_ isSet: Bool) -> String? { isSet ? "YES" : nil }

  private static let typeNames: [AttributeType: String] = [
    .integer16: "Integer 16", .integer32: "Integer 32", .integer64: "Integer 64", .decimal: "Decimal",
    .double: "Double",
    .float: "Float", .string: "String", .boolean: "Boolean", .date: "Date", .binaryData: "Binary", .uuid: "UUID",
    .uri: "URI",
  ]

  private static func userInfo(_ entries: [String: String]) -> [String] {
    guard !entries.isEmpty else { return [] }
    return [
      element(
        "userInfo", [],
        entries.sorted { $0.key < $1.key }.map { element("entry", [("key", $0.key), ("value", $0.value)]) })
    ]
  }

  private static func attribute(_ attribute: AttributeDescription) -> String {
    let text: String? =
      switch attribute.defaultValue {
      case .integer(let value): "\(value)"
      case .real(let value): "\(value)"
      case .text(let value): value
      default: nil
      }
    return element(
      "attribute",
      [
        ("name", attribute.name), ("optional", flag(attribute.isOptional)),
        ("attributeType", typeNames[attribute.type]), ("defaultValueString", text),
        ("elementID", attribute.renamingIdentifier),
      ], userInfo(attribute.userInfo))
  }

  private static func relationship(_ relationship: RelationshipDescription) -> String {
    element(
      "relationship",
      [
        ("name", relationship.name), ("optional", flag(relationship.isOptional)),
        ("toMany", flag(relationship.isToMany)), ("maxCount", relationship.isToMany ? nil : "1"),
        ("ordered", flag(relationship.isOrdered)), ("deletionRule", "Nullify"),
        ("destinationEntity", relationship.destinationEntity), ("inverseName", relationship.inverseName),
        ("elementID", relationship.renamingIdentifier),
      ])
  }

  private static func entity(_ entity: EntityDescription) -> String {
    element(
      "entity",
      [
        ("name", entity.name), ("parentEntity", entity.superentity), ("isAbstract", flag(entity.isAbstract)),
        ("elementID", entity.renamingIdentifier),
      ],
      entity.attributes.map(attribute) + entity.relationships.map(relationship) + constraints(entity) + userInfo(entity.userInfo))
  }

  private static func constraints(_ entity: EntityDescription) -> [String] {
    guard !entity.uniquenessConstraints.isEmpty else { return [] }
    let lists = entity.uniquenessConstraints.map { names in
      element("uniquenessConstraint", [], names.map { element("constraint", [("value", $0)]) })
    }
    return [element("uniquenessConstraints", [], lists)]
  }

  /// Writes the versions into one `.xcdatamodeld`; the last one is the current version.
  static func write(_ versions: [ManagedObjectModel], to path: String) throws {
    for version in versions {
      let folder = "\(path)/\(version.name).xcdatamodel"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      let model = element(
        "model", [("type", "com.apple.IDECoreDataModeler.DataModel"), ("documentVersion", "1.0")],
        version.entities.map(entity))
      try "<?xml version=\"1.0\"?>\n\(model)".write(toFile: folder + "/contents", atomically: false, encoding: .utf8)
    }
    let current = ["_XCCurrentVersionName": "\(versions[versions.count - 1].name).xcdatamodel"]
    try PropertyListSerialization.data(fromPropertyList: current, format: .xml, options: 0)
      .write(to: URL(fileURLWithPath: path + "/.xccurrentversion"))
  }

  /// Writes a mapping model. Property mappings without expression are the default; a relationship's may be the instances of
  /// a mapping.
  static func write(_ mapping: MappingModel, to path: String) throws {
    var objects: [String] = []
    var next = 2
    func object(_ type: String, _ attributes: [(String, String?)], _ links: [(String, [String])], id: String) {
      let texts = attributes.compactMap { name, value in
        value.map { "<attribute name=\"\(name)\" type=\"string\">\(escaped($0))</attribute>" }
      }
      let references = links.map { "<relationship name=\"\($0)\" idrefs=\"\($1.joined(separator: " "))\"/>" }
      objects.append("<object type=\"\(type)\" id=\"\(id)\">\((texts + references).joined())</object>")
    }
    func new() -> String {
      defer { next += 1 }
      return "z\(next)"
    }
    func properties(_ mappings: [PropertyMapping], _ type: String) -> [String] {
      mappings.map { property in
        let id = new()
        var origin: (mapping: String, path: String)?
        if case .function(_, _, let arguments)? = property.valueExpression, arguments.count == 2,
          case .constant(.text(let name)) = arguments[0], case .keyPath(_, let path) = arguments[1]
        {
          origin = (name, "$source." + path.joined(separator: "."))
        }
        object(
          type, [("name", property.name), ("sourcemappingname", origin?.mapping), ("sourcekeypath", origin?.path)], [],
          id: id)
        return id
      }
    }
    var entities: [String] = []
    for (number, entity) in mapping.entityMappings.enumerated() {
      let id = new()
      entities.append(id)
      let info = entity.userInfo.isEmpty ? nil : entity.userInfo
      let archive = try info.map {
        try NSKeyedArchiver.archivedData(withRootObject: $0 as NSDictionary, requiringSecureCoding: false)
          .base64EncodedString()
      }
      object(
        "XDDEVENTITYMAPPING",
        [
          ("name", entity.name), ("sourcename", entity.sourceEntity), ("destinationname", entity.destinationEntity),
          ("mappingnumber", "\(number + 1)"), ("migrationpolicyclassname", entity.policyClassName),
          ("sourcefilterpredicatestring", entity.filterPredicate), ("userinfodata", archive),
        ],
        [
          ("mappingmodel", ["z1"]),
          ("attributemappings", properties(entity.attributeMappings, "XDDEVATTRIBUTEMAPPING")),
          ("relationshipmappings", properties(entity.relationshipMappings, "XDDEVRELATIONSHIPMAPPING")),
        ], id: id)
    }
    object(
      "XDDEVMAPPINGMODEL",
      [
        ("sourcemodelpath", mapping.sourceModelName.map { "M/\($0).xcdatamodel" }),
        ("destinationmodelpath", mapping.destinationModelName.map { "M/\($0).xcdatamodel" }),
      ], [("entitymappings", entities)], id: "z1")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try "<?xml version=\"1.0\"?>\n<database>\(objects.joined(separator: "\n"))</database>"
      .write(toFile: path + "/xcmapping.xml", atomically: false, encoding: .utf8)
  }
}
