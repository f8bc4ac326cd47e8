import CoreDataModel
import CoreDataStore
import RunSupport
import Streams

/// How the objects of one destination entity lie in their table: names of properties to columns.
package final class DestinationEntity: @unchecked Sendable {
  // Sendable: nothing changes after init.
  package let name: String
  package let number: Int
  /// Position in the layout's entity tables, which is also the table's number in the output.
  package let table: Int
  let columnCount: Int
  package let attributes: NameTable<StoredAttribute>
  package let relationships: NameTable<StoredRelationship>
  // The same for rows, without counting references.
  private let attributesForRows: Unmanaged<NameTable<StoredAttribute>>
  private let relationshipsForRows: Unmanaged<NameTable<StoredRelationship>>
  package let isAbstract: Bool
  /// The columns of a new object: its entity's number, Z_OPT 1, default values.
  package let template: [Value]
  /// The same, as records hold it.
  let defaults: ColumnValues
  /// Z_ENT of the entities that this one descends from.
  private let ancestors: [Int]

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
    var attributes: [String: StoredAttribute] = [:]
    var template = Array(repeating: Value.null, count: columns.count)
    template[1] = .integer(Int64(number))
    template[2] = .integer(1)
    for (path, attribute) in layout.model.storedAttributes(of: name) {
      guard let column = layout.column(forAttribute: path, ofEntity: name).flatMap(columns.firstIndex(of:)) else {
        continue
      }
      attributes[path] = StoredAttribute(
        position: column, type: attribute.type, isExternal: attribute.allowsExternalBinaryDataStorage)
      if let value = attribute.storedDefault { template[column] = value }
    }
    self.attributes = NameTable(attributes)
    self.template = template
    var defaults = ColumnValues(count: columns.count)
    for (column, value) in template.enumerated() { defaults.set(column, value) }
    self.defaults = defaults
    relationships = layout.storedRelationships(of: name)
    attributesForRows = Unmanaged.passUnretained(self.attributes)
    relationshipsForRows = Unmanaged.passUnretained(relationships)
    ancestors = layout.model.ancestors(of: name).compactMap { layout.entityNumbers[$0.name] }
  }

  /// Whether the entity is that one, by Z_ENT, or below it.
  package func isKind(of number: Int) -> Bool { self.number == number || ancestors.contains(number) }

  /// The path of an attribute that takes one value: of a composite that of its only element.
  func path(of name: String) -> String {
    guard attributes[name] == nil else { return name }
    let elements = attributes.names.filter { $0.hasPrefix(name + ".") }
    return elements.count == 1 ? elements[0] : name
  }

  /// Where the attribute of a name is stored; nil when there is none.
  func attribute(_ name: String) -> UnsafePointer<StoredAttribute>? {
    attributesForRows._withUnsafeGuaranteedRef { $0.find(name) }
  }

  /// Where the relationship of a name is stored; nil when there is none.
  func relationship(_ name: String) -> UnsafePointer<StoredRelationship>? {
    relationshipsForRows._withUnsafeGuaranteedRef { $0.find(name) }
  }
}
