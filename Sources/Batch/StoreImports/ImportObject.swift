/// An object as a file for an import has it.
struct ImportObject {
  var entity: String?
  var key: Int64?
  var uri: String?
  /// Values of attributes by path.
  var attributes: [ImportValue.Member] = []
  /// Values of relationships.
  var relationships: [ImportValue.Member] = []

  /// Reads a line of JSON. Throws ``ImportProblem``.
  init(json line: UnsafeRawBufferPointer) throws {
    guard case .object(let members) = try JSONParser.value(of: line) else {
      throw ImportProblem("the line is no JSON object")
    }
    for member in members {
      switch (member.name, member.value) {
      case ("entity", .text(let name)): entity = name
      case ("key", .integer(let number)): key = number
      case ("uri", .text(let text)): uri = text
      case ("entity", .null), ("key", .null), ("uri", .null): break
      case ("attributes", .object(let values)): attributes = values.flatMap { Self.leaves($0, inside: "") }
      case ("relationships", .object(let values)): relationships = values
      case ("columns", _), ("link", _), ("table", _):
        throw ImportProblem("the line comes from export --raw, and only exports with a model can be imported")
      default:
        throw ImportProblem(
          "\(member.name) is not what is expected: an object has entity, key, uri, attributes and relationships")
      }
    }
  }

  /// Elements of composite attributes, as `composite.element`. Other objects stay whole.
  private static func leaves(_ member: ImportValue.Member, inside path: String) -> [ImportValue.Member] {
    let name = path + member.name
    guard case .object(let members) = member.value, member.value["externalFile"] == nil,
      member.value["keyedArchive"] == nil, member.value["plist"] == nil
    else { return [.init(name: name, value: member.value)] }
    return members.flatMap { leaves($0, inside: name + ".") }
  }

  /// Reads a line of CSV whose columns have these names. What is a relationship is told by `isRelationship`.
  init(fields: [ImportValue], header: [String], isRelationship: (String) -> Bool) throws {
    guard fields.count == header.count else {
      throw ImportProblem("the line has \(fields.count) fields, and the header \(header.count)")
    }
    var entities: [String: String] = [:]
    for (name, value) in zip(header, fields) {
      switch (name, value) {
      case ("@entity", .field(let text)): entity = text
      case ("@key", .field(let text)):
        guard let number = Int64(text) else { throw ImportProblem("the key \(text) is no whole number") }
        key = number
      case ("@uri", .field(let text)): uri = text
      case ("@entity", _), ("@key", _), ("@uri", _): break
      case (_, .field(let text)) where name.hasSuffix("@entity"): entities[String(name.dropLast(7))] = text
      case _ where name.hasSuffix("@entity"): break
      case _ where isRelationship(name): relationships.append(.init(name: name, value: value))
      default: attributes.append(.init(name: name, value: value))
      }
    }
    for index in relationships.indices {
      guard let entity = entities[relationships[index].name], case .field(let text) = relationships[index].value,
        let key = Int64(text)
      else { continue }
      relationships[index].value = .object([
        .init(name: "entity", value: .text(entity)), .init(name: "key", value: .integer(key)),
      ])
    }
  }
}
