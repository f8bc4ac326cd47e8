import CoreDataModel
import CoreDataStore
import Migrations
import RunSupport
import Streams

/// Builds the tables of an import, one after the other, from what a spool hands out in order.
final class ImportTables {
  private static let rowsPerLook: UInt64 = 1 << 8

  let plan: ImportPlan
  let spool: ImportSpool
  private let sides: ImportSides
  let lines: ImportLines
  private let database: DatabaseBuilder
  private let total: Double
  /// Called now and then between two rows, where a checkpoint may be, with the bytes of rows and the part that is done.
  var look: (Int, Double) throws -> Void = { _, _ in }
  var bytesSinceLook = 0
  /// What was handed out by the spool and is in the tables.
  var taken: UInt64 = 0
  /// Tables that are finished, of entities and then of joins; the next one is at hand.
  var next = 0
  var builder: TableBuilder?
  /// A row whose patches may follow.
  private var open: (table: Int, address: ImportAddress, line: Int)?
  private var openRecord: [UInt8] = []
  private var patches: [ImportSpool.Patch] = []
  private var openLink: ImportSpool.Link?
  private var orders: (source: Int64?, destination: Int64?) = (nil, nil)
  /// By table, the columns of to-one relationships of whose other side there are lists.
  lazy var listed = plan.layout.entityTables.indices.map { sides.columns(of: $0, plan) }
  var linkRow: Int64 = 0
  /// Objects by Z_ENT.
  var counts: [UInt64]
  /// The position of Z_ENT by table.
  private let entityColumns: [Int]
  var links: UInt64 = 0
  var rows: UInt64 = 0
  private let decoder = RecordDecoder()
  private let encoder = RecordEncoder()
  private var bytes = [UInt8](repeating: 0, count: 4096)

  init(
    plan: ImportPlan, spool: ImportSpool, sides: ImportSides, lines: ImportLines, database: DatabaseBuilder,
    total: UInt64
  ) {
    (self.plan, self.spool, self.sides, self.lines) = (plan, spool, sides, lines)
    self.database = database
    self.total = Double(max(1, total))
    counts = Array(repeating: 0, count: plan.byNumber.count)
    entityColumns = plan.layout.entityTables.map { $0.columns.firstIndex { $0.role == .entity } ?? 1 }
  }

  /// Takes a row.
  func row(_ table: Int, _ address: ImportAddress, line: Int, record: UnsafeRawBufferPointer) throws {
    if let before = open, before.table == table, before.address == address {
      throw lines.refusal(
        "two objects have the key \(address.number)", at: min(before.line, line), and: max(before.line, line),
        entity: root(table))
    }
    try close()
    if rows % Self.rowsPerLook == 0 { try lookUp() }
    open = (table, address, line)
    openRecord.removeAll(keepingCapacity: true)
    openRecord.append(contentsOf: record)
    bytesSinceLook += record.count
    taken += 1
  }

  func lookUp() throws {
    defer { bytesSinceLook = 0 }
    try look(bytesSinceLook, min(1, Double(rows) / total))
  }

  /// Takes what another object sets in the row before.
  func patch(_ table: Int, _ address: ImportAddress, set patch: ImportSpool.Patch) throws {
    guard let row = open, row.table == table, row.address == address else {
      // The other row of a one-to-one has its key all the same.
      guard plan.allowsDangling, patch.isWeak else { throw nowhere(table, address, by: patch) }
      return taken += 1
    }
    patches.append(patch)
    taken += 1
  }

  /// Takes a link of a join table. That of the other side follows.
  func link(_ join: Int, _ link: ImportSpool.Link) throws {
    try close()
    let table = plan.layout.entityTables.count + join
    if next != table || builder == nil { try closeLink() }
    try advance(to: table)
    if let before = openLink, before.source != link.source || before.destination != link.destination { try closeLink() }
    if openLink == nil, links % Self.rowsPerLook == 0 { try lookUp() }
    openLink = link
    if link.isBySource { orders.destination = link.order } else { orders.source = link.order }
    bytesSinceLook += 2 * ImportAddress.length
    taken += 1
  }

  /// Finishes all tables.
  func finish() throws {
    try close()
    try closeLink()
    try advance(to: plan.layout.entityTables.count + plan.layout.joinTables.count)
  }

  func root(_ table: Int) -> String { plan.layout.entityTables[table].rootEntity }

  private func name(_ table: Int) -> String {
    let entities = plan.layout.entityTables
    return table < entities.count ? entities[table].name : plan.layout.joinTables[table - entities.count].name
  }

  /// Finishes tables, those without rows as well, up to one, which is begun.
  func advance(to table: Int) throws {
    let count = plan.layout.entityTables.count + plan.layout.joinTables.count
    while next < table {
      let done = try builder ?? makeBuilder(next)
      try done.finish()
      builder = nil
      next += 1
      linkRow = 0
    }
    if builder == nil, next < count { builder = try makeBuilder(next) }
  }

  func makeBuilder(_ table: Int) throws -> TableBuilder {
    guard let root = database.root(of: name(table)) else {
      throw BatchError(.failed, "the schema lacks \(name(table))")
    }
    return TableBuilder(root: root, writer: database.writer)
  }

  // MARK: Rows

  func close() throws {
    guard let row = open else { return }
    open = nil
    defer { if !patches.isEmpty { patches.removeAll(keepingCapacity: true) } }
    try advance(to: row.table)
    let key = row.address.key(after: spool.largestKeys[row.table])
    try openRecord.withUnsafeBytes { record in
      guard decoder.decode(record) else { throw BatchError(.failed, "a row of the import is damaged") }
      let number = Int(decoder.integer(entityColumns[row.table]) ?? 0)
      counts[number] += 1
      let required = plan.byNumber[number]?.required ?? []
      guard !patches.isEmpty else {
        let missing = required.first { $0.isMissing { decoder.type($0) == SerialType.null } }
        if let missing { throw self.missing(missing.name, number, line: row.line) }
        try compareSides(row.table, line: row.line) { decoder.integer($0) }
        return try append(key, record)
      }
      let values = try patched(row.table, key)
      try compareSides(row.table, line: row.line) { column in
        if case .integer(let target) = values[column] { target } else { nil }
      }
      let missing = required.first { $0.isMissing { values[$0] == .null } }
      if let missing { throw self.missing(missing.name, number, line: row.line) }
      encoder.reset()
      for value in values { encoder.append(value) }
      try append(key)
    }
    rows += 1
  }

  private func patched(_ table: Int, _ key: Int64) throws -> [Value] {
    var values = try (0..<decoder.columnCount).map { try decoder.value($0) }
    let nowhere = Set(patches.filter(\.isNone).map(\.column))
    for patch in patches where !patch.isNone && !(patch.isWeak && nowhere.contains(patch.column)) {
      try apply(patch, to: &values, table: table, key: key)
    }
    return values
  }

  /// Notes where a row leads to an object without being in that one's list.
  private func compareSides(_ table: Int, line: Int, _ target: (Int) -> Int64?) throws {
    for (column, owners) in listed[table] where !patches.contains(where: { $0.column == column && $0.isOfList }) {
      guard let target = target(column) else { continue }
      try sides.addLink(.init(table: table, column: column), to: spool.address(owners, of: target), line: line)
    }
  }

  /// Sets a key. Both sides of a relationship may say the same, and must not say different things.
  private func apply(
    _ patch: ImportSpool.Patch, to values: inout [Value], table: Int, key row: Int64
  ) throws {
    let key = patch.target.key(after: spool.largestKeys[patch.table])
    if case .integer(let other) = values[patch.column], other != key {
      throw contradiction(patch, of: row, in: table, keys: [other, key])
    }
    values[patch.column] = .integer(key)
    if let column = patch.entityColumn, patch.entity > 0 { values[column] = .integer(Int64(patch.entity)) }
    guard let column = patch.orderColumn else { return }
    // Where nobody said the order, it is that of the keys.
    if let order = patch.order { values[column] = .integer(order) }
    if values[column] == .null { values[column] = .integer(row &* 1024) }
  }

  private func append(_ key: Int64) throws {
    let length = encoder.length
    if bytes.count < length { bytes = [UInt8](repeating: 0, count: length * 2) }
    bytes.withUnsafeMutableBytes { encoder.write(to: $0.baseAddress!) }
    try bytes.withUnsafeBytes { try append(key, UnsafeRawBufferPointer(rebasing: $0[..<length])) }
  }

  private func append(_ key: Int64, _ record: UnsafeRawBufferPointer) throws {
    try builder?.append(rowid: key, record: record)
  }
}

// Links of join tables.
extension ImportTables {
  private func closeLink() throws {
    guard let link = openLink else { return }
    openLink = nil
    defer { orders = (nil, nil) }
    let position = next - plan.layout.entityTables.count
    let join = plan.layout.joinTables[position]
    if orders.source == nil || orders.destination == nil { try compareSides(link, join: position) }
    linkRow += 1
    encoder.reset()
    for column in join.columns {
      switch column {
      case join.sourceColumn: encoder.append(key(link.source, of: join.relationship.entity))
      case join.destinationColumn: encoder.append(key(link.destination, of: join.inverse.entity))
      case join.sourceOrderColumn: encoder.append(orders.source ?? linkRow * 1024)
      default: encoder.append(orders.destination ?? linkRow * 1024)
      }
    }
    try append(linkRow)
    links += 1
  }

  /// Notes that one side alone has a link.
  private func compareSides(_ link: ImportSpool.Link, join: Int) throws {
    try sides.addLink(
      .init(table: ImportSpool.firstJoin | join, column: link.isBySource ? 1 : 0),
      to: link.isBySource ? link.destination : link.source, line: link.line)
  }

  private func key(_ address: ImportAddress, of entity: String) -> Int64 {
    let table = plan.layout.tablePosition(ofEntity: entity) ?? 0
    return address.key(after: spool.largestKeys[table])
  }
}
