import Streams

/// How the objects of one source entity lie in their table: names of properties to positions in a record.
final class SourceEntity: Sendable {
  let name: String
  let number: Int
  /// Position in the layout's entity tables.
  let table: Int
  let attributes: NameTable<StoredAttribute>
  let relationships: NameTable<StoredRelationship>

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
    for attribute in model.attributes(of: name) where !attribute.isTransient {
      guard let found = position(layout.column(forAttribute: attribute.name, ofEntity: name)) else { continue }
      attributes[attribute.name] = StoredAttribute(
        position: found, type: attribute.type, isExternal: attribute.allowsExternalBinaryDataStorage)
    }
    self.attributes = NameTable(attributes)
    relationships = layout.storedRelationships(of: name, positions: binding.tables.map(\.positions))
  }
}

extension AttributeType {
  /// A stored value in the form that this type has in memory: whole dates and doubles come back as doubles although SQLite
  /// keeps them as integers in columns of NUMERIC and REAL affinity.
  func normalized(_ value: Value) -> Value {
    switch (self, value) {
    case (.date, .integer(let integer)), (.double, .integer(let integer)), (.float, .integer(let integer)),
      (.decimal, .integer(let integer)):
      .real(Double(integer))
    default: value
    }
  }

  /// A value in the form that SQLite stores it in a column of this type (B.4): a double without fraction becomes an integer
  /// where the column's affinity does so.
  func stored(_ value: Value) -> Value {
    guard case .real(let double) = value else { return value }
    switch self {
    case .date, .double, .float, .decimal:
      // SQLite does this up to 2^47 for REAL columns and wherever the integer is exact for NUMERIC ones.
      let limit = self == .double || self == .float ? 0x1p47 : 0x1p53
      guard double.magnitude < limit, double == double.rounded(.towardZero), !(double == 0 && double.sign == .minus) else {
        return value
      }
      return .integer(Int64(double))
    default: return value
    }
  }
}
