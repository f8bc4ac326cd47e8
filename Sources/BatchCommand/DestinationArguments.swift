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
    name: .long,
    help: ArgumentHelp(
      "The schema of its tables, which is created if it is missing. Default: public.", valueName: "schema"))
  var schema: String?
  @Option(
    name: .long,
    help: ArgumentHelp(
      "How to store entities with sub-entities: one table for each root, which is the default, or one for each class.",
      valueName: "mode"))
  var inheritance: PostgresOptions.Inheritance?
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Names of tables and columns: snake-case, which is the default, or core-data, the names in the store.",
      valueName: "style"))
  var names: PostgresOptions.Names?
  @Flag(name: .long, help: "Print the tables as SQL, and do nothing else.") var ddlOnly = false

  private var isAsked: Bool { schema != nil || inheritance != nil || names != nil }

  /// What the command says counts before what a mapping file says.
  private func options(_ base: PostgresOptions?) -> PostgresOptions {
    var options = base ?? PostgresOptions()
    options.schema = schema ?? options.schema
    options.inheritance = inheritance ?? options.inheritance
    options.names = names ?? options.names
    return options
  }

  func validate() throws {
    guard schema.map(PostgresOptions.isSchema) ?? true else {
      throw ValidationError("--schema takes a name of 1 to 63 bytes")
    }
    guard url?.isEmpty != true else {
      throw ValidationError("--to-postgres takes the address of a server and its database")
    }
  }

  /// Where the result of a request goes, when it goes to a server. A store that the command names comes before what a
  /// mapping file says.
  func destination(_ request: MigrationJob.Request) throws -> LoadDestination? {
    if let url { return .postgres(PostgresDestination(server: PostgresServer(url: url), options: options(nil))) }
    let job = MigrationJob(policies: Program.policies)
    if request.output == nil, let found = try job.destination(of: request) {
      switch found {
      case .postgres(var found):
        found.options = options(found.options)
        return .postgres(found)
      }
    }
    guard !isAsked || ddlOnly else {
      throw ValidationError(
        "--schema, --inheritance and --names are for --to-postgres, a mapping file's destination, or --ddl-only")
    }
    return nil
  }

  /// The SQL for a plan's tables; what has no counterpart becomes a note of the plan.
  func script(_ plan: inout MigrationPlan) throws -> String {
    var destination = PostgresDestination(server: PostgresServer(url: url ?? ""), options: options(nil))
    if url == nil, case .postgres(let named)? = plan.destination { destination.options = options(named.options) }
    let (sql, notes) = try MigrationJob(policies: Program.policies).script(plan, for: .postgres(destination))
    plan.notes += notes
    return sql
  }

  /// Prints the tables that a request's result would get.
  func printScript(_ request: MigrationJob.Request) throws {
    var plan = try MigrationJob(policies: Program.policies).plan(request)
    Console.writeOutput(try script(&plan) + "\n")
  }

  /// Refuses mapping files that name a server, where many stores are migrated: the first one would take the tables.
  static func refuseDestination(in mappings: [String]) throws {
    guard let path = try mappings.first(where: MappingModelReader.namesDestination) else { return }
    throw BatchError(
      .refused, "a mapping file names a server for the result, which is for one store at a time",
      hint: "Take the destination out of it, or migrate the stores one by one", effect: .nothingWritten, path: path)
  }
}

extension PostgresOptions.Inheritance: ExpressibleByArgument {}
extension PostgresOptions.Names: ExpressibleByArgument {}
