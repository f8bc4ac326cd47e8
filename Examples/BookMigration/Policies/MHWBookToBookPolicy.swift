import Batch

/// Moves the books of objc.io's example. Its mapping models name the version that a step leads to in their user info.
///
/// To version 2 the name of a book's author becomes an object, one for all books with that name. To version 3 a book's
/// file becomes an object for each of its users.
struct MHWBookToBookPolicy: EntityMigrationPolicy {
  func lookups(for mapping: EntityMapping) -> [Lookup] {
    switch mapping.modelVersion {
    case "2": [.authorByName]
    // Several users may share a userId; the example's own tests expect the files at the last of them.
    case "3": [Lookup(entity: "User", attribute: "userId", choice: .last)]
    default: []
    }
  }

  func createDestinationInstances(
    forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let book = try manager.createDestinationInstance(forSource: source, in: mapping)
    switch mapping.modelVersion {
    case "2": try book.addAuthor(of: source, manager)
    case "3": try addFiles(of: source, to: book, manager)
    default: break
    }
  }

  private func addFiles(of source: SourceObject, to book: DestinationObject, _ manager: MigrationManager) throws {
    for user in try source.objects("users") {
      let file = try manager.insert(entity: "File")
      try file.set("fileURL", from: source, "fileURL")
      try file.set("book", to: book)
      try file.set("user", to: manager.find("User", where: "userId", is: user.value("userId")))
    }
  }
}
