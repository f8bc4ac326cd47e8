import Streams

/// One random database: made and aged by SQLite, read by the engine, built anew by the engine, and read and changed by
/// SQLite.
struct EngineCase {
  struct Difference: Error, CustomStringConvertible { let description: String }

  private let schema: RandomSchema
  private let source: MemoryDatabase
  private var random: SeededGenerator

  init(seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    schema = RandomSchema(&random)
    source = try MemoryDatabase()
    try fill()
  }

  mutating func run() throws {
    let file = MemoryFile(try source.bytes())
    let snapshot = try file.snapshot()
    for table in schema.tables { try EngineReading(source, snapshot, table).check(&random) }
    let built = MemoryFile()
    try EngineBuild(schema, source, snapshot, &random).build(built)
    let copy = try MemoryDatabase(built.bytes)
    try expectSound(copy, "built")
    for table in schema.tables where !table.isWithoutRowid { try expectEqual(table, copy) }
    try change(copy)
  }

  private func expectSound(_ database: MemoryDatabase, _ when: String) throws {
    let found = try database.integrity()
    guard found == "ok" else { throw Difference(description: "\(when): \(found)") }
  }

  // MARK: The source

  private mutating func fill() throws {
    try source.execute("PRAGMA page_size = \(schema.pageSize)")
    if schema.reserved > 0 { try source.reserve(schema.reserved) }
    try source.execute("PRAGMA auto_vacuum = \(schema.autoVacuum); PRAGMA encoding = '\(schema.encoding)'; BEGIN")
    for table in schema.tables {
      let columns = table.columns.filter { $0.name != table.later?.name }
      try source.execute(table.creation(columns: columns))
      for index in table.indexes where index.clause == nil { try source.execute(table.creation(index)) }
      let count = [0, 1, 2, 4, 8, 16, 30, 60][random.below(8)] * (random.below(60) == 0 ? 20 : 1)
      try insert(count, into: table, columns)
      if let later = table.later {
        try source.execute("ALTER TABLE \(table.name) ADD COLUMN \(later.sql)")
        try insert(count / 2, into: table, columns + [later])
      }
      if random.below(2) == 0 { try age(table, count) }
    }
    try source.execute("COMMIT")
    if schema.autoVacuum == 2, random.below(2) == 0 { try source.execute("PRAGMA incremental_vacuum(2)") }
  }

  private mutating func insert(_ count: Int, into table: RandomSchema.Table, _ columns: [RandomSchema.Column]) throws {
    guard count > 0 else { return }
    let withRowid = !table.isWithoutRowid && table.alias == nil
    let names = (withRowid ? ["rowid"] : []) + columns.map(\.name)
    let marks = names.map { _ in "?" }.joined(separator: ", ")
    let statement = try source.statement(
      "INSERT OR IGNORE INTO \(table.name) (\(names.joined(separator: ", "))) VALUES (\(marks))")
    let longest = random.below(5) == 0 ? schema.pageSize * 2 : 24
    let mode = random.below(4)
    for number in 0..<count {
      var values = columns.map { _ in value(longest: random.below(8) == 0 ? longest : 12) }
      let rowid: Int64 =
        switch mode {
        case 0: Int64(number)
        case 1: Int64(truncatingIfNeeded: random.next()) >> Int64(random.below(64))
        case 2: Int64(random.below(4 * count)) - Int64(2 * count)
        default: random.below(6) == 0 ? [.max, .min, .max - 1, 0, -1, 1][random.below(6)] : Int64(number * 3)
        }
      if let alias = table.alias { values[alias] = .integer(rowid) }
      if withRowid { values.insert(.integer(rowid), at: 0) }
      try statement.run(values)
    }
  }

  /// Texts may hold a NUL, at which NOCASE ends.
  private mutating func value(longest: Int) -> Value {
    let value = random.value(longest: longest)
    guard case .text(let text) = value, random.below(12) == 0 else { return value }
    return .text(text + ["\0", "\0a", "\0B"][random.below(3)])
  }

  /// Holes, freeblocks and rows that moved.
  private mutating func age(_ table: RandomSchema.Table, _ count: Int) throws {
    let place = table.isWithoutRowid ? "length(\(table.columns[0].name))" : "rowid"
    for _ in 0..<1 + random.below(3) {
      let (part, column) = (2 + random.below(4), table.columns[random.below(table.columns.count)])
      try source.execute("DELETE FROM \(table.name) WHERE abs(\(place) % \(part)) = 1")
      if !column.isAlias {
        let update = "UPDATE OR IGNORE \(table.name) SET \(column.name) = ? WHERE abs(\(place) % \(part)) = 0"
        try source.statement(update).run([random.value(longest: random.below(3) == 0 ? schema.pageSize : 40)])
      }
      try insert(count / 3, into: table, table.columns.filter { $0.name != table.later?.name })
    }
  }

  // MARK: What was built

  private func expectEqual(_ table: RandomSchema.Table, _ copy: MemoryDatabase) throws {
    try expectEqual("SELECT rowid, * FROM \(table.name) ORDER BY rowid", in: source, copy)
    for index in table.indexes {
      let filter = index.filter.map { " WHERE \($0)" } ?? ""
      let order = " ORDER BY \(table.list(index.columns, direction: true)), rowid"
      let query = { (way: String) in "SELECT rowid FROM \(table.name) \(way)\(filter)\(order)" }
      // In UTF-16 the order of texts is another.
      let isOwn = schema.encoding == "UTF-8"
      let wanted = query(isOwn ? "INDEXED BY \(index.name)" : "NOT INDEXED")
      try expectEqual(wanted, in: isOwn ? source : copy, copy, query("INDEXED BY \(index.name)"))
    }
  }

  private func expectEqual(
    _ query: String, in one: MemoryDatabase, _ other: MemoryDatabase, _ otherQuery: String? = nil
  ) throws {
    let (left, right) = (try one.statement(query), try other.statement(otherQuery ?? query))
    while try left.step() {
      guard try right.step(), left.equals(right) else {
        throw Difference(description: "rows differ: \(otherQuery ?? query)")
      }
    }
    guard try !right.step() else { throw Difference(description: "more rows: \(query)") }
  }

  private mutating func change(_ copy: MemoryDatabase) throws {
    for table in schema.tables where !table.isWithoutRowid {
      let column = table.columns[random.below(table.columns.count)].name
      try copy.execute("DELETE FROM \(table.name) WHERE rowid % 3 = 0")
      let names = table.columns.filter { !$0.isAlias }.map(\.name)
      if !names.isEmpty {
        try copy.execute(
          "INSERT OR IGNORE INTO \(table.name) (\(names.joined(separator: ", "))) SELECT \(names.reversed().joined(separator: ", "))"
            + " FROM \(table.name) LIMIT 40")
      }
      if column != table.alias.map({ table.columns[$0].name }) {
        try copy.statement("UPDATE OR IGNORE \(table.name) SET \(column) = ? WHERE rowid % 5 = 1")
          .run([random.value(longest: schema.pageSize)])
      }
    }
    if schema.autoVacuum == 2 { try copy.execute("PRAGMA incremental_vacuum") }
    try expectSound(copy, "changed")
    guard random.below(3) == 0 else { return }
    try copy.execute("VACUUM")
    try expectSound(copy, "vacuumed")
  }
}
