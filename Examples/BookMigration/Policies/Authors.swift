import Batch

extension EntityMapping {
  /// The version that the mapping leads to, as its mapping model says.
  var modelVersion: String? { userInfo["modelVersion"] }
}

extension Lookup {
  /// Finds authors by their name.
  static let authorByName = Lookup(entity: "Author", attribute: "name")
}

extension DestinationObject {
  /// Links a book with the author of that name, who is made with the first book. A book without a name stays without author.
  func addAuthor(named name: String?, _ manager: MigrationManager) throws {
    guard let name else { return }
    try add(manager.findOrCreate("Author", "name", .text(name)), to: "authors")
  }
}
