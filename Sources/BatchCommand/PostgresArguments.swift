import ArgumentParser
import Batch

/// PostgreSQL as the place where the result goes.
struct PostgresArguments: ParsableArguments {
  @Option(
    name: .customLong("to-postgres"),
    help:
      "Load the result into PostgreSQL: postgres://USER@HOST/DATABASE, or what else libpq takes. The store stays as it is. A password is best in PGPASSWORD or ~/.pgpass."
  )
  var url: String?
  @Option(name: .long, help: "The schema of its tables; it is made where it is missing; public without it.") var schema: String?
  @Option(
    name: .long,
    help: "What entities with sub-entities become: one table for each root, which is the default, or one for each class.")
  var inheritance: PostgresOptions.Inheritance?
  @Option(
    name: .long, help: "Names of tables and columns: snake-case, which is the default, or core-data, which keeps the store's.")
  var names: PostgresOptions.Names?
  @Flag(name: .long, help: "Print the tables as SQL, and do nothing else.") var ddlOnly = false

  var server: PostgresServer? { url.map { PostgresServer(url: $0) } }

  var options: PostgresOptions {
    var options = PostgresOptions()
    options.schema = schema ?? options.schema
    options.inheritance = inheritance ?? options.inheritance
    options.names = names ?? options.names
    return options
  }

  func validate() throws {
    guard (1..<64).contains(options.schema.utf8.count) else { throw ValidationError("--schema takes a name of 1 to 63 bytes") }
    guard url?.isEmpty != true else { throw ValidationError("--to-postgres takes the address of a server and its database") }
    guard url != nil || ddlOnly || (schema == nil && inheritance == nil && names == nil) else {
      throw ValidationError("--schema, --inheritance and --names are for --to-postgres or --ddl-only")
    }
  }

  /// The SQL for a plan's tables; what has no counterpart becomes a note of the plan.
  func script(_ job: MigrationJob, _ plan: inout MigrationPlan) throws -> String {
    let (sql, notes) = try job.postgresScript(plan, options)
    plan.notes += notes
    return sql
  }

  /// Prints the tables that a request's result would get.
  func printScript(_ request: MigrationJob.Request) throws {
    let job = MigrationJob(policies: GodwitCommand.policies)
    var plan = try job.plan(request)
    Console.print(try script(job, &plan))
  }
}

extension PostgresOptions.Inheritance: ExpressibleByArgument {}
extension PostgresOptions.Names: ExpressibleByArgument {}
