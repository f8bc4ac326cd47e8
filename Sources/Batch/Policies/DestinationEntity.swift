import Streams

/// How the objects of one destination entity lie in their table: names of properties to columns.
final class DestinationEntity: Sendable {
  struct Attribute: Sendable {
    var column: Int
    var type: AttributeType
    /// May values lie in files beside the store? Then each begins with a byte that tells.
    var isExternal: Bool
  }
  struct Relationship: Sendable {
    var storage: RelationshipStorage
    var destination: String
    var inverse: String?
    var isOrdered: Bool
  }

  let name: String
  let number: Int
  /// Position in the layout's entity tables, which is also the table's number in the output.
  let table: Int
  let columnCount: Int
  let attributes: NameTable<Attribute>
  let relationships: NameTable<Relationship>
  /// Columns with the default values of this entity's attributes, as stored.
  let defaults: [(column: Int, value: Value)]
  let isAbstract: Bool
  /// The columns of a new object: its entity's number, Z_OPT 1, default values.
  let template: [Value]

  init(name: String, layout: StoreLayout) throws {
    guard let number = layout.entityNumbers[name], let table = layout.tablePosition(ofEntity: name),
      let description = layout.model.entity(name)
    else { throw BatchError(.badModel, "the destination model has no entity of that name", entity: name) }
    self.name = name
    self.number = number
    self.table = table
    isAbstract = description.isAbstract
    let columns = layout.entityTables[table].columns
    columnCount = columns.count
    var attributes: [String: Attribute] = [:]
    var defaults: [(column: Int, value: Value)] = []
    for attribute in layout.model.attributes(of: name) where !attribute.isTransient {
      guard let column = layout.column(forAttribute: attribute.name, ofEntity: name).flatMap(columns.firstIndex(of:))
      else { continue }
      attributes[attribute.name] = Attribute(
        column: column, type: attribute.type, isExternal: attribute.allowsExternalBinaryDataStorage)
      if let value = attribute.defaultValue { defaults.append((column, attribute.type.stored(value))) }
    }
    self.attributes = NameTable(attributes)
    self.defaults = defaults
    var template = Array(repeating: Value.null, count: columns.count)
    template[1] = .integer(Int64(number))
    template[2] = .integer(1)
    for (column, value) in defaults { template[column] = value }
    self.template = template
    var relationships: [String: Relationship] = [:]
    for relationship in layout.model.relationships(of: name) {
      guard let storage = layout.storage(of: relationship.name, entity: name) else { continue }
      relationships[relationship.name] = Relationship(
        storage: storage, destination: relationship.destinationEntity, inverse: relationship.inverseName,
        isOrdered: relationship.isOrdered)
    }
    self.relationships = NameTable(relationships)
  }
}
