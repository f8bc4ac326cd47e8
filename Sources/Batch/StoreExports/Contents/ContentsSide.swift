import CoreDataModel
import CoreDataStore
import RunSupport
import Streams

/// One state of a table with objects: what its columns are called, and where they are.
struct ContentsSide {
  /// A column with a value.
  struct Column {
    var name: String
    var position: Int
    var kind: ExportKind
  }

  /// An ordered list that its objects are members of.
  struct List {
    /// The owner's key.
    var owner: Column
    /// The number in the owner's list.
    var order: Column
  }

  let reader: StoreReader
  let schema: TableSchema
  let columns: [String: Column]
  /// By the name of the column with the number.
  let lists: [String: List]
  let number: Int
  let lock: Int?
  /// Entity names by Z_ENT.
  let entities: [Int64: String]

  /// A side by the model's names, or by those of columns.
  init(_ table: RawSchema.Table, _ raw: RawSchema, of reader: StoreReader, binding: StoreBinding?) {
    (self.reader, schema, entities) = (reader, table.schema, raw.entities)
    if case .objects(let number) = table.content { self.number = number } else { number = 1 }
    lock = table.schema.position(of: "Z_OPT")
    let bound = binding?.tables.first { $0.schema.rootPage == table.schema.rootPage }
    let named = bound.map { Self.named($0, binding) } ?? [:]
    var (columns, byName): ([String: Column], [String: Column]) = ([:], [:])
    for column in table.columns where column.position != lock && !column.isRowid {
      let kind: ExportKind = column.isDate ? .date : column.isFloat ? .double : .stored
      let found = named[column.position] ?? Column(name: column.name, position: column.position, kind: kind)
      columns[found.name] = found
      byName[NameOrder.folded(column.name)] = found
    }
    self.columns = columns
    var lists: [String: List] = [:]
    for (name, order) in byName where name.hasPrefix(Self.orderPrefix) {
      guard let owner = byName["z" + name.dropFirst(Self.orderPrefix.count)] else { continue }
      lists[order.name] = List(owner: owner, order: order)
    }
    self.lists = lists
  }

  /// How columns begin that number the members of an ordered list (B.5, B.6), folded.
  static let orderPrefix = "z_fok_"

  /// Columns by position, with the names of properties. Two sub-entities may each have one of a name: then the columns'
  /// names tell them apart.
  private static func named(_ table: StoreBinding.Table, _ binding: StoreBinding?) -> [Int: Column] {
    var found: [Int: Column] = [:]
    for (column, position) in zip(table.layout.columns, table.positions) {
      guard let (name, kind) = label(column, binding?.layout.model) else { continue }
      let isOnly = table.layout.columns.count { label($0, binding?.layout.model)?.name == name } == 1
      found[position] = Column(name: isOnly ? name : "\(name) (\(column.name))", position: position, kind: kind)
    }
    return found
  }

  private static func label(
    _ column: CoreDataStore.Column, _ model: ManagedObjectModel?
  ) -> (name: String, kind: ExportKind)? {
    switch column.role {
    case .attribute(let entity, let path):
      let attribute = model?.storedAttributes(of: entity).first { $0.path == path }?.attribute
      return (path, attribute.map { ExportKind($0) } ?? .stored)
    case .toOne(_, let name): return (name, .stored)
    case .toOneEntity(_, let name): return (name + "@entity", .stored)
    case .orderingKey(_, let name): return (name + "@order", .stored)
    case .primaryKey, .entity, .optimisticLock, .inverselessOwner, .inverselessOrder, .unknown: return nil
    }
  }

  /// The entity of a row; its number if Z_PRIMARYKEY does not list it.
  func entity(_ row: RecordDecoder) -> String { entity(row.integer(number) ?? 0) }

  func entity(_ number: Int64) -> String { entities[number] ?? "entity \(number)" }

  /// A column's value.
  func value(_ column: Column, _ row: RecordDecoder) throws -> Value {
    guard column.position >= row.columnCount else { return try row.value(column.position) }
    return column.position < schema.columns.count ? schema.columns[column.position].defaultValue ?? .null : .null
  }

  /// A column's value as JSON; as it is stored, if it is to be exact.
  func json(_ column: Column, _ row: RecordDecoder, isExact: Bool = false) -> String {
    let text = ExportText(format: .jsonLines, sink: { _ in })
    let values = ExportValueWriter(text: text, externalSize: { _ in nil })
    let columns = schema.columns
    ExportCell.with(
      row, at: column.position, missing: { $0 < columns.count ? columns[$0].defaultValue ?? .null : .null }
    ) { values.write($0, as: isExact ? .stored : column.kind) }
    return String(decoding: text.take(), as: UTF8.self)
  }
}
