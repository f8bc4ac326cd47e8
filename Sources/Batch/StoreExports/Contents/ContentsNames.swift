import CoreDataModel
import CoreDataStore

/// The columns of a table by the properties that a model has in them.
struct ContentsNames {
  /// By position.
  private(set) var columns: [Int: ContentsSide.Column] = [:]
  /// Positions of columns that belong to entities of the table which are not meant.
  private(set) var others: Set<Int> = []

  /// Two sub-entities may each have a property of one name: then the columns' names tell them apart. `entities` are
  /// those that are meant; nil for all.
  init(_ schema: TableSchema, _ binding: StoreBinding?, entities: Set<String>?) {
    guard let binding, let table = binding.tables.first(where: { $0.schema.rootPage == schema.rootPage }) else {
      return
    }
    let model = binding.layout.model
    var labels: [(name: String, column: String, found: ContentsSide.Column)] = []
    for (column, position) in zip(table.layout.columns, table.positions) {
      guard let (owner, found) = Self.label(column, at: position, model) else { continue }
      if let owner, !Self.declares(owner, for: entities, model) {
        others.insert(position)
      } else {
        labels.append((found.name, column.name, found))
      }
    }
    let counts = Dictionary(grouping: labels, by: \.name).mapValues(\.count)
    for (name, column, found) in labels {
      columns[found.position] = found
      if counts[name] != 1 { columns[found.position]?.name = "\(name) (\(column))" }
    }
  }

  /// Whether one of the entities has what this one declares. A store may know them by earlier names: then all count.
  private static func declares(_ owner: String, for entities: Set<String>?, _ model: ManagedObjectModel) -> Bool {
    guard let entities else { return true }
    return entities.contains { !model.hasEntity($0) || model.isKind($0, of: owner) }
  }

  /// What a column is called, and the entity that declares it; no entity if that lies in another table.
  private static func label(
    _ column: CoreDataStore.Column, at position: Int, _ model: ManagedObjectModel
  ) -> (owner: String?, found: ContentsSide.Column)? {
    func stored(_ name: String) -> ContentsSide.Column { .init(name: name, position: position, kind: .stored) }
    switch column.role {
    case .attribute(let entity, let path):
      let attribute = model.storedAttributes(of: entity).first { $0.path == path }?.attribute
      var found = stored(path)
      found.kind = attribute.map { ExportKind($0) } ?? .stored
      found.mayBeExternal = attribute?.type == .binaryData && attribute?.allowsExternalBinaryDataStorage == true
      return (entity, found)
    case .toOne(let entity, let name): return (entity, stored(name))
    case .toOneEntity(let entity, let name):
      var found = stored(name + "@entity")
      found.isEntity = true
      return (entity, found)
    case .orderingKey(let entity, let name): return (entity, stored(name + "@order"))
    // The number of the owner in the column's name may be another one in the other state.
    case .inverselessOwner(let entity, let name): return (nil, stored("\(entity).\(name)"))
    case .inverselessOrder(let entity, let name): return (nil, stored("\(entity).\(name)@order"))
    case .primaryKey, .entity, .optimisticLock, .unknown: return nil
    }
  }
}

extension ContentsSide.Column {
  /// A column that no model knows.
  init(_ column: RawSchema.Column) {
    let kind: ExportKind = column.isDate ? .date : column.isFloat ? .double : .stored
    self.init(name: column.name, position: column.position, kind: kind)
    mayBeExternal = column.type.uppercased() == "BLOB"
  }
}
