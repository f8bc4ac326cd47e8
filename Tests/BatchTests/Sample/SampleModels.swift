import Streams

@testable import CoreDataModel
@testable import StoreSamples

/// Models made in code: one for every shape that a sample has to fill.
enum SampleModels {
  static let all: [ManagedObjectModel] = [
    plain(), everyType(), hierarchy(), ordered(), oneToOne(), unique(), StoreModels.library(),
  ]

  static func plain() -> ManagedObjectModel {
    var author = StoreModels.entity(
      "Author", [("name", .string)], [StoreModels.link("books", "Book", "author", many: true)])
    author.userInfo = [SampleSettings.Key.share: "0.25"]
    author.attributes[0].isOptional = false
    var book = StoreModels.entity(
      "Book", [("title", .string), ("series", .string), ("pages", .integer32)],
      [StoreModels.link("author", "Author", "books")])
    book.attributes[0].userInfo = [SampleSettings.Key.null: "never", SampleSettings.Key.prefix: "The "]
    book.attributes[1].userInfo = [SampleSettings.Key.distinct: "20", SampleSettings.Key.null: "never"]
    book.relationships[0].isOptional = false
    return ManagedObjectModel(name: "Plain", entities: [author, book])
  }

  private static let types: [(String, AttributeType)] = [
    ("small", .integer16), ("middle", .integer32), ("large", .integer64), ("flag", .boolean), ("double", .double),
    ("float", .float), ("decimal", .decimal), ("date", .date), ("text", .string), ("link", .uri), ("id", .uuid),
    ("data", .binaryData), ("object", .transformable),
  ]

  /// Every type, optional and required, in a composite too, and what has no value: derived and transient.
  static func everyType() -> ManagedObjectModel {
    var optional = StoreModels.entity("Optional", types)
    var external = AttributeDescription(name: "image", type: .binaryData)
    external.allowsExternalBinaryDataStorage = true
    var derived = AttributeDescription(name: "canonical", type: .string)
    derived.derivationExpression = "canonical:(text)"
    var transient = AttributeDescription(name: "scratch", type: .undefined)
    transient.isTransient = true
    var place = AttributeDescription(name: "place", type: .composite)
    place.elements = types.map { AttributeDescription(name: "of_\($0.0)", type: $0.1) }
    optional.attributes += [external, derived, transient, place]
    var required = StoreModels.entity("Required", types)
    for index in required.attributes.indices { required.attributes[index].isOptional = false }
    return ManagedObjectModel(name: "Types", entities: [optional, required])
  }

  /// Abstract and concrete levels in one table, and keys that lead into the middle of it.
  static func hierarchy() -> ManagedObjectModel {
    var root = StoreModels.entity("Item", [("name", .string)], [StoreModels.link("owner", "Person", "items")])
    root.isAbstract = true
    var folder = StoreModels.entity("Folder", parent: "Item", [("color", .string)])
    folder.relationships = [
      StoreModels.link("children", "Item", "parent", many: true), StoreModels.link("cover", "Photo", nil),
    ]
    root.relationships.append(StoreModels.link("parent", "Folder", "children"))
    let photo = StoreModels.entity("Photo", parent: "File", [("width", .integer32)])
    let raw = StoreModels.entity("RawPhoto", parent: "Photo", [("camera", .string)])
    var file = StoreModels.entity("File", parent: "Item", [("size", .integer64)])
    file.userInfo = [SampleSettings.Key.share: "3"]
    let person = StoreModels.entity(
      "Person", [("name", .string)],
      [StoreModels.link("items", "Item", "owner", many: true), StoreModels.link("portrait", "Photo", nil)])
    return ManagedObjectModel(name: "Hierarchy", entities: [root, folder, file, photo, raw, person])
  }

  /// Ordered to-manys with a to-one, a to-many and no inverse.
  static func ordered() -> ManagedObjectModel {
    ManagedObjectModel(
      name: "Ordered",
      entities: [
        StoreModels.entity(
          "List", [],
          [
            StoreModels.link("entries", "Entry", "list", many: true, ordered: true),
            StoreModels.link("pinned", "Entry", nil, many: true, ordered: true),
            StoreModels.link("loose", "Entry", nil, many: true),
            StoreModels.link("tags", "Tag", "lists", many: true, ordered: true),
          ]),
        StoreModels.entity("Entry", [], [StoreModels.link("list", "List", "entries")]),
        StoreModels.entity("LongEntry", parent: "Entry", [("text", .string)]),
        StoreModels.entity("Tag", [], [StoreModels.link("lists", "List", "tags", many: true, ordered: true)]),
      ])
  }

  /// One-to-one between two entities, between a parent and its child, within one entity, and its own inverse.
  static func oneToOne() -> ManagedObjectModel {
    ManagedObjectModel(
      name: "Pairs",
      entities: [
        StoreModels.entity(
          "User", [],
          [
            StoreModels.link("account", "Account", "user"), StoreModels.link("next", "User", "previous"),
            StoreModels.link("previous", "User", "next"), StoreModels.link("spouse", "User", "spouse"),
            StoreModels.link("deputy", "Admin", "superior"),
          ]),
        StoreModels.entity("Admin", parent: "User", [], [StoreModels.link("superior", "User", "deputy")]),
        StoreModels.entity("Account", [], [StoreModels.link("user", "User", "account")]),
      ])
  }

  /// Uniqueness constraints over every type that can stand in one.
  static func unique() -> ManagedObjectModel {
    let keys = types.filter { $0.1 != .boolean }
    var entities = keys.map { name, type in
      var entity = StoreModels.entity("Unique_\(name)", [(name, type), ("other", .boolean)])
      entity.uniquenessConstraints = [[name], ["other", name]]
      return entity
    }
    var flag = StoreModels.entity("Flag", [("isOn", .boolean)])
    flag.uniquenessConstraints = [["isOn"]]
    var seat = StoreModels.entity("Seat", [("isTaken", .boolean)], [StoreModels.link("flag", "Flag", nil)])
    seat.uniquenessConstraints = [["flag", "isTaken"]]
    var window = StoreModels.entity("WindowSeat", parent: "Seat", [("row", .string)])
    window.uniquenessConstraints = [["row"]]
    entities += [flag, seat, window]
    return ManagedObjectModel(name: "Unique", entities: entities)
  }
}
