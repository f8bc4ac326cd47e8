import CoreDataModel
import RunSupport

/// Reads what a mapping file says of entities. One block may be of several.
struct EntityMappingReader {
  let tables: [String: MappingTable]

  /// The entity mappings of a block, in the order of its entities.
  func read(_ node: MappingNode) throws -> [EntityMapping] {
    guard node.entries != nil else {
      let name = try node.text("an entity mapping")
      var mapping = EntityMapping(sourceEntity: name, destinationEntity: name)
      mapping.mapsByName = true
      return [mapping]
    }
    let fields = try node.fields(.entity)
    return try named(fields, node).map { try filled($0, by: fields, at: node) }
  }

  private func filled(
    _ bare: EntityMapping, by fields: [String: MappingNode], at node: MappingNode
  ) throws -> EntityMapping {
    var mapping = bare
    node.faults?.entity = mapping.name
    defer { node.faults?.entity = nil }
    do {
      mapping.takesSubentities = try fields["subentities"]?.flag("subentities") ?? false
      guard mapping.sourceEntity != nil || !mapping.takesSubentities else {
        throw node.failure("subentities are those of a source entity", "Add the key from")
      }
      try node.attempt { try filter(fields, at: node, of: &mapping) }
      for (key, value) in try fields["userInfo"]?.pairs("userInfo") ?? [] {
        mapping.userInfo[key] = try value.text(key)
      }
      mapping.policyClassName = try fields["policy"]?.text("policy")
      mapping.mapsByName = try fields["byName"]?.flag("byName") ?? (mapping.destinationEntity != nil)
      try RuleReader(tables: tables).read(fields, into: &mapping)
      if mapping.rules != nil, mapping.policyClassName != nil {
        throw node.failure("an entity mapping has a policy and rules", "Put the rules into the policy, or leave it out")
      }
      // A key that could not be read may be the one that is missing.
      if node.faults?.isEmpty != false, mapping.rules != nil,
        mapping.sourceEntity == nil || mapping.destinationEntity == nil
      {
        throw node.failure("objects are made for each object of a source entity", "Add the key from")
      }
    } catch var error as BatchError {
      error.entity = error.entity ?? mapping.name
      throw error
    }
    return mapping
  }

  /// Which objects are taken, and which are removed and why.
  private func filter(
    _ fields: [String: MappingNode], at node: MappingNode, of mapping: inout EntityMapping
  ) throws {
    let filter = try fields["filter"].map { try RuleReader.predicate($0).description }
    guard mapping.destinationEntity != nil else {
      if let reason = try fields["reason"]?.text("reason") {
        mapping.removals = [EntityMapping.Removal(predicate: "TRUEPREDICATE", reason: reason)]
      }
      return
    }
    if let reason = fields["reason"] {
      throw reason.failure("reason goes with remove", "Write remove: { when: …, reason: … } for some of the objects")
    }
    let removals = fields["remove"].map { $0.elements ?? [$0] } ?? []
    guard removals.isEmpty || mapping.sourceEntity != nil else {
      throw node.failure("only objects of a source entity are removed", "Add the key from")
    }
    mapping.removals = try removals.map { node in
      let fields = try node.fields(.removal)
      guard let when = fields["when"] else {
        throw node.failure("a removal needs when, a predicate of the objects that are removed")
      }
      return EntityMapping.Removal(
        predicate: try RuleReader.predicate(when).description, reason: try fields["reason"]?.text("reason"))
    }
    mapping.filterPredicate = EntityMapping.filter(filter, without: mapping.removals)
  }

  /// Names and entities of the mappings of a block.
  private func named(_ fields: [String: MappingNode], _ node: MappingNode) throws -> [EntityMapping] {
    let name = try fields["name"]?.text("name")
    if let removed = fields["remove"], fields["from"] == nil, removed.entries == nil {
      guard Set(fields.keys).isSubset(of: ["remove", "name", "reason", "subentities"]) else {
        throw node.failure("with remove nothing but a name, a reason and subentities is allowed")
      }
      return try pairs(names(removed, "remove"), [], isRemoved: true, name: name, at: node)
    }
    let (from, to) = (try fields["from"].map { try names($0, "from") }, try fields["to"].map { try names($0, "to") })
    guard from != nil || to != nil else {
      throw node.failure("an entity mapping names no entity", "Add the keys from and to, or remove")
    }
    return try pairs(from ?? [], to ?? [], isRemoved: false, name: name, at: node)
  }

  /// One name, or a list of them.
  private func names(_ node: MappingNode, _ key: String) throws -> [String] {
    let names = try node.elements.map { try $0.map { try $0.text(key) } } ?? [node.text(key)]
    guard !names.isEmpty else { throw node.failure("\(key) names no entity") }
    return names
  }

  private func pairs(_ from: [String], _ to: [String], isRemoved: Bool, name: String?, at node: MappingNode)
    throws -> [EntityMapping]
  {
    let count = max(from.count, to.count)
    guard from.isEmpty || to.count < 2 || from.count == to.count else {
      throw node.failure(
        "from names \(from.count.counted("entity", "entities")), and to \(to.count)",
        "Name one in to for each in from, one for all, or none"
      )
    }
    guard count == 1 || name == nil else {
      throw node.failure(
        "one name does not fit \(count) entity mappings", "Leave name out: each is SourceToDestination")
    }
    return (0..<count).map { place in
      let source = from.isEmpty ? nil : from[place]
      let destination = to.count == 1 ? to[0] : to.isEmpty ? source : to[place]
      return EntityMapping(
        name: name, sourceEntity: source, destinationEntity: isRemoved ? nil : destination)
    }
  }
}
