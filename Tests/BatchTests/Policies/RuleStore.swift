import Foundation

@testable import CoreDataModel
@testable import MigrationJobs

/// A store of one step whose mapping file a test writes: rows by SQL, versions A and B.
struct RuleStore {
  let folder: MigrationFolder
  let store: String

  /// Makes an empty store of version A and puts rows in, each with the number of its entity.
  init(
    _ old: [EntityDescription], _ new: [EntityDescription], _ rows: [(entity: String, columns: String, values: String)]
  )
    throws
  {
    folder = try MigrationFolder([
      ManagedObjectModel(name: "A", entities: old), ManagedObjectModel(name: "B", entities: new),
    ])
    store = try folder.sample("A", rows: 0, seed: 1)
    for row in rows {
      let number = "(SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = '\(row.entity)')"
      try MigrationFolder.execute(
        store,
        "INSERT INTO Z\(row.entity.uppercased()) (Z_ENT, Z_OPT, \(row.columns)) VALUES (\(number), 1, \(row.values))")
    }
  }

  /// The request to migrate a copy of the store by a file with these entity mappings.
  func request(_ entities: String, as name: String = UUID().uuidString) throws -> MigrationJob.Request {
    let file = "\(folder.path)/\(name).yaml"
    try Data("from: A\nto: B\nentities:\n\(entities)\n".utf8).write(to: URL(fileURLWithPath: file))
    var request = folder.request(try folder.copy(store, as: name))
    request.mappings = [file]
    return request
  }

  /// Migrates, and gives the path of the result.
  func migrated(_ entities: String) throws -> String {
    let request = try request(entities)
    guard try folder.migrate(request).isVerified else { return "" }
    return request.source
  }

  /// Migrates without a mapping file, and gives the path of the result.
  func inferred() throws -> String {
    let request = folder.request(try folder.copy(store, as: UUID().uuidString))
    _ = try folder.migrate(request)
    return request.source
  }

  /// What a migration says is wrong: message and hint.
  func failure(_ entities: String) throws -> String {
    do { _ = try folder.migrate(request(entities)) } catch { return "\(error)" }
    return "nothing"
  }

  /// The store's UUID.
  func uuid() throws -> String {
    let row = try MigrationFolder.rows(store, "SELECT Z_UUID FROM Z_METADATA")
    return String(row.first?.split(separator: "\"").dropFirst().first ?? "")
  }
}
