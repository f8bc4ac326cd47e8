import CoreDataModel
import LoadTables
import MappingModels
import MigrationJobs
import RunSupport
import Streams

/// Commands for a person who wants no more of a load that is under way, whole ones, for a POSIX shell.
struct LoadAdvice {
  private let folder: LoadFolder
  private let plan: LoadPlan?
  private let model: ManagedObjectModel?
  private let program: String

  /// `program` is the one that begins again.
  init(_ folder: LoadFolder, program: String = ProgramName.current) {
    (self.folder, self.program) = (folder, program)
    let found = try? folder.read()
    (plan, model) = (found?.plan, found?.model)
  }

  /// Takes away what the load has made, here and on the server.
  var givingUp: String { commands.map { "`\($0)`" }.joined(separator: ", then ") }

  /// The same as one line.
  var givingUpLine: String { commands.joined(separator: " && ") }

  /// Gives the load up and loads once more, as one line; without a command that began the load it only gives it up.
  var beginningAgainLine: String {
    (commands + [plan?.command(of: program)].compactMap { $0 }).joined(separator: " && ")
  }

  /// The same, and the load once more.
  var beginningAgain: String {
    let again = plan?.command(of: program).map { "`\($0)`" } ?? "the command that began the load"
    return "\(givingUp), then \(again)"
  }

  /// An error of the load itself, with what leads on from a value that the server cannot hold: the rows that are there
  /// come of the old one.
  func explained(_ error: BatchError) -> BatchError {
    guard error.code == .failed, error.entity != nil, error.hint == nil else { return error }
    var error = error
    error.hint = "Correct the value in the store, or by a mapping or policy, and begin again: \(beginningAgain)"
    error.next = [beginningAgainLine]
    return error
  }

  private var commands: [String] {
    // The folder last: it says which tables they are.
    [dropping, ProgramName.command("clean", "--all", folder.source).line].compactMap { $0 }
  }

  /// Drops what is on the server; nil if the load has made no tables there.
  var dropping: String? {
    guard let plan, plan.isOnServer, let model, let schema = try? LoadSchemaPlanner.plan(model, plan.options) else {
      return nil
    }
    let statements = PostgresStatements(schema: schema)
    let book = "\(PostgresNames.quoted(plan.options.schema)).\(LoadBook.table)"
    let names = ([book] + schema.tables.indices.map(statements.name)).joined(separator: ", ")
    return ShellWords.line(["psql", plan.server, "-c", "DROP TABLE IF EXISTS \(names)"])
  }
}

extension LoadPlan {
  /// The command that begins the load again; nil if it was not begun by a command, or if another option is among its
  /// own.
  func command(of program: String = ProgramName.current) -> String? {
    guard let words = ReplayCommand.words(arguments ?? [], source: source, output: nil, restarts: false) else {
      return nil
    }
    let standard = PostgresOptions()
    let others =
      ["--to-postgres", server, "--schema", options.schema]
      + (options.inheritance == standard.inheritance ? [] : ["--inheritance", options.inheritance.rawValue])
      + (options.names == standard.names ? [] : ["--names", options.names.rawValue])
    return ProgramName.command(words + others, of: program).line
  }
}
