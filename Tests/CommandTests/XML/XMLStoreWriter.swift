import Foundation

@testable import BatchCommand
@testable import CoreDataModel
@testable import Migrations
@testable import StoreImports

/// Writes XML stores as Core Data does (F.1), from lines of an export with `--to-many --dates seconds`. Shares no code
/// with the reader.
struct XMLStoreWriter {
  let model: ManagedObjectModel
  var uuid = "0C5F6F0A-0C8E-4B0E-9F63-3D1B7C9A2E41"

  /// An object of an export.
  struct Object {
    var entity: String
    var key: Int64
    var attributes: [ImportValue.Member]
    /// Keys of the objects to which a relationship leads, in their order.
    var relationships: [String: [Int64]]
  }

  /// The objects of an export, with keys that are unique in the whole store, as an XML store has them.
  func objects(_ lines: String) throws -> [Object] {
    try lines.split(separator: "\n").map { line in
      let value = try Array(line.utf8).withUnsafeBytes { try JSONParser.value(of: $0) }
      guard case .text(let entity)? = value["entity"], case .object(let attributes)? = value["attributes"] else {
        throw CommandProcess.Missing(description: "no object: \(line)")
      }
      var links: [String: [Int64]] = [:]
      for relationship in model.relationships(of: entity) {
        let found = value["relationships"]?[relationship.name] ?? .null
        let members: [ImportValue] = if case .list(let list) = found { list } else { found["key"].map { [$0] } ?? [] }
        links[relationship.name] = members.map { key($0, of: relationship.destinationEntity) }
      }
      return Object(
        entity: entity, key: key(value["key"], of: entity), attributes: attributes, relationships: links)
    }
  }

  private func key(_ key: ImportValue?, of entity: String) -> Int64 {
    let roots = Set(model.entities.map { model.root(of: $0.name) }).sorted()
    guard case .integer(let number)? = key else { return 0 }
    return number * Int64(roots.count) + Int64(roots.firstIndex(of: model.root(of: entity)) ?? 0)
  }

  /// Lines that make an SQLite store of the same objects. Each link is there once, where it says more.
  func lines(_ objects: [Object]) -> String {
    let entities = Dictionary(uniqueKeysWithValues: objects.map { ($0.key, $0.entity) })
    return objects.map { object in
      let values = object.attributes.map { "\"\($0.name)\":\(Self.json($0.value))" }
      let links = model.relationships(of: object.entity).map { relationship in
        let found = (object.relationships[relationship.name] ?? []).map {
          "{\"entity\":\"\(entities[$0] ?? "")\",\"key\":\($0)}"
        }
        let list = found.joined(separator: ",")
        return "\"\(relationship.name)\":\(relationship.isToMany ? "[\(list)]" : found.first ?? "null")"
      }
      return "{\"entity\":\"\(object.entity)\",\"key\":\(object.key),\"attributes\":{\(values.joined(separator: ","))},"
        + "\"relationships\":{\(links.joined(separator: ","))}}\n"
    }.joined()
  }

  private static func json(_ value: ImportValue) -> String {
    switch value {
    case .null: return "null"
    case .boolean(let flag): return "\(flag)"
    case .integer(let integer): return "\(integer)"
    case .real(let double, _): return "\(double)"
    case .text(let text), .field(let text):
      return (try? JSONOutput.line([text]).dropFirst().dropLast()).map(String.init) ?? ""
    case .list, .object: return "null"
    }
  }

  func text(_ objects: [Object]) -> String {
    let largest = objects.map(\.key).max() ?? 101
    return header(nextObjectID: largest) + objects.map(element).joined() + "</database>"
  }

  func header(nextObjectID: Int64) -> String {
    let hashes = model.versionHashes.sorted { $0.key < $1.key }.map {
      "<key>\($0.key)</key>\n<data>\n\t\t\(Data($0.value).base64EncodedString())\n\t\t</data>\n"
    }
    return """
      <?xml version="1.0" standalone="yes"?>
      <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

      <database>
          <databaseInfo>
              <version>134481920</version>
              <UUID>\(uuid)</UUID>
              <nextObjectID>\(nextObjectID)</nextObjectID>
              <metadata>
                  <plist version="1.0"><dict>
                  <key>Owner</key><string>a &amp; b</string>
                  <key>NSPersistenceFrameworkVersion</key><integer>754</integer>
                  <key>NSStoreModelVersionHashes</key><dict>\(hashes.joined())</dict>
                  <key>NSStoreModelVersionHashesVersion</key><integer>3</integer>
                  <key>NSStoreModelVersionIdentifiers</key><array><string></string></array>
                  </dict></plist>
              </metadata>
          </databaseInfo>

      """
  }

  private func element(_ object: Object) -> String {
    var lines = ["<object type=\"\(object.entity.uppercased())\" id=\"z\(object.key)\">"]
    for attribute in model.attributes(of: object.entity) {
      guard let value = object.attributes.first(where: { $0.name == attribute.name })?.value,
        let (type, text) = Self.value(value, attribute.type)
      else { continue }
      lines.append("    <attribute name=\"\(attribute.name.lowercased())\" type=\"\(type)\">\(text)</attribute>")
    }
    for relationship in model.relationships(of: object.entity) {
      let ids = (object.relationships[relationship.name] ?? []).map { "z\($0)" }.joined(separator: " ")
      lines.append(
        "    <relationship name=\"\(relationship.name.lowercased())\" type=\"\(relationship.isToMany ? "0/0" : "1/1")\""
          + " destination=\"\(relationship.destinationEntity.uppercased())\"\(ids.isEmpty ? "" : " idrefs=\"\(ids)\"")></relationship>"
      )
    }
    return (lines + ["</object>\n"]).map { "    " + $0 }.joined(separator: "\n")
  }

  /// The type and the text of a value; nil for one that is not written.
  private static func value(_ value: ImportValue, _ type: AttributeType) -> (type: String, text: String)? {
    let text: String
    switch value {
    case .null, .list, .object: return nil
    case .boolean(let flag): text = flag ? "1" : "0"
    case .integer(let integer): text = "\(integer)"
    case .real(let double, _): text = type == .date ? String(format: "%.20f", double) : "\(double)"
    case .text(let words), .field(let words): text = type == .string ? escaped(words) : words
    }
    switch type {
    case .string: return ("string", text)
    case .integer16: return ("int16", text)
    case .integer32: return ("int32", text)
    case .integer64: return ("int64", text)
    case .boolean: return ("bool", text)
    case .double: return ("double", text)
    case .float: return ("float", text)
    case .decimal: return ("decimal", text)
    case .date: return ("date", text)
    case .uuid: return ("UUID", text)
    case .uri: return ("URI", text)
    case .binaryData, .transformable: return ("binary", text)
    case .undefined, .objectID, .composite: return nil
    }
  }

  /// What stands in a string for characters that are not written as they are.
  static func escaped(_ text: String) -> String {
    var found = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": found += #"\\"#
      case "<", ">", "&", "\u{0}"..."\u{8}", "\u{B}"..."\u{1F}", "\u{10000}"...:
        for unit in String(scalar).utf16 { found += "\\u" + String(format: "%04x", unit.byteSwapped) }
      default: found.unicodeScalars.append(scalar)
      }
    }
    return found
  }
}
