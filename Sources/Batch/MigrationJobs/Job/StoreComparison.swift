import CoreDataModel
import CoreDataStore
import Migrations
import RunSupport
import StoreVerification
import Streams

/// How a store differs from what a migration of its source gives now: table by table, row by row.
public struct StoreComparison: Sendable, Codable, Equatable {
  /// A table whose rows differ.
  public struct Difference: Sendable, Codable, Equatable {
    /// The table.
    public var table: String
    /// The entity of the first row that differs, or that which owns the link; nil for a table that is not the model's.
    public var entity: String?
    /// The relationship of a link.
    public var relationship: String?
    /// That row's key, of a link the owner's.
    public var key: Int64?
    /// Rows that only one of the two has, or that are not the same in both.
    public var rows: UInt64
  }

  /// Objects that the migration rejects, and that belong into neither store.
  public struct Rejected: Sendable, Codable, Equatable {
    /// The version before the step that rejects them.
    public var version: String
    /// Their entity there.
    public var entity: String
    /// How many.
    public var count: UInt64
  }

  /// Tables that were compared.
  public var tables: Int
  /// Rows that were compared, of the store.
  public var rows: UInt64
  /// Tables that differ, in the order of the schema.
  public var differences: [Difference]
  /// What both lack, step by step; empty if every object can be migrated.
  public var rejected: [Rejected] = []
}

extension StoreComparison.Rejected {
  /// Of the steps of a migration.
  fileprivate static func all(_ accounts: [StepAccount]) -> [Self] {
    accounts.flatMap { step in
      step.objects.filter { $0.rejected > 0 }.map {
        Self(version: step.source, entity: $0.source, count: $0.rejected)
      }
    }
  }
}

extension MigrationJob {
  /// Migrates a source again, into a file beside a store that was made from it, and compares the two. Neither is
  /// changed, and the new file is gone on return. Values of `now()` differ. Objects that cannot be migrated are rejected,
  /// however many they are: a store that has them is another one.
  ///
  /// `model` is the store's, `request` that of the migration; its output, proof, limit of rejects and consent are not
  /// used: nothing is lost by a comparison. `progress` gets the part of the tables that is compared and the next one, on
  /// the caller's thread; `monitor` has that of the migration before.
  ///
  /// - Throws: ``BatchError`` as ``migrate(_:monitor:)`` does; whatever it is, the two stores are as they were.
  public func compare(
    _ store: String, of model: ManagedObjectModel, with request: Request, monitor: RunMonitor,
    progress: (Double, String) -> Void = { _, _ in }
  ) throws -> StoreComparison {
    try BatchError.looking { try compared(store, model: model, request: request, monitor: monitor, progress) }
  }

  private func compared(
    _ store: String, model: ManagedObjectModel, request: Request, monitor: RunMonitor,
    _ progress: (Double, String) -> Void
  ) throws -> StoreComparison {
    let folder = try JobDirectory(destination: store).destination + ".again"
    guard try fileSystem.statusOfName(folder) == nil else {
      throw BatchError(
        .refused, "an earlier comparison left something here",
        hint: "Look at it, and remove it with `\(ShellWords.line(["rm", "-r", folder]))`", path: folder)
    }
    try UnfinishedFiles.addFolder(folder, in: fileSystem)
    defer { UnfinishedFiles.discard(folder, fileSystem) }
    return try compared(store, with: folder, model: model, request: request, monitor: monitor, progress)
  }

  private func compared(
    _ store: String, with folder: String, model: ManagedObjectModel, request: Request, monitor: RunMonitor,
    _ progress: (Double, String) -> Void
  ) throws -> StoreComparison {
    let copy = FilePaths.join(folder, "again.sqlite")
    // What it leaves is removed: its effect would be nobody's.
    let accounts: [StepAccount]
    do {
      accounts = try migratedAgain(request, to: copy, made: store, monitor)
    } catch { throw BatchError(wrapping: error).withoutEffect }
    let (left, right) = (try StoreConnection(path: store), try StoreConnection(path: copy))
    let names = try [left, right].map(Self.tableNames)
    let joins = try Self.joins(copy, model)
    var comparison = StoreComparison(
      tables: 0, rows: 0, differences: [], rejected: StoreComparison.Rejected.all(accounts))
    let all = names[0] + names[1].filter { !names[0].contains($0) }
    for (number, table) in all.enumerated() {
      progress(Double(number) / Double(all.count), table)
      comparison.tables += 1
      guard names.allSatisfy({ $0.contains(table) }) else {
        comparison.differences.append(.init(table: table, rows: 1))
        continue
      }
      var walk = try PairWalk(table, left: left, right: right)
      try walk.run()
      comparison.rows += walk.rows
      guard walk.differing > 0 else { continue }
      comparison.differences.append(
        try Self.difference(table, rowid: walk.first, rows: walk.differing, joins: joins, connections: [left, right]))
    }
    return comparison
  }

  /// Migrates the source to a copy. Rejects cost a pass for every step: without a record of any they are taken into
  /// account when there is one.
  private func migratedAgain(
    _ request: Request, to copy: String, made store: String, _ monitor: RunMonitor
  ) throws -> [StepAccount] {
    var request = request
    (request.output, request.verification, request.rejects) = (copy, .none, nil)
    request.consent = LossConsent(all: true)
    request.moment = try moment(of: store, request)
    // A source that has the version already is made again as it is.
    if try plan(request, countsRows: false).plan.isUpToDate { request.target = .identity }
    let hasRejects = (try? report(store))?.rejects != nil
    if !hasRejects {
      do { return try migrate(request, monitor).accounts } catch let error as BatchError
        where error.code == .policyFailed
      {
        request.restarts = true
      }
    }
    request.rejects = RejectLimit(.count(.max))
    return try migrate(request, monitor).accounts
  }

  /// The moment of the first migration, which defaults may have.
  private func moment(of store: String, _ request: Request) throws -> Double? {
    let reader = try StoreReader(path: store, fileSystem: LocalFileSystem(), locking: .none)
    defer { reader.close() }
    return try ModelLibrary(paths: request.models).moment(of: reader)
  }

  private static func joins(_ store: String, _ model: ManagedObjectModel) throws -> [StoreBinding.Join] {
    let reader = try StoreReader(path: store, fileSystem: LocalFileSystem(), locking: .none)
    defer { reader.close() }
    return try StoreBinding(reader, model: model).joins
  }

  private static func difference(
    _ table: String, rowid: Int64?, rows: UInt64, joins: [StoreBinding.Join], connections: [StoreConnection]
  ) throws -> StoreComparison.Difference {
    guard let join = joins.first(where: { $0.schema.name == table }), let rowid else {
      return .init(
        table: table, entity: try entity(table, key: rowid, connections: connections), key: rowid, rows: rows)
    }
    let (link, owner) = (
      join.layout.relationship, StoreConnection.quoted(join.schema.columns[join.sourcePosition].name)
    )
    var key: Int64?
    for connection in connections where key == nil {
      try connection.rows("SELECT \(owner) FROM \(StoreConnection.quoted(table)) WHERE rowid = \(rowid)") {
        key = $0.integerIfAny(0)
      }
    }
    return .init(table: table, entity: link.entity, relationship: link.name, key: key, rows: rows)
  }

  private static func tableNames(_ connection: StoreConnection) throws -> [String] {
    var names: [String] = []
    let sql =
      "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    try connection.rows(sql) { names.append($0.text(0) ?? "") }
    return names
  }

  /// The name of a row's entity, as Z_PRIMARYKEY has it.
  private static func entity(_ table: String, key: Int64?, connections: [StoreConnection]) throws -> String? {
    guard let key else { return nil }
    for connection in connections {
      var name: String?
      let sql =
        "SELECT p.Z_NAME FROM \(StoreConnection.quoted(table)) t JOIN Z_PRIMARYKEY p ON p.Z_ENT = t.Z_ENT WHERE t.Z_PK = \(key)"
      // A table that is not an entity's has no such columns.
      try? connection.rows(sql) { name = $0.text(0) }
      if let name { return name }
    }
    return nil
  }
}

/// Goes through a table of two stores side by side, in the order of its keys.
private struct PairWalk {
  private let left: StoreStatement
  private let right: StoreStatement
  private let columns: Int32
  private(set) var rows: UInt64 = 0
  private(set) var differing: UInt64 = 0
  private(set) var first: Int64?

  init(_ table: String, left: StoreConnection, right: StoreConnection) throws {
    var names: [String] = []
    var isWithoutRowid = false
    try left.rows("SELECT name FROM pragma_table_info(\(SQLText.literal(table)))") {
      names.append(StoreConnection.quoted($0.text(0) ?? ""))
    }
    try left.rows("SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = \(SQLText.literal(table))") {
      isWithoutRowid = $0.integer(0) == 1
    }
    let list = ([isWithoutRowid ? "0" : "rowid"] + names).joined(separator: ", ")
    let sql = "SELECT \(list) FROM \(StoreConnection.quoted(table)) ORDER BY \(isWithoutRowid ? "1, 2" : "rowid")"
    self.left = try left.statement(sql)
    self.right = try right.statement(sql)
    columns = Int32(names.count) + 1
  }

  mutating func run() throws {
    var (hasLeft, hasRight) = (try left.step(), try right.step())
    while hasLeft || hasRight {
      let (mine, other) = (left.integer(0), right.integer(0))
      let order = !hasLeft ? 1 : !hasRight ? -1 : mine < other ? -1 : mine > other ? 1 : 0
      if order != 0 || !isEqual() {
        differing += 1
        if first == nil { first = order > 0 ? other : mine }
      }
      if order <= 0 {
        rows += 1
        hasLeft = try left.step()
      }
      if order >= 0 { hasRight = try right.step() }
    }
  }

  private func isEqual() -> Bool {
    (0..<columns).allSatisfy { column in
      var kept = KeptCell()
      kept.keep(left.cell(column))
      return kept.order(of: right.cell(column)) == 0
    }
  }
}
