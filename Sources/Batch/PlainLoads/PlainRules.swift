import LoadTables
import MappingModels

/// How ordinary tables are made: what was asked for, and what SQLite says of names.
struct PlainRules: Sendable {
  let dates: PlainDates
  let isRoot: Bool
  let tables: LoadRules
  /// What leads on after an error.
  var advice = PlainAdvice()

  init(_ destination: PlainDestination) {
    dates = destination.dates
    isRoot = destination.inheritance == .root
    var rules = LoadRules()
    (rules.inheritance, rules.names) = (destination.inheritance, destination.names)
    // Names of the key that every table has (SQLite, "CREATE TABLE", ROWIDs and the INTEGER PRIMARY KEY).
    rules.takenColumns = ["rowid", "oid", "_rowid_"]
    // SQLite keeps these names for itself (the same page).
    rules.takenPrefix = "sqlite_"
    tables = rules
  }
}
