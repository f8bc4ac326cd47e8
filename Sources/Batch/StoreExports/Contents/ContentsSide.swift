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
    /// Whether it has numbers of entities, which may be others in the other state.
    var isEntity = false
    /// Whether its values may be the names of files: those of an attribute with external data, and those of which no
    /// model knows.
    var mayBeExternal = false
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
  let rows: RowChoice
  let files: ExternalFiles
  let columns: [String: Column]
  /// Those of ``columns`` whose values may be the names of files.
  let externals: [Column]
  /// By the name of the column with the number.
  let lists: [String: List]
  let number: Int
  let lock: Int?
  /// Entity names by Z_ENT.
  let entities: [Int64: String]

  /// A side by the model's names, or by those of columns: of its entities alone, if others of its table are not meant.
  init(
    _ part: ContentsUnit.Part, _ raw: RawSchema, of reader: StoreReader, binding: StoreBinding?,
    entities wanted: Set<String>, fileSystem: any FileSystem
  ) {
    let table = part.table
    (self.reader, schema, entities, rows) = (reader, table.schema, raw.entities, part.rows)
    files = ExternalFiles(of: reader.path, fileSystem)
    if case .objects(let number) = table.content { self.number = number } else { number = 1 }
    lock = table.schema.position(of: "Z_OPT")
    let names = ContentsNames(table.schema, binding, entities: part.rows.takesAll ? nil : wanted)
    var byName: [String: Column] = [:]
    for column in table.columns
    where column.position != lock && !column.isRowid && !names.others.contains(column.position) {
      byName[NameOrder.folded(column.name)] = names.columns[column.position] ?? Column(column)
    }
    columns = Dictionary(byName.values.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    externals = columns.values.filter(\.mayBeExternal).sorted { $0.position < $1.position }
    var lists: [String: List] = [:]
    for (name, order) in byName where name.hasPrefix(Self.orderPrefix) {
      guard let owner = byName["z" + name.dropFirst(Self.orderPrefix.count)] else { continue }
      lists[order.name] = List(owner: owner, order: order)
    }
    self.lists = lists
  }

  /// How columns begin that number the members of an ordered list (B.5, B.6), folded.
  static let orderPrefix = "z_fok_"

  /// The entity of a row; its number if Z_PRIMARYKEY does not list it.
  func entity(_ row: RecordDecoder) -> String { entity(row.integer(number) ?? 0) }

  func entity(_ number: Int64) -> String { entities[number] ?? "entity \(number)" }

  /// Whether another state keeps texts in the same encoding.
  func hasEncoding(of other: ContentsSide) -> Bool {
    reader.snapshot.header.encoding == other.reader.snapshot.header.encoding
  }

  /// A column's value; an entity's number as its name.
  func value(_ column: Column, _ row: RecordDecoder) throws -> Value {
    let stored =
      column.position < row.columnCount ? try row.value(column.position) : missing(column.position)
    guard column.isEntity, case .integer(let number) = stored else { return stored }
    return .text(entity(number))
  }

  private func missing(_ position: Int) -> Value {
    position < schema.columns.count ? schema.columns[position].defaultValue ?? .null : .null
  }

  /// A column's value as JSON; as it is stored, or with the hash of its file, if it is to be exact.
  func json(_ column: Column, _ row: RecordDecoder, isExact: Bool = false) throws -> String {
    let file = file(column, row)
    if isExact, let file { return try files.json(withHash: file) }
    let kind = file != nil ? .external : isExact ? .stored : column.kind
    let text = ExportText(format: .jsonLines, sink: { _ in })
    let values = ExportValueWriter(text: text, externalSize: { ((try? files.status($0)) ?? nil)?.size })
    if column.isEntity {
      ExportCell.with(try value(column, row)) { values.write($0, as: kind) }
    } else {
      ExportCell.with(row, at: column.position, missing: missing) { values.write($0, as: kind) }
    }
    return String(decoding: text.take(), as: UTF8.self)
  }

  // MARK: Values beside the store

  /// The name of the file with a value.
  func file(_ column: Column, _ row: RecordDecoder) -> String? {
    guard column.mayBeExternal, row.type(column.position) == Self.fileNameType else { return nil }
    return BlobReader.externalFile(row.body(column.position))
  }

  /// The serial type of a blob of 38 bytes.
  private static let fileNameType: UInt64 = 12 + 2 * 38

  /// The columns of a row whose values lie in files, and the files.
  func references(_ row: RecordDecoder) -> [(column: Column, file: String)] {
    externals.compactMap { column in file(column, row).map { (column, $0) } }
  }

  /// The bytes that a blob of a column stands for.
  func content(of bytes: [UInt8], _ column: Column, _ row: RecordDecoder) -> ExternalContent {
    if let file = file(column, row) { return .file(file) }
    guard case .external = column.kind, bytes.first == 1 else { return .bytes(bytes) }
    return .bytes(Array(bytes.dropFirst()))
  }
}
