@testable import CoreDataModel

/// Names of tables and columns of a model's store, by the rules B.3 to B.6 of the format and nothing of `StoreLayout`.
struct OracleLayout {
  struct ToOne {
    var column: String
    var entityColumn: String?
    var orderColumn: String?
  }
  struct Owner {
    var table: String
    var column: String
    var orderColumn: String?
  }
  /// A join table seen from one of its relationships.
  struct Join {
    var table: String
    var own: String
    var other: String
    /// Where the other's place among the owner's objects stands.
    var order: String?
    /// Does it stand on the side that names the table? The other side has the same rows.
    var isFirst: Bool
  }

  let model: ManagedObjectModel
  private(set) var numbers: [String: Int] = [:]
  /// Entities by number.
  private(set) var names: [String] = []
  /// By declaring entity and name, as `Entity.name`.
  private(set) var attributes: [String: String] = [:]
  private(set) var toOnes: [String: ToOne] = [:]
  private(set) var owners: [String: Owner] = [:]
  private(set) var joins: [String: Join] = [:]
  private var used: Set<String> = []

  init(_ model: ManagedObjectModel) {
    self.model = model
    for root in Self.sorted(model.entities.filter { $0.superentity == nil }.map(\.name)) { number(root) }
    for name in names where model.entity(name)?.superentity == nil { plan(table: name) }
    planJoins()
  }

  static func sorted(_ names: [String]) -> [String] {
    names.sorted { ($0.lowercased(), $0) < ($1.lowercased(), $1) }
  }

  private mutating func number(_ name: String) {
    names.append(name)
    numbers[name] = names.count
    for child in Self.sorted(model.entities.filter { $0.superentity == name }.map(\.name)) { number(child) }
  }

  func table(_ entity: String) -> String { "Z" + model.root(of: entity).uppercased() }

  private mutating func unused(_ name: String) -> String {
    var (candidate, suffix) = (name, 0)
    while !used.insert(candidate.uppercased()).inserted {
      suffix += 1
      candidate = "\(name)\(suffix)"
    }
    return candidate
  }

  private mutating func plan(table root: String) {
    used = ["Z_PK", "Z_ENT", "Z_OPT"]
    for name in names where model.root(of: name) == root {
      guard let entity = model.entity(name) else { continue }
      let toOnes = entity.relationships.filter { !$0.isToMany }
      let own = entity.attributes.filter { !$0.isTransient }.map(\.name)
      var columns: [String: String] = [:]
      for property in (own + toOnes.map(\.name)).sorted() { columns[property] = unused("Z" + property.uppercased()) }
      for attribute in own { attributes["\(name).\(attribute)"] = columns[attribute] }
      for toOne in toOnes.sorted(by: { $0.name < $1.name }) { plan(toOne, of: name, column: columns[toOne.name] ?? "") }
      for owner in names { planOwners(owner, into: name, table: "Z" + root.uppercased()) }
    }
  }

  private mutating func plan(_ toOne: RelationshipDescription, of entity: String, column: String) {
    let hasChildren = model.entities.contains { $0.superentity == toOne.destinationEntity }
    let helper = hasChildren ? unused("Z\(numbers[toOne.destinationEntity] ?? 0)_\(column.dropFirst())") : nil
    let isOrdered = inverse(of: toOne)?.isOrdered == true
    toOnes["\(entity).\(toOne.name)"] = ToOne(
      column: column, entityColumn: helper, orderColumn: isOrdered ? unused("Z_FOK_\(column.dropFirst())") : nil)
  }

  private mutating func planOwners(_ owner: String, into destination: String, table: String) {
    let relationships = model.entity(owner)?.relationships.sorted { $0.name < $1.name } ?? []
    for relationship in relationships where relationship.isToMany && relationship.destinationEntity == destination {
      guard inverse(of: relationship) == nil else { continue }
      let tail = "\(numbers[owner] ?? 0)\(relationship.name.uppercased())"
      let column = unused("Z" + tail)
      owners["\(owner).\(relationship.name)"] = Owner(
        table: table, column: column, orderColumn: relationship.isOrdered ? unused("Z_FOK_" + tail) : nil)
    }
  }

  func inverse(of relationship: RelationshipDescription) -> RelationshipDescription? {
    relationship.inverseName.flatMap { model.relationship($0, of: relationship.destinationEntity) }
  }

  /// The entity that declares a property of an entity.
  func owner(of property: String, _ entity: String) -> String {
    ([entity] + model.ancestors(of: entity).map(\.name)).first { name in
      model.entity(name).map { $0.propertyNames.contains(property) } ?? false
    } ?? entity
  }

  private mutating func planJoins() {
    used = []
    for entity in Self.sorted(model.entities.map(\.name)) {
      for met in model.relationships(of: entity).sorted(by: { $0.name < $1.name }) where met.isToMany {
        guard let back = inverse(of: met), back.isToMany else { continue }
        let (first, second) = (owner(of: met.name, entity), owner(of: back.name, met.destinationEntity))
        guard joins["\(first).\(met.name)"] == nil else { continue }
        // Of two that one entity declares, the later name is the table's.
        let swap = first == second && met.name < back.name
        if swap { plan(back, of: second, met, of: first) } else { plan(met, of: first, back, of: second) }
      }
    }
  }

  private mutating func plan(
    _ first: RelationshipDescription, of entity: String, _ second: RelationshipDescription, of other: String
  ) {
    let name = "Z_\(numbers[entity] ?? 0)\(first.name.uppercased())"
    if entity == other, first.name == second.name {
      joins["\(entity).\(first.name)"] = Join(
        table: name, own: "REFLEXIVE", other: unused(name), order: nil, isFirst: true)
      return
    }
    let own = unused("Z_\(numbers[entity] ?? 0)\(second.name.uppercased())")
    let far = unused("Z_\(numbers[other] ?? 0)\(first.name.uppercased())")
    joins["\(entity).\(first.name)"] = Join(
      table: name, own: own, other: far, order: first.isOrdered ? "Z_FOK_\(far.dropFirst(2))" : nil, isFirst: true)
    joins["\(other).\(second.name)"] = Join(
      table: name, own: far, other: own, order: second.isOrdered ? "Z_FOK_\(own.dropFirst(2))" : nil, isFirst: false)
  }
}
