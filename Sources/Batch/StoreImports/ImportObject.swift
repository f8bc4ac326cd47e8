import RunSupport

/// An object as a file for an import has it.
struct ImportObject {
  var entity: String?
  var key: Int64?
  var uri: String?
  /// Values of attributes by path.
  var attributes: [ImportValue.Member] = []
  /// Values of relationships.
  var relationships: [ImportValue.Member] = []
  /// Fields of CSV by the names of their columns: what they are depends on the entity.
  private var columns: [ImportValue.Member] = []
  /// Entities of to-one relationships, from columns `name@entity`.
  private var targets: [String: String] = [:]

  /// Reads a line of JSON. Throws ``ImportProblem``.
  init(json line: UnsafeRawBufferPointer) throws {
    guard case .object(let members) = try JSONParser.value(of: line) else {
      throw ImportProblem(
        "the line is no JSON object: each line is one whole object, without commas or a list around them")
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
}

// Lines of CSV.
extension ImportObject {
  private static let target = "@entity"

  /// Checks the names of columns. `stem` is the entity of lines that do not name theirs. Throws ``ImportProblem``.
  static func header(_ fields: [ImportValue], _ plan: ImportPlan, stem: String) throws -> [String] {
    let names = fields.map { if case .field(let name) = $0 { name } else { "" } }
    guard !names.contains(""), Set(names).count == names.count else {
      throw ImportProblem("the header has a name twice, or a column without name")
    }
    guard !names.contains("@table") else {
      throw ImportProblem("the file comes from export --raw, and only exports with a model can be imported")
    }
    for name in names where name.hasPrefix("@") && !["@entity", "@key", "@uri"].contains(name) {
      throw ImportProblem("the header has the column \(name), and only @entity, @key and @uri begin with @")
    }
    for name in names.compactMap(relationship) {
      guard names.contains(name), plan.entities.values.contains(where: { $0.relationships[name] != nil }) else {
        throw ImportProblem("the header has the column \(name)\(target), and no relationship in a column \(name)")
      }
    }
    try checkProperties(names.filter { !$0.hasPrefix("@") && relationship($0) == nil }, in: names, plan, stem: stem)
    return names
  }

  /// A column that no line of the file can have is wrong once, and not in every line.
  private static func checkProperties(
    _ columns: [String], in names: [String], _ plan: ImportPlan, stem: String
  ) throws {
    guard !names.contains("@entity"), !names.contains("@uri") else {
      let known = plan.entities.values.flatMap { Array($0.attributes.keys) + Array($0.relationships.keys) }
      for name in columns where !plan.entities.values.contains(where: { plan.hasRelative(of: $0, with: name) }) {
        let near = NearName.question(name, in: Set(known).sorted())
        throw ImportProblem("no entity of \(plan.layout.model.name) has a property \(name)\(near)")
      }
      return
    }
    guard let entity = plan.entities[stem] else {
      throw ImportProblem("the file's name is no entity, and the header has no column @entity")
    }
    for name in columns where !plan.hasRelative(of: entity, with: name) {
      throw ImportLinks.unknown(name, entity, in: plan)
    }
  }

  /// The relationship of whose object a column names the entity.
  static func relationship(_ column: String) -> String? {
    column.hasSuffix(target) && column != target ? String(column.dropLast(target.count)) : nil
  }

  /// Reads a line of CSV whose columns have these names. Throws ``ImportProblem``.
  init(fields: [ImportValue], header: [String]) throws {
    guard fields.count == header.count else {
      throw ImportProblem("the line has \(fields.count.counted("field")), and the header \(header.count)")
    }
    for (name, value) in zip(header, fields) {
      switch (name, value) {
      case ("@entity", .field(let text)): entity = text
      case ("@key", .field(let text)):
        guard let number = Int64(text) else { throw ImportProblem("the key \(text) is no whole number") }
        key = number
      case ("@uri", .field(let text)): uri = text
      case ("@entity", _), ("@key", _), ("@uri", _): break
      default:
        guard let relationship = Self.relationship(name) else {
          columns.append(.init(name: name, value: value))
          continue
        }
        if case .field(let text) = value { targets[relationship] = text }
      }
    }
  }

  /// Tells the attributes in columns of CSV from the relationships. Throws ``ImportProblem``.
  mutating func sort(for entity: ImportPlan.Entity, _ plan: ImportPlan) throws {
    for column in columns {
      if entity.attributes[column.name] != nil {
        attributes.append(column)
      } else if entity.relationships[ImportPlan.relationship(in: column.name)] != nil {
        relationships.append(qualified(column))
      } else if column.value != .null || !plan.hasRelative(of: entity, with: column.name) {
        throw ImportLinks.unknown(column.name, entity, in: plan)
      }
    }
    columns = []
    if let name = targets.keys.min() {
      throw ImportProblem("\(name)\(Self.target) names an entity, and \(name) no object of it")
    }
  }

  private mutating func qualified(_ column: ImportValue.Member) -> ImportValue.Member {
    guard case .field(let text) = column.value, let entity = targets.removeValue(forKey: column.name) else {
      return column
    }
    let place: ImportValue.Member =
      Int64(text).map { .init(name: "key", value: .integer($0)) } ?? .init(name: "uri", value: .field(text))
    return .init(name: column.name, value: .object([.init(name: "entity", value: .text(entity)), place]))
  }
}
