/// Lays out the columns of one entity table: names with their collision suffixes first, then the order of a fresh store
/// (B.4).
struct ColumnPlanner {
  private let model: ManagedObjectModel
  private let numbering: EntityNumbering
  private let shape: RelationshipShape
  /// Names in use, folded as SQLite compares them.
  private var used: Set<String> = ["z_pk", "z_ent", "z_opt"]

  /// Integers, keys and ordering keys come per entity or as a block; the rest in these groups, each over all entities.
  private static let groups = ["TIMESTAMP", "DECIMAL", "VARCHAR", "URI", "UUID", "TRANSFORMABLE", "BLOB"]

  private var whole: [Column] = []
  private var ordering: [Column] = []
  private var grouped: [String: [Column]] = [:]

  init(model: ManagedObjectModel, numbering: EntityNumbering) {
    self.model = model
    self.numbering = numbering
    self.shape = RelationshipShape(model: model)
  }

  /// The table of a root entity. `owners` are to-manys without inverse, by destination entity, in owner order; `names` are those of the root and of what descends from it, in Z_ENT order.
  static func table(
    root: String, names: [String], model: ManagedObjectModel, numbering: EntityNumbering, owners: [String: [PropertyReference]]
  ) throws -> EntityTable {
    var planner = ColumnPlanner(model: model, numbering: numbering)
    for name in names {
      guard let entity = model.entity(name) else { continue }
      try planner.add(entity)
      for owner in owners[name] ?? [] { planner.addOwner(owner) }
    }
    return EntityTable(name: "Z" + root.uppercased(), rootEntity: root, columns: planner.ordered())
  }

  private func ordered() -> [Column] {
    let fixed = [
      Column(name: "Z_PK", type: "INTEGER", role: .primaryKey),
      Column(name: "Z_ENT", type: "INTEGER", role: .entity),
      Column(name: "Z_OPT", type: "INTEGER", role: .optimisticLock),
    ]
    return fixed + whole + ordering + Self.groups.flatMap { grouped[$0] ?? [] }
  }

  /// Suffixes are handed out over names in code-unit order; only then are columns sorted into their places.
  private mutating func add(_ entity: EntityDescription) throws {
    var names: [String: String] = [:]
    var attributes: [(path: String, attribute: AttributeDescription)] = []
    let keys = entity.relationships.filter {
      !$0.isTransient && !$0.isToMany && !shape.isInherited($0.name, by: entity.name)
    }
    let own = entity.attributes.filter { !$0.isTransient && !shape.isInherited($0.name, by: entity.name) }
    let properties = own.enumerated().map { ($1.name, $0) } + keys.map { ($0.name, own.count) }
    for (name, place) in properties.sorted(by: { NameOrder.codeUnits($0.0, $1.0) }) {
      guard place < own.count else {
        names[name] = unused("Z" + name.uppercased())
        continue
      }
      for leaf in try Self.leaves(of: own[place], path: name, entity: entity.name, depth: 0) {
        names[leaf.path] = unused("Z" + leaf.attribute.name.uppercased())
        attributes.append(leaf)
      }
    }
    for (path, attribute) in attributes {
      guard let name = names[path] else { continue }
      try place(attribute, name: name, role: .attribute(entity: entity.name, name: path), entity: entity.name)
    }
    for key in keys.sorted(by: { NameOrder.codeUnits($0.name, $1.name) }) {
      guard let name = names[key.name] else { continue }
      addKey(key, name: name, entity: entity.name)
    }
  }

  private mutating func addKey(_ key: RelationshipDescription, name: String, entity: String) {
    whole.append(Column(name: name, type: "INTEGER", role: .toOne(entity: entity, name: key.name)))
    if numbering.parents.contains(key.destinationEntity), let number = numbering.numbers[key.destinationEntity] {
      let helper = unused("Z\(number)_\(name.dropFirst())")
      whole.append(Column(name: helper, type: "INTEGER", role: .toOneEntity(entity: entity, name: key.name)))
    }
    if let (_, inverse) = shape.mutualInverse(of: key), inverse.isToMany, inverse.isOrdered {
      let column = unused("Z_FOK_\(name.dropFirst())")
      ordering.append(Column(name: column, type: "INTEGER", role: .orderingKey(entity: entity, name: key.name)))
    }
  }

  private mutating func addOwner(_ owner: PropertyReference) {
    guard let number = numbering.numbers[owner.entity] else { return }
    let tail = "\(number)\(owner.name.uppercased())"
    let name = unused("Z" + tail)
    whole.append(Column(name: name, type: "INTEGER", role: .inverselessOwner(entity: owner.entity, name: owner.name)))
    if model.relationship(owner.name, of: owner.entity)?.isOrdered == true {
      let role = ColumnRole.inverselessOrder(entity: owner.entity, name: owner.name)
      ordering.append(Column(name: unused("Z_FOK_" + tail), type: "INTEGER", role: role))
    }
  }

  private mutating func place(_ attribute: AttributeDescription, name: String, role: ColumnRole, entity: String) throws {
    let group: String
    var type: String
    switch attribute.type {
    case .integer16, .integer32, .integer64, .boolean:
      whole.append(Column(name: name, type: "INTEGER", role: role))
      return
    case .date: (group, type) = ("TIMESTAMP", "TIMESTAMP")
    case .double, .float: (group, type) = ("TIMESTAMP", "FLOAT")
    case .decimal: (group, type) = ("DECIMAL", "DECIMAL")
    case .string: (group, type) = ("VARCHAR", "VARCHAR")
    case .uri: (group, type) = ("URI", "VARCHAR")
    case .uuid: (group, type) = ("UUID", "BLOB")
    case .transformable: (group, type) = ("TRANSFORMABLE", "BLOB")
    case .binaryData: (group, type) = ("BLOB", "BLOB")
    case .undefined, .objectID, .composite:
      throw BatchError(
        .badModel, "attribute \(attribute.name) has a type that no SQLite store can hold (\(attribute.type.rawValue))",
        hint: "Give it a type, or make it transient", entity: entity)
    }
    grouped[group, default: []].append(Column(name: name, type: type, role: role))
  }

  /// A composite attribute has no column of its own, but one for every element, in declared order.
  private static func leaves(
    of attribute: AttributeDescription, path: String, entity: String, depth: Int
  ) throws -> [(path: String, attribute: AttributeDescription)] {
    guard attribute.type == .composite else { return [(path, attribute)] }
    guard depth < 16 else {
      throw BatchError(.badModel, "composite attribute \(path) nests more than 16 levels deep", entity: entity)
    }
    return try attribute.elements.filter { !$0.isTransient }.flatMap {
      try leaves(of: $0, path: "\(path).\($0.name)", entity: entity, depth: depth + 1)
    }
  }

  private mutating func unused(_ name: String) -> String {
    var candidate = name
    var suffix = 0
    while !used.insert(NameOrder.folded(candidate)).inserted {
      suffix += 1
      candidate = "\(name)\(suffix)"
    }
    return candidate
  }
}
