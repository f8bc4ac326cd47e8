import Batch

/// Moves the books of the library model: to version 2 author names become objects, to version 3 files do, each of which
/// belongs to the book's user.
struct LibraryBookPolicy: EntityMigrationPolicy {
  func lookups(for mapping: EntityMapping) -> [Lookup] { mapping.modelVersion == "2" ? [.authorByName] : [] }

  func writes(for mapping: EntityMapping) -> [String] { ["Book", mapping.modelVersion == "2" ? "Author" : "File"] }

  func createDestinationInstances(
    forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let book = try manager.createDestinationInstance(forSource: source, in: mapping)
    switch mapping.modelVersion {
    case "2": try book.addAuthor(of: source, manager)
    case "3": try addFile(of: source, to: book, manager)
    default: break
    }
  }

  private func addFile(of source: SourceObject, to book: DestinationObject, _ manager: MigrationManager) throws {
    let file = try manager.insert(entity: "File")
    try file.set("fileURL", from: source, "fileURL")
    try file.set("book", to: book)
    let users = try manager.destinationInstances(forSourceRelationshipNamed: "user", sourceInstances: [source])
    try file.set("user", to: users.first)
  }
}
