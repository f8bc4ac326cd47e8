import Streams

/// A database that is made up: sizes of the file, tables, and indexes.
struct RandomSchema {
  struct Column {
    var name: String
    var type: String
    var collation: Collation
    var isAlias = false
    /// For rows that are older than the column.
    var defaultValue: Value?
    var isReal: Bool { type == "REAL" || type == "DOUBLE" }

    var sql: String {
      var text = "\(name) \(type)"
      if isAlias { text += " PRIMARY KEY" }
      if let defaultValue { text += " DEFAULT \(defaultValue.literal)" }
      return collation == .binary ? text : text + " COLLATE \(collation.rawValue)"
    }
  }

  struct Index {
    var name: String
    var columns: [SortColumn]
    /// The clause that an automatic index comes of; nil for an index with a statement of its own.
    var clause: String?
    var isUnique = false
    var filter: String?
  }

  struct Table {
    var name: String
    var columns: [Column]
    var indexes: [Index]
    var isWithoutRowid = false
    /// The primary key of a table without rowid, and the column that comes by ALTER TABLE when half of the rows are
    /// there.
    var key: [Int] = []
    var later: Column?
    var alias: Int? { columns.firstIndex(where: \.isAlias) }

    func list(_ positions: [SortColumn], direction: Bool) -> String {
      positions.map { part in
        let text = "\(columns[part.column].name) COLLATE \(part.collation.rawValue)"
        return direction && part.isDescending ? text + " DESC" : text
      }.joined(separator: ", ")
    }

    func creation(columns: [Column]) -> String {
      var parts = columns.map(\.sql)
      parts += indexes.compactMap { index in index.clause.map { "\($0) (\(list(index.columns, direction: false)))" } }
      if isWithoutRowid {
        parts.append("PRIMARY KEY (\(key.map { columns[$0].name }.joined(separator: ", ")))")
      }
      return "CREATE TABLE \(name) (\(parts.joined(separator: ", ")))" + (isWithoutRowid ? " WITHOUT ROWID" : "")
    }

    func creation(_ index: Index) -> String {
      let filter = index.filter.map { " WHERE \($0)" } ?? ""
      return
        "CREATE \(index.isUnique ? "UNIQUE " : "")INDEX \(index.name) ON \(name) (\(list(index.columns, direction: true)))"
        + filter
    }
  }

  var pageSize: Int
  var reserved = 0
  var autoVacuum: Int
  var encoding: String
  var tables: [Table]

  /// Small pages and UTF-8 most of the time: they are cheap, and have the deepest trees.
  init(_ random: inout SeededGenerator) {
    let sizes = [512, 512, 512, 512, 512, 512, 1024, 1024, 1024, 2048, 4096, 4096]
    pageSize = random.below(40) == 0 ? 8192 << random.below(4) : sizes[random.below(sizes.count)]
    if random.below(4) == 0 { reserved = 1 + random.below(pageSize == 512 ? 32 : 255) }
    autoVacuum = random.below(3)
    encoding = ["UTF-8", "UTF-8", "UTF-8", "UTF-16le", "UTF-16be"][random.below(5)]
    tables = []
    for number in 0..<1 + random.below(2) { tables.append(Self.table(number, &random)) }
    if random.below(3) == 0 { tables.append(Self.withoutRowid(&random)) }
  }

  private static func columns(_ count: Int, _ random: inout SeededGenerator) -> [Column] {
    let types = ["", "INTEGER", "TEXT", "BLOB", "REAL", "NUMERIC", "VARCHAR", "DOUBLE", "TIMESTAMP"]
    return (0..<count).map {
      Column(
        name: "c\($0)", type: types[random.below(types.count)],
        collation: random.below(4) == 0 ? Collation.allCases[random.below(3)] : .binary)
    }
  }

  private static func table(_ number: Int, _ random: inout SeededGenerator) -> Table {
    var table = Table(name: "t\(number)", columns: columns(1 + random.below(5), &random), indexes: [])
    if random.below(2) == 0 {
      let place = random.below(table.columns.count)
      table.columns[place] = Column(name: "c\(place)", type: "INTEGER", collation: .binary, isAlias: true)
    }
    if random.below(4) == 0 {
      table.later = Column(
        name: "c\(table.columns.count)", type: ["INTEGER", "TEXT", "REAL", ""][random.below(4)], collation: .binary,
        defaultValue: [.integer(Int64(random.below(300))), .text("later"), nil][random.below(3)])
      if table.later?.type == "REAL" { table.later?.defaultValue = .real(2.5) }
      if table.later?.type == "INTEGER" { table.later?.defaultValue = .integer(1 << 40) }
      if table.later?.type == "TEXT", table.later?.defaultValue != nil { table.later?.defaultValue = .text("später") }
    }
    let kinds = (0..<random.below(4)).map { _ in random.below(5) }
    // SQLite makes automatic indexes with their table, before all others.
    for kind in kinds.sorted() where table.columns.count > 0 { add(kind, to: &table, &random) }
    return table
  }

  private static func add(_ kind: Int, to table: inout Table, _ random: inout SeededGenerator) {
    let count = table.columns.count
    var positions: [Int] = []
    for _ in 0..<1 + random.below(3) {
      let position = random.below(count)
      if !positions.contains(position) { positions.append(position) }
    }
    var columns = positions.map { position in
      let own = table.columns[position].collation
      let collation = random.below(4) == 0 ? Collation.allCases[random.below(3)] : own
      return SortColumn(position, isDescending: kind > 0 && random.below(3) == 0, collation: collation)
    }
    // SQLite makes no second index of the same columns, and none of the rowid's alias alone.
    let isDouble = table.indexes.contains { $0.columns.map(\.column) == positions } || positions == [table.alias ?? -1]
    let number = table.indexes.count
    switch kind {
    case 0 where !isDouble:
      let hasKey = table.alias != nil || table.indexes.contains { $0.clause == "PRIMARY KEY" }
      columns = columns.map { SortColumn($0.column, collation: $0.collation) }
      let before = table.indexes.filter { $0.clause != nil }.count
      let name = "sqlite_autoindex_\(table.name)_\(before + 1)"
      let clause = hasKey || count == 1 ? "UNIQUE" : "PRIMARY KEY"
      let isInteger =
        clause == "PRIMARY KEY" && columns.count == 1 && table.columns[columns[0].column].type == "INTEGER"
      if !isInteger { table.indexes.append(Index(name: name, columns: columns, clause: clause, isUnique: true)) }
    case 1:
      let filters = ["c0 IS NOT NULL", "length(c0) > 2", "typeof(c0) = 'text'"]
      table.indexes.append(
        Index(name: "i\(table.name)\(number)", columns: columns, isUnique: false, filter: filters[random.below(3)]))
    default:
      table.indexes.append(Index(name: "i\(table.name)\(number)", columns: columns, isUnique: kind == 2))
    }
  }

  private static func withoutRowid(_ random: inout SeededGenerator) -> Table {
    let columns = columns(2 + random.below(3), &random)
    let key = columns.indices.shuffled(using: &random).prefix(1 + random.below(2))
    return Table(name: "w", columns: columns, indexes: [], isWithoutRowid: true, key: Array(key))
  }
}

extension Value {
  /// As SQL writes it.
  var literal: String {
    switch self {
    case .null, .blob: "NULL"
    case .integer(let value): "\(value)"
    case .real(let value): "\(value)"
    case .text(let value): "'\(value)'"
    }
  }
}
