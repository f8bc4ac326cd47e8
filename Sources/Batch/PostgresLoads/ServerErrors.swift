import MappingModels
import MigrationJobs
import RunSupport

extension PostgresLoad {
  /// The server is another one than that of the load.
  static var otherServer: BatchError {
    BatchError(
      .refused, "the server has nothing of this load",
      hint: "Is it the one that the load was begun with, and its database? Name it with --to-postgres",
      effect: .nothingWritten)
  }

  /// What a server has said, as an error of the load.
  func explained(_ error: PostgresError, isFirst: Bool) -> BatchError {
    let name = server.withoutPassword
    let effect: BatchError.Effect? = isBegun ? nil : .nothingWritten
    switch error.state {
    case "3D000":
      let command = server.creatingDatabase
      return BatchError(
        .refused, "\(name) does not exist: \(error.message)",
        hint: "Create the database with \(command?.description ?? "createdb")", effect: effect,
        next: command.map { [$0.line] } ?? [])
    case "28P01", "28000", "42501":
      return BatchError(
        .refused, "\(name) does not let this user do that: \(error.message)",
        hint: "Give user and password in the URL, by PGPASSWORD or in ~/.pgpass, and look at the user's rights",
        effect: effect)
    case _ where error.isOutOfRoom:
      return BatchError(.stopped, "\(name) has no room: \(error.message)", hint: "Make room there")
    case _ where isFirst:
      return BatchError(
        .refused, "\(name) cannot be reached: \(error.message)",
        hint: "Is the server running, and is the address right?", effect: effect)
    case _ where error.isPassing:
      return BatchError(.stopped, "\(name) is away: \(error.message)", hint: "Wait until it is back")
    case _ where !isBegun:
      return BatchError(
        .refused, "\(name) refused a statement: \(error)", hint: "Correct what it names",
        effect: .nothingWritten)
    default:
      return BatchError(.failed, "\(name) refused a statement: \(error)", hint: "Correct what it names")
    }
  }
}
