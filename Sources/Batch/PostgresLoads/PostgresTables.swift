import CoreDataModel
import LoadTables
import MappingModels

extension LoadSchemaPlanner {
  /// Plans the tables of a model on a server. Throws as ``StoreLayout`` does.
  static func plan(_ model: ManagedObjectModel, _ options: PostgresOptions) throws -> LoadSchema {
    var rules = LoadRules()
    (rules.inheritance, rules.names, rules.namespace) = (options.inheritance, options.names, options.schema)
    // What the load itself needs.
    rules.takenNames = [LoadBook.table]
    rules.takenColumns = PostgresNames.systemColumns
    return try plan(model, rules)
  }
}
