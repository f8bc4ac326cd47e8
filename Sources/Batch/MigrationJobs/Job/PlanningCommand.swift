/// The command that asks for a plan: advice about what it is refused for is the same command with another option.
public enum PlanningCommand: String, Sendable {
  case migrate
  /// Only looks. Its advice must not replace a store.
  case plan

  /// The words of a migration as those of the command.
  func words(_ migration: [String]) -> [String] { [rawValue] + migration.dropFirst() }
}
