import Foundation
import Streams

@testable import Codecs
@testable import CoreDataModel
@testable import MappingModels

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

  /// Writes the versions into one `.xcdatamodeld`; the last one is the current version.
  static func write(_ versions: [ManagedObjectModel], to path: String) throws {
    let bundle = ModelBundle(path: path, name: "Model", versions: versions, currentVersion: versions.last?.name)
    try ModelPackageWriter.write(bundle, to: path)
  }

  /// Writes a mapping model. Property mappings without expression are the default; others are
  /// written as the instances of a mapping in Xcode's fields, or as an archive.
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
        let expression = property.valueExpression
        var origin: (mapping: String, path: String)?
        if case .function(_, _, let arguments)? = expression, arguments.count == 2,
          case .constant(.text(let name)) = arguments[0],
          case .keyPath(_, let path) = arguments[1],
          expression == .destinationInstances(ofMapping: name, source: arguments[1])
        {
          origin = (name, "$source." + path.joined(separator: "."))
        }
        var builder = ArchiveBuilder()
        let root = origin == nil ? expression.map { builder.expression($0) } : nil
        let archive = root.map { builder.bytes(root: $0) }
        object(
          type,
          [
            ("name", property.name), ("sourcemappingname", origin?.mapping), ("sourcekeypath", origin?.path),
            ("valueexpressiondata", archive.map { Data($0).base64EncodedString() }),
          ], [], id: id)
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
