import CoreDataModel
import RunSupport
import Streams

/// Reads what an entity mapping of a mapping file says about attributes, relationships and further objects.
struct RuleReader {
  /// The word for "by the rule for properties that are not mapped": the same name, else the default value (D.2).
  static let same = "$same"

  private static let reserved: Set<String> = [
    "source", "destination", "item", "previous", "manager", "entityPolicy", "entityMapping",
  ]

  let values: RuleValueReader
  private var targets: RuleTargetReader { RuleTargetReader(values: values) }

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
      guard let value = try node.attempt({ node.isSame ? nil : try values.property(node) }) else { continue }
      switch value {
      case nil: mapping.attributeMappings.append(PropertyMapping(name: name))
      case .expression(let expression) where !expression.usesItem:
        mapping.attributeMappings.append(PropertyMapping(name: name, valueExpression: expression))
      case let value?: rules.attributes.append(RuleAttribute(name: name, value: value))
      }
    }
    for (name, node) in try properties(fields["relationships"]) {
      try node.attempt {
        if node.entries != nil {
          rules.relationships.append(RuleRelationship(name: name, target: try targets.read(node)))
        } else {
          let expression = try node.isSame ? nil : values.expression(node)
          mapping.relationshipMappings.append(PropertyMapping(name: name, valueExpression: expression))
        }
      }
    }
    rules.objects = try objects(fields["objects"], userInfo: mapping.userInfo)
    if !rules.isEmpty { mapping.rules = rules }
  }

  private func objects(_ node: MappingNode?, userInfo: [String: String]) throws -> [ObjectRule] {
    var found: [ObjectRule] = []
    // Of rules that cannot be read, too, so that later ones are not faults by them.
    var names: [String] = []
    for node in try node?.list("objects") ?? [] {
      guard let rule = try node.attempt({ try object(node, userInfo: userInfo, known: names) }) else {
        names += node.entries?.filter { $0.name == "as" }.compactMap { $0.node.node.scalar?.string } ?? []
        continue
      }
      guard let rule else { continue }
      found.append(rule)
      names += [rule.givenName].compactMap(\.self)
    }
    return found
  }

  /// Keys and values; a list of names stands for properties that are mapped by name.
  private func properties(_ node: MappingNode?) throws -> [(name: String, node: MappingNode)] {
    guard let node else { return [] }
    guard let elements = node.elements else { return try node.pairs("the properties") }
    return try elements.map { (try $0.text("a property"), $0.same) }
  }

  /// Nil if the user info that it asks for is another one: that is known before the first row.
  private func object(_ node: MappingNode, userInfo: [String: String], known: [String]) throws -> ObjectRule? {
    let fields = try node.fields(.object)
    let kinds = [ObjectRule.Kind.create, .find, .findOrCreate].filter { fields[$0.rawValue] != nil }
    guard kinds.count == 1, let kind = kinds.first, let entity = fields[kind.rawValue] else {
      throw node.failure("an object needs one of create, find and findOrCreate")
    }
    var rule = ObjectRule(kind, entity: try entity.text(kind.rawValue))
    rule.forEach = try fields["forEach"].map { try self.values.collection($0, "forEach") }
    rule.condition = try fields["when"].map(Self.predicate)
    rule.link = try fields["link"]?.text("link")
    rule.takesLast = try fields["last"]?.flag("last") ?? false
    let values = RuleValueReader(tables: values.tables, known: known)
    let targets = RuleTargetReader(values: values)
    rule.key = try fields["by"].map(targets.key)
    rule.attributes =
      try fields["attributes"]?.pairs("attributes").map {
        RuleAttribute(name: $0.name, value: try values.property($0.node))
      } ?? []
    rule.relationships =
      try fields["relationships"]?.pairs("relationships").map {
        RuleRelationship(name: $0.name, target: try targets.read($0.node))
      } ?? []
    rule.givenName = try fields["as"].map { try name($0, known) }
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
    guard rule.kind != .find || rule.link != nil || rule.givenName != nil else {
      throw node.failure("find does nothing without link or as")
    }
  }

  /// The name that a rule gives to its object.
  private func name(_ node: MappingNode, _ known: [String]) throws -> String {
    let name = try node.text("as")
    let isWord = name.utf8.allSatisfy { ($0 | 32 >= 97 && $0 | 32 <= 122) || ($0 >= 48 && $0 < 58) || $0 == 95 }
    guard isWord, name.first?.isLetter == true, !Self.reserved.contains(name) else {
      throw node.failure(
        "as has to be a word of letters and digits, and not \(Self.reserved.sorted().joined(separator: ", "))")
    }
    guard !known.contains(name) else {
      throw node.failure("another object has the name \(name)", "Choose another word")
    }
    return name
  }
}

extension MappingNode {
  fileprivate var isSame: Bool { node.scalar?.string == RuleReader.same }

  /// The place, as if the word for "the same name" stood there.
  fileprivate var same: MappingNode {
    var scalar = node.scalar ?? .init("")
    scalar.string = RuleReader.same
    return MappingNode(node: .scalar(scalar), path: path, faults: faults)
  }
}
