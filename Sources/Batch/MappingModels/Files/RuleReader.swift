import CoreDataModel
import RunSupport
import Streams

/// Reads what an entity mapping of a mapping file says about attributes, relationships and further objects.
struct RuleReader {
  /// The word for "by the rule for properties that are not mapped": the same name, else the default value (D.2).
  static let same = "$same"

  let values: RuleValueReader

  init(tables: [String: MappingTable]) { values = RuleValueReader(tables: tables) }

  /// A predicate in predicate format.
  static func predicate(_ node: MappingNode) throws -> Predicate {
    let text = try node.text("a predicate")
    do { return try Predicate(format: text) } catch let error as BatchError {
      throw node.failure(error.message, error.hint)
    }
  }

  func read(_ fields: [String: MappingNode], into mapping: inout EntityMapping) throws {
    var rules = MappingRules()
    for (name, node) in try properties(fields["attributes"]) {
      let value = node.isSame ? nil : try values.read(node)
      switch value {
      case nil: mapping.attributeMappings.append(PropertyMapping(name: name))
      case .expression(let expression) where !expression.usesItem:
        mapping.attributeMappings.append(PropertyMapping(name: name, valueExpression: expression))
      case let value?: rules.attributes.append(RuleAttribute(name: name, value: value))
      }
    }
    for (name, node) in try properties(fields["relationships"]) {
      if node.entries != nil {
        rules.relationships.append(RuleRelationship(name: name, target: try target(node)))
      } else {
        let expression = try node.isSame ? nil : values.expression(node)
        mapping.relationshipMappings.append(PropertyMapping(name: name, valueExpression: expression))
      }
    }
    for node in try fields["objects"]?.list("objects") ?? [] {
      if let rule = try object(node, userInfo: mapping.userInfo) { rules.objects.append(rule) }
    }
    if !rules.isEmpty { mapping.rules = rules }
  }

  /// Keys and values; a list of names stands for properties that are mapped by name.
  private func properties(_ node: MappingNode?) throws -> [(name: String, node: MappingNode)] {
    guard let node else { return [] }
    guard let elements = node.elements else { return try node.pairs("the properties") }
    return try elements.map { (try $0.text("a property"), $0.same) }
  }

  /// Nil if the user info that it asks for is another one: that is known before the first row.
  private func object(_ node: MappingNode, userInfo: [String: String]) throws -> ObjectRule? {
    let fields = try node.fields(.object)
    let kinds = [ObjectRule.Kind.create, .find, .findOrCreate].filter { fields[$0.rawValue] != nil }
    guard kinds.count == 1, let kind = kinds.first, let entity = fields[kind.rawValue] else {
      throw node.failure("an object needs one of create, find and findOrCreate")
    }
    var rule = ObjectRule(kind, entity: try entity.text(kind.rawValue))
    rule.forEach = try fields["forEach"].map { try path(try values.expression($0), of: "source", $0) }
    rule.condition = try fields["when"].map(Self.predicate)
    rule.link = try fields["link"]?.text("link")
    rule.takesLast = try fields["last"]?.flag("last") ?? false
    rule.key = try fields["by"].map(key)
    rule.attributes =
      try fields["attributes"]?.pairs("attributes").map {
        RuleAttribute(name: $0.name, value: try values.read($0.node))
      } ?? []
    rule.relationships =
      try fields["relationships"]?.pairs("relationships").map {
        RuleRelationship(name: $0.name, target: try target($0.node))
      } ?? []
    try check(rule, fields: fields, node: node)
    let wanted = try fields["userInfo"]?.pairs("userInfo").map { ($0.name, try $0.node.text($0.name)) } ?? []
    return wanted.allSatisfy { userInfo[$0.0] == $0.1 } ? rule : nil
  }

  private func check(_ rule: ObjectRule, fields: [String: MappingNode], node: MappingNode) throws {
    guard (rule.kind == .create) == (rule.key == nil) else {
      throw node.failure(
        rule.kind == .create ? "create has no by" : "\(rule.kind.rawValue) needs by",
        "by holds one attribute and the value that it is found by")
    }
    guard rule.kind == .find || fields["last"] == nil else { throw node.failure("last belongs to find") }
    guard rule.kind != .find || (rule.attributes.isEmpty && rule.relationships.isEmpty) else {
      throw node.failure("what is found is not changed", "Leave out attributes and relationships, or use findOrCreate")
    }
    guard rule.kind != .find || rule.link != nil else { throw node.failure("find does nothing without link") }
  }

  private func key(_ node: MappingNode) throws -> RuleAttribute {
    let pairs = try node.pairs("by")
    guard pairs.count == 1 else { throw node.failure("by has to be one attribute and its value") }
    let value = try values.read(pairs[0].node)
    if let kind = value.perRowKinds.first {
      throw pairs[0].node.failure(
        "\(kind): per-row is new for each row, so by \(pairs[0].name) finds no object",
        "Give by an attribute whose value the object has, and set \(pairs[0].name) in attributes")
    }
    return RuleAttribute(name: pairs[0].name, value: value)
  }

  /// `$destination`, `$item`, `$source.name`, `$item.name`, or `{find:, by:}`.
  private func target(_ node: MappingNode) throws -> RuleTarget {
    if node.entries != nil {
      let fields = try node.fields(.target)
      guard let entity = fields["find"], let by = fields["by"] else { throw node.failure("a target needs find and by") }
      return .found(
        entity: try entity.text("find"), try key(by), takesLast: try fields["last"]?.flag("last") ?? false)
    }
    switch try values.expression(node) {
    case .variable("destination"): return .destination
    case .variable("item"): return .item
    case .keyPath(.variable("source"), let path) where path.count == 1: return .related(path[0], ofItem: false)
    case .keyPath(.variable("item"), let path) where path.count == 1: return .related(path[0], ofItem: true)
    default:
      throw node.failure(
        "this leads to no objects", "Allowed are $destination, $item, $source.NAME, $item.NAME, and find with by")
    }
  }

  private func path(_ expression: Expression, of variable: String, _ node: MappingNode) throws -> String {
    guard case .keyPath(.variable(variable), let path) = expression, path.count == 1 else {
      throw node.failure("forEach needs a relationship of the source", "Write $source.NAME")
    }
    return path[0]
  }
}

extension MappingNode {
  fileprivate var isSame: Bool { node.scalar?.string == RuleReader.same }

  /// The place, as if the word for "the same name" stood there.
  fileprivate var same: MappingNode {
    var scalar = node.scalar ?? .init("")
    scalar.string = RuleReader.same
    return MappingNode(node: .scalar(scalar), path: path)
  }
}
