@testable import CoreDataModel
@testable import CoreDataStore

/// Models made in code, for what no real store shows.
enum StoreModels {
  static func entity(
    _ name: String, parent: String? = nil, _ attributes: [(String, AttributeType)] = [],
    _ relationships: [RelationshipDescription] = []
  ) -> EntityDescription {
    var entity = EntityDescription(name: name)
    entity.superentity = parent
    entity.attributes = attributes.map { AttributeDescription(name: $0.0, type: $0.1) }
    entity.relationships = relationships
    return entity
  }

  static func link(
    _ name: String, _ destination: String, _ inverse: String?, many: Bool = false, ordered: Bool = false
  ) -> RelationshipDescription {
    var link = RelationshipDescription(
      name: name, destinationEntity: destination, inverseName: inverse, maxCount: many ? 0 : 1)
    link.isOrdered = ordered
    return link
  }

  static func layout(_ entities: [EntityDescription]) throws -> StoreLayout {
    try StoreLayout(model: ManagedObjectModel(name: "Test", entities: entities))
  }

  /// Authors and books, in every shape that a relationship can have.
  static func library() -> ManagedObjectModel {
    var book = entity(
      "Book", parent: "Medium", [("title", .string), ("pages", .integer32)],
      [link("authors", "Author", "books", many: true), link("shelf", "Shelf", "books")])
    book.uniquenessConstraints = [["title"]]
    return ManagedObjectModel(
      name: "Library",
      entities: [
        entity(
          "Author", [("name", .string)],
          [
            link("books", "Book", "authors", many: true, ordered: true),
            link("friends", "Author", "friends", many: true),
            link("pupils", "Author", "teachers", many: true), link("teachers", "Author", "pupils", many: true),
          ]),
        entity("Medium", [("id", .uuid)], [link("cover", "Cover", nil)]),
        book,
        entity("Cover", [("image", .binaryData)]),
        entity("Shelf", [], [link("books", "Book", "shelf", many: true, ordered: true), link("first", "Medium", nil)]),
        entity("Reader", [], [link("wishes", "Book", nil, many: true, ordered: true)]),
      ])
  }
}
