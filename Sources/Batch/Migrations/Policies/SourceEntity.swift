import CoreDataModel
import CoreDataStore
import RunSupport
import Streams

/// How the objects of one source entity lie in their table: names of properties to positions in a record.
package final class SourceEntity: Sendable {
  package let name: String
  package let number: Int
  /// Position in the layout's entity tables.
  package let table: Int
  package let attributes: NameTable<StoredAttribute>
  package let relationships: NameTable<StoredRelationship>
  // The same for rows, without counting references.
  private let attributesForRows: Unmanaged<NameTable<StoredAttribute>>
  private let relationshipsForRows: Unmanaged<NameTable<StoredRelationship>>

  init(name: String, binding: StoreBinding) throws {
    let layout = binding.layout
    let model = layout.model
    guard let number = layout.entityNumbers[name], let table = layout.tablePosition(ofEntity: name) else {
      throw BatchError(.badModel, "the model has no entity of that name", entity: name)
    }
    self.name = name
    self.number = number
    self.table = table
    let positions = binding.tables[table].positions
    let columns = binding.tables[table].layout.columns
    func position(_ column: Column?) -> Int? {
      column.flatMap { column in columns.firstIndex(of: column) }.map { positions[$0] }
    }
    var attributes: [String: StoredAttribute] = [:]
    for (path, attribute) in model.storedAttributes(of: name) {
      guard let found = position(layout.column(forAttribute: path, ofEntity: name)) else { continue }
      attributes[path] = StoredAttribute(
        position: found, type: attribute.type, isExternal: attribute.allowsExternalBinaryDataStorage)
    }
    self.attributes = NameTable(attributes)
    relationships = layout.storedRelationships(of: name, positions: binding.tables.map(\.positions))
    attributesForRows = Unmanaged.passUnretained(self.attributes)
    relationshipsForRows = Unmanaged.passUnretained(relationships)
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

extension SourceEntity {
  /// How many keys of a path lead to an attribute, or to something else: the element of a composite has several.
  func attributeLength(_ path: ArraySlice<String>) -> Int {
    guard let first = path.first, attributes[first] == nil, path.count > 1 else { return 1 }
    return (2...path.count).first { attributes[path.prefix($0).joined(separator: ".")] != nil } ?? 1
  }
}
