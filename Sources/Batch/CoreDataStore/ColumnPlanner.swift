import CoreDataModel
import RunSupport

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

  /// The table of a root entity. `owners` are to-manys without inverse, by destination entity, in owner order; `names`
  /// are those of the root and of what descends from it, in Z_ENT order.
  static func table(
    root: String, names: [String], model: ManagedObjectModel, numbering: EntityNumbering,
    owners: [String: [PropertyReference]]
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

  /// Something of an entity that gets a column: an attribute, an element of one, or a to-one relationship.
  private struct Claim {
    /// The property's name, by which claims are sorted.
    var property: String
    /// Down to the element.
    var path: String
    /// What the column is named after.
    var name: String
    /// Nil for a relationship.
    var type: AttributeType?
    /// The property's place among the entity's attributes, or relationships.
    var place: Int

    /// Whether it is about another property.
    func isOfAnother(_ other: Claim) -> Bool { place != other.place || (type == nil) != (other.type == nil) }
  }

  /// Suffixes are handed out over names in code-unit order; only then are columns sorted into their places.
  private mutating func add(_ entity: EntityDescription) throws {
    var keys: [(place: Int, column: String)] = []
    for claim in try claims(of: entity) {
      let column = unused("Z" + claim.name.uppercased())
      if let type = claim.type {
        try place(claim, type, column: column, entity: entity.name)
      } else {
        keys.append((claim.place, column))
      }
    }
    for key in keys { addKey(entity.relationships[key.place], name: key.column, entity: entity.name) }
  }

  /// All claims of an entity in code-unit order of the properties, elements in declared order. Descriptions are looked
  /// at where they lie: to copy one takes long.
  private func claims(of entity: EntityDescription) throws -> [Claim] {
    var claims: [Claim] = []
    for place in entity.attributes.indices where !entity.attributes[place].isTransient {
      let name = entity.attributes[place].name
      guard !shape.isInherited(name, by: entity.name) else { continue }
      guard entity.attributes[place].type == .composite else {
        claims.append(Claim(property: name, path: name, name: name, type: entity.attributes[place].type, place: place))
        continue
      }
      for leaf in try Self.leaves(of: entity.attributes[place], path: name, entity: entity.name, depth: 0) {
        claims.append(
          Claim(property: name, path: leaf.path, name: leaf.attribute.name, type: leaf.attribute.type, place: place))
      }
    }
    for place in entity.relationships.indices {
      guard !entity.relationships[place].isTransient, !entity.relationships[place].isToMany else { continue }
      let name = entity.relationships[place].name
      guard !shape.isInherited(name, by: entity.name) else { continue }
      claims.append(Claim(property: name, path: name, name: name, type: nil, place: place))
    }
    let sorted = claims.enumerated().sorted { left, right in
      if NameOrder.codeUnits(left.element.property, right.element.property) { return true }
      // Elements of one attribute: a sort need not keep their order.
      return !NameOrder.codeUnits(right.element.property, left.element.property) && left.offset < right.offset
    }.map(\.element)
    for (claim, next) in zip(sorted, sorted.dropFirst()) where claim.isOfAnother(next) {
      guard NameOrder.codeUnits(claim.property, next.property) else {
        throw BatchError(.badModel, "two properties are named \(claim.property)", entity: entity.name)
      }
    }
    return sorted
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

  private mutating func place(_ claim: Claim, _ attribute: AttributeType, column: String, entity: String) throws {
    let role = ColumnRole.attribute(entity: entity, name: claim.path)
    let group: String
    let type: String
    switch attribute {
    case .integer16, .integer32, .integer64, .boolean:
      whole.append(Column(name: column, type: "INTEGER", role: role))
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
        .badModel, "attribute \(claim.name) has a type that no SQLite store can hold (\(attribute.rawValue))",
        hint: "Give it a type, or make it transient", entity: entity)
    }
    grouped[group, default: []].append(Column(name: column, type: type, role: role))
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
