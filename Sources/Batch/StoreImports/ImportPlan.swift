import CoreDataModel
import CoreDataStore
import Migrations
import RunSupport
import Streams

/// What an import knows of a model: for each entity where its properties are stored, and what a new row holds.
struct ImportPlan {
  /// An entity.
  struct Entity {
    let name: String
    let number: Int
    /// The position of its table in the layout.
    let table: Int
    let isAbstract: Bool
    /// A row with Z_ENT, Z_OPT and the defaults.
    let template: [Value]
    let attributes: [String: ImportAttribute]
    let relationships: [String: Relationship]
    let required: [Requirement]
  }

  /// A property that must have a value.
  struct Requirement {
    let name: String
    /// One of them has the value: those of an enumeration's cases, else a single one.
    let columns: [Int]
    var isRelationship = false

    func isMissing(_ isNull: (Int) -> Bool) -> Bool { columns.allSatisfy(isNull) }
  }

  /// A relationship.
  struct Relationship {
    let name: String
    let destination: String
    let isToMany: Bool
    let isOrdered: Bool
    let storage: RelationshipStorage
    /// The to-one at the other end, if it holds a key as well.
    let back: RelationshipStorage?
  }

  let layout: StoreLayout
  let validation: ValidationMode
  /// Whether relationships may lead to no object.
  let allowsDangling: Bool
  private(set) var entities: [String: Entity] = [:]
  /// By Z_ENT, from 1.
  private(set) var byNumber: [Entity?] = [nil]

  init(_ model: ManagedObjectModel, validation: ValidationMode, allowsDangling: Bool = false) throws {
    try model.validate()
    layout = try StoreLayout(model: model)
    (self.validation, self.allowsDangling) = (validation, allowsDangling)
    for name in layout.entityNames {
      let entity = try makeEntity(name)
      entities[name] = entity
      byNumber.append(entity)
    }
  }

  /// The name of the relationship in `user` or `user.userId`.
  static func relationship(in name: String) -> String { String(name.prefix { $0 != "." }) }

  /// Whether an entity that shares the table has a property of that name: then a file of both has it, too.
  func hasRelative(of entity: Entity, with name: String) -> Bool {
    entities.values.contains {
      $0.table == entity.table
        && ($0.attributes[name] != nil || $0.relationships[Self.relationship(in: name)] != nil)
    }
  }

  /// Whether an entity has sub-entities.
  func hasFamily(_ name: String) -> Bool { layout.model.entities.contains { $0.superentity == name } }

  /// The column with the Z_ENT of the object to which a column's key leads; nil if there is none.
  func entityColumn(beside column: Int, in table: Int) -> Int? {
    let columns = layout.entityTables[table].columns
    guard case .toOne(let entity, let name) = columns[column].role else { return nil }
    return columns.firstIndex { $0.role == .toOneEntity(entity: entity, name: name) }
  }

  private func makeEntity(_ name: String) throws -> Entity {
    guard let number = layout.entityNumbers[name], let table = layout.tablePosition(ofEntity: name) else {
      throw BatchError(.badModel, "the model has no entity of that name", entity: name)
    }
    let columns = layout.entityTables[table].columns
    var template = [Value](repeating: .null, count: columns.count)
    if let place = columns.firstIndex(where: { $0.role == .entity }) { template[place] = .integer(Int64(number)) }
    if let place = columns.firstIndex(where: { $0.role == .optimisticLock }) { template[place] = .integer(1) }
    var attributes: [String: ImportAttribute] = [:]
    var places: [String: Int] = [:]
    for (path, attribute) in layout.model.storedAttributes(of: name) {
      guard let column = columns.firstIndex(where: { $0 == layout.column(forAttribute: path, ofEntity: name) }) else {
        continue
      }
      places[path] = column
      attributes[path] = ImportAttribute(
        column: column, path: path, attribute: attribute,
        rule: validation == .all ? try ValueRule(attribute, of: name) : nil)
      if let value = attribute.storedDefault { template[column] = value }
    }
    var required = layout.model.attributes(of: name).flatMap { Self.requirements($0, places) }
    let relationships = self.relationships(name)
    for relationship in layout.model.relationships(of: name) where !relationship.isOptional {
      guard case .ownKey(_, let column, _, _)? = relationships[relationship.name]?.storage else { continue }
      required.append(Requirement(name: relationship.name, columns: [column], isRelationship: true))
    }
    return Entity(
      name: name, number: number, table: table, isAbstract: layout.model.entity(name)?.isAbstract ?? false,
      template: template, attributes: attributes, relationships: relationships,
      required: validation == .none ? [] : required)
  }

  /// What an attribute must have; `places` are columns by path.
  private static func requirements(_ attribute: AttributeDescription, _ places: [String: Int]) -> [Requirement] {
    guard !attribute.isOptional, !attribute.isTransient, attribute.derivationExpression == nil else { return [] }
    if attribute.needsAnyElement {
      return [Requirement(name: attribute.name, columns: attribute.leaves.compactMap { places[$0.path] })]
    }
    let paths = attribute.type == .composite ? attribute.neededElements : [attribute.name]
    return paths.compactMap { path in
      places[path].map { Requirement(name: attribute.leaves.count > 1 ? path : attribute.name, columns: [$0]) }
    }
  }

  private func relationships(_ entity: String) -> [String: Relationship] {
    let shape = RelationshipShape(model: layout.model)
    var found: [String: Relationship] = [:]
    for relationship in layout.model.relationships(of: entity) {
      guard let storage = layout.storage(of: relationship.name, entity: entity) else { continue }
      var back: RelationshipStorage?
      if let (inverse, description) = shape.mutualInverse(of: relationship), !description.isToMany,
        !relationship.isToMany
      {
        back = layout.storage(of: inverse.name, entity: relationship.destinationEntity)
      }
      found[relationship.name] = Relationship(
        name: relationship.name, destination: relationship.destinationEntity, isToMany: relationship.isToMany,
        isOrdered: relationship.isOrdered, storage: storage, back: back)
    }
    return found
  }
}
