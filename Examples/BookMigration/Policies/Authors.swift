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
  /// Links a book with the author whose name its source has, who is made with the first book. A book without a name
  /// stays without author.
  func addAuthor(of source: SourceObject, _ manager: MigrationManager) throws {
    guard let author = try manager.findOrCreate("Author", where: "name", from: source, "authorName") else { return }
    try add(author, to: "authors")
  }
}
