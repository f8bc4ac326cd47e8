import ArgumentParser
import Batch

/// A database as the place where the result goes.
struct DestinationArguments: ParsableArguments {
  @Option(
    name: .customLong("to-postgres"),
    help: ArgumentHelp(
      "Load the result into PostgreSQL: postgres://USER@HOST/DATABASE, or another address that libpq takes. The store stays as it is. Keep the password in PGPASSWORD or ~/.pgpass.",
      valueName: "url"))
  var url: String?
  @Option(
    name: .customLong("to-sqlite"),
    help: ArgumentHelp(
      "Write the result into the new file of --output as ordinary tables, for programs without Core Data: plain. The store stays as it is.",
      valueName: "type"))
  var form: PlainForm?
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Dates in ordinary tables: iso, text as 2019-01-14T20:01:30.058821Z, which is the default, or unix, seconds since 1970.",
      valueName: "format"))
  var dates: PlainDates?
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Write record types for ordinary tables into a new Swift file, for GRDB 7.", valueName: "path"),
    completion: .file(extensions: ["swift"]))
  var records: String?
  @Option(
    name: .long,
    help: ArgumentHelp(
      "The schema of the tables in PostgreSQL, which is created if it is missing. Default: public.", valueName: "schema"
    ))
  var schema: String?
  @Option(
    name: .long,
    help: ArgumentHelp(
      "How to store entities with sub-entities: one table for each root, which is the default, or one for each class.",
      valueName: "mode"))
  var inheritance: TableInheritance?
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Names of tables and columns: snake-case, which is the default, or core-data, the names in the store.",
      valueName: "style"))
  var names: TableNames?
  @Flag(name: .long, help: "Print the tables as SQL, and do nothing else.") var ddlOnly = false

  private var isAsked: Bool { schema != nil || inheritance != nil || names != nil || dates != nil || records != nil }

  /// Whether the command itself names a database.
  var isNamed: Bool { url != nil || form != nil }

  /// What the command says counts before what a mapping file says.
  private func options(_ base: PostgresOptions?) -> PostgresOptions {
    var options = base ?? PostgresOptions()
    options.schema = schema ?? options.schema
    options.inheritance = inheritance ?? options.inheritance
    options.names = names ?? options.names
    return options
  }

  private func plain(_ base: PlainDestination) -> PlainDestination {
    var destination = base
    destination.inheritance = inheritance ?? destination.inheritance
    destination.names = names ?? destination.names
    destination.dates = dates ?? destination.dates
    destination.records = records ?? destination.records
    return destination
  }

  func validate() throws {
    guard schema.map(PostgresOptions.isSchema) ?? true else {
      throw ValidationError("--schema takes a name of 1 to 63 bytes")
    }
    guard url?.isEmpty != true else {
      throw ValidationError("--to-postgres takes the address of a server and its database")
    }
    guard url == nil || form == nil else {
      throw ValidationError("--to-postgres and --to-sqlite are two places; name one")
    }
    guard form == nil || schema == nil else { throw ValidationError("--schema does not go with --to-sqlite") }
    guard url == nil || (dates == nil && records == nil) else {
      throw ValidationError("--dates and --records do not go with --to-postgres")
    }
  }

  /// Where the result of a request goes, when it goes to a database. A store that the command names comes before what a
  /// mapping file says.
  func destination(_ request: MigrationJob.Request) throws -> LoadDestination? {
    if let url { return .postgres(PostgresDestination(server: PostgresServer(url: url), options: options(nil))) }
    if form != nil {
      guard let output = request.output else { throw ValidationError("--to-sqlite plain needs --output, a new file") }
      return .plain(plain(PlainDestination(path: output)))
    }
    let job = MigrationJob(policies: Program.policies)
    if request.output == nil, let found = try job.destination(of: request) { return try overridden(found) }
    guard !isAsked || ddlOnly else {
      throw ValidationError(
        "--schema, --inheritance, --names, --dates and --records are for --to-postgres, --to-sqlite, a mapping file's destination, or --ddl-only"
      )
    }
    return nil
  }

  private func overridden(_ found: LoadDestination) throws -> LoadDestination {
    switch found {
    case .postgres(var found):
      guard dates == nil, records == nil else {
        throw ValidationError("the mapping file names a server; --dates and --records do not go with it")
      }
      found.options = options(found.options)
      return .postgres(found)
    case .plain(let found):
      guard schema == nil else { throw ValidationError("the mapping file names a file; --schema does not go with it") }
      return .plain(plain(found))
    }
  }

  /// The SQL for a plan's tables; what has no counterpart becomes a note of the plan.
  func script(_ plan: inout MigrationPlan) throws -> String {
    let (sql, notes) = try MigrationJob(policies: Program.policies).script(plan, for: try tables(plan))
    plan.notes += notes
    return sql
  }

  /// The database whose tables are shown.
  private func tables(_ plan: MigrationPlan) throws -> LoadDestination {
    if form != nil { return .plain(plain(PlainDestination(path: ""))) }
    if url == nil, let named = plan.destination { return try overridden(named) }
    return .postgres(PostgresDestination(server: PostgresServer(url: url ?? ""), options: options(nil)))
  }

  /// Prints the tables that a request's result would get.
  func printScript(_ request: MigrationJob.Request) throws {
    var plan = try MigrationJob(policies: Program.policies).plan(request)
    Console.writeOutput(try script(&plan) + "\n")
  }

  /// Refuses mapping files that name a database, where many stores are migrated: the first one would take the tables.
  static func refuseDestination(in mappings: [String]) throws {
    guard let path = try mappings.first(where: MappingModelReader.namesDestination) else { return }
    throw BatchError(
      .refused, "a mapping file names a database for the result, which is for one store at a time",
      hint: "Take the destination out of it, or migrate the stores one by one", effect: .nothingWritten, path: path)
  }
}

/// What a file gets whose tables are not Core Data's.
enum PlainForm: String, ExpressibleByArgument, CaseIterable {
  case plain
}

extension PlainDates: ExpressibleByArgument {}
extension TableInheritance: ExpressibleByArgument {}
extension TableNames: ExpressibleByArgument {}
