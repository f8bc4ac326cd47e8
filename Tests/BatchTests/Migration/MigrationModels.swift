import Streams

@testable import CoreDataModel

/// Three versions with everything that inference carries over.
enum MigrationModels {
  static func attribute(
    _ name: String, _ type: AttributeType = .string, id: String? = nil, value: Value? = nil
  ) -> AttributeDescription {
    var attribute = AttributeDescription(name: name, type: type)
    attribute.renamingIdentifier = id
    attribute.defaultValue = value
    return attribute
  }

  static func entity(
    _ name: String, parent: String? = nil, id: String? = nil, _ attributes: [AttributeDescription],
    _ relationships: [RelationshipDescription] = []
  ) -> EntityDescription {
    var entity = StoreModels.entity(name, parent: parent, [], relationships)
    entity.attributes = attributes
    entity.renamingIdentifier = id
    return entity
  }

  private static func link(
    _ name: String, _ destination: String, _ inverse: String?, many: Bool = false, ordered: Bool = false,
    id: String? = nil
  ) -> RelationshipDescription {
    var link = StoreModels.link(name, destination, inverse, many: many, ordered: ordered)
    link.renamingIdentifier = id
    return link
  }

  static let all = [first, second, third]

  static let first = ManagedObjectModel(
    name: "V1",
    entities: [
      entity(
        "Person",
        [
          attribute("name", .string), attribute("age", .integer32), attribute("height", .integer64),
          attribute("obsolete", .string), attribute("born", .date), attribute("image", .binaryData),
        ],
        [
          link("books", "Book", "author", many: true), link("home", "Place", "residents"),
          link("favorite", "City", nil), link("friends", "Person", "friends", many: true),
        ]),
      entity("Place", [attribute("title", .string)], [link("residents", "Person", "home", many: true)]),
      entity("City", parent: "Place", [attribute("population", .integer32)]),
      entity("Village", parent: "Place", [attribute("mayor", .string)]),
      entity(
        "Book", [attribute("title", .string), attribute("pages", .integer16)],
        [
          link("author", "Person", "books"), link("chapters", "Chapter", "book", many: true, ordered: true),
          link("tags", "Tag", "books", many: true),
        ]),
      entity("Chapter", [attribute("heading", .string)], [link("book", "Book", "chapters")]),
      entity("Tag", [attribute("word", .string)], [link("books", "Book", "tags", many: true, ordered: true)]),
      entity("Ghost", [attribute("sound", .string)]),
    ])

  static let second = ManagedObjectModel(
    name: "V2",
    entities: [
      // Comes first by name, so that all numbers change.
      entity("Aardvark", [attribute("diet", .string, value: .text("ants"))]),
      entity(
        "Human", id: "Person",
        [
          attribute("fullName", .string, id: "name"), attribute("age", .integer64), attribute("height", .double),
          attribute("level", .integer32, value: .integer(7)), attribute("motto", .string, value: .text("none")),
          attribute("born", .date), attribute("image", .binaryData),
        ],
        [
          link("books", "Book", "writer", many: true), link("home", "Place", "residents"),
          link("favorite", "City", nil), link("friends", "Human", "friends", many: true),
        ]),
      entity("Place", [attribute("title", .string)], [link("residents", "Human", "home", many: true)]),
      entity(
        "City", parent: "Place",
        [attribute("population", .integer64), attribute("mood", .string, value: .text("calm"))]),
      entity("Castle", parent: "Place", [attribute("towers", .integer16)]),
      entity("Village", parent: "Place", [attribute("mayor", .string)]),
      entity(
        "Book", [attribute("title", .string), attribute("pages", .integer32)],
        [
          link("writer", "Human", "books", id: "author"),
          link("chapters", "Chapter", "book", many: true, ordered: true), link("tags", "Tag", "books", many: true),
        ]),
      entity("Chapter", [attribute("heading", .string)], [link("book", "Book", "chapters")]),
      entity("Tag", [attribute("word", .string)], [link("books", "Book", "tags", many: true, ordered: true)]),
    ])

  /// Once more: age becomes a double, and the added entities go again.
  static let third: ManagedObjectModel = {
    var entities = second.entities.filter { $0.name != "Aardvark" && $0.name != "Castle" }
    for index in entities.indices where entities[index].name == "Human" {
      entities[index].attributes[1].type = .double
      entities[index].renamingIdentifier = nil
      entities[index].attributes[0].renamingIdentifier = nil
    }
    for index in entities.indices where entities[index].name == "Book" {
      entities[index].relationships[0].renamingIdentifier = nil
    }
    return ManagedObjectModel(name: "V3", entities: entities)
  }()
}
