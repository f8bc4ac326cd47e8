import Streams

@testable import CoreDataModel
@testable import MappingModels
@testable import Migrations
@testable import RunSupport
@testable import StoreSamples

/// Orders and their lines: the models and mapping models of the policy tests.
enum PolicyModels {
  private static let tags = [
    StoreModels.link("tags", "Tag", "lines", many: true), StoreModels.link("lines", "Line", "tags", many: true),
  ]

  static let first: ManagedObjectModel = {
    var order = StoreModels.entity(
      "Order", [("number", .integer64), ("customer", .string)], [StoreModels.link("lines", "Line", "order", many: true)]
    )
    order.attributes[1].userInfo = [SampleSettings.Key.distinct: "40"]
    order.attributes[0].userInfo = [SampleSettings.Key.null: "never"]
    order.userInfo = [SampleSettings.Key.share: "0.4"]
    return ManagedObjectModel(
      name: "P1",
      entities: [
        order,
        StoreModels.entity(
          "Line", [("sku", .string), ("quantity", .integer32)], [StoreModels.link("order", "Order", "lines"), tags[0]]),
        StoreModels.entity("Tag", [("word", .string)], [tags[1]]),
      ])
  }()

  static let second = ManagedObjectModel(
    name: "P2",
    entities: [
      StoreModels.entity(
        "Order", [("number", .integer64), ("total", .integer64), ("firstWord", .string), ("origin", .string)],
        [StoreModels.link("lines", "Line", "order", many: true), StoreModels.link("customer", "Customer", "orders")]),
      StoreModels.entity(
        "Line", [("sku", .string), ("quantity", .integer32)],
        [
          StoreModels.link("order", "Order", "lines"), tags[0], StoreModels.link("mirror", "Line", nil),
          StoreModels.link("buyer", "Customer", nil),
        ]),
      StoreModels.entity(
        "Customer", [("name", .string)], [StoreModels.link("orders", "Order", "customer", many: true)]),
      StoreModels.entity("Tag", [("word", .string)], [tags[1]]),
    ])

  static func entity(
    _ name: String, _ attributes: [String], _ relationships: [String], policy: (any EntityMigrationPolicy.Type)? = nil,
    info: [String: String] = [:]
  ) -> EntityMapping {
    var mapping = EntityMapping(sourceEntity: name, destinationEntity: name)
    mapping.attributeMappings = attributes.map { PropertyMapping(name: $0) }
    mapping.relationshipMappings = relationships.map { PropertyMapping(name: $0) }
    mapping.policyClassName = policy.map { "Shop." + $0.className }
    mapping.userInfo = info
    return mapping
  }

  static func model(_ name: String, _ entities: [EntityMapping]) -> MappingModel {
    var model = MappingModel(name: name, entityMappings: entities)
    (model.sourceModelName, model.destinationModelName) = ("P1", "P2")
    return model
  }

  /// Lines look up customers, whom orders make; so the second mapping model, by name, has to run first.
  static let mappings = [
    model(
      "A_Lines",
      [
        entity("Line", ["sku", "quantity"], ["order", "tags"], policy: LinePolicy.self),
        entity("Tag", ["word"], ["lines"]),
      ]),
    model(
      "B_Orders",
      [
        entity("Order", ["number"], ["lines"], policy: OrderPolicy.self, info: ["origin": "shop & co"]),
        // Without source: it says that policies of this mapping model make customers.
        EntityMapping(sourceEntity: nil, destinationEntity: "Customer"),
      ]),
  ]
}

/// Makes customers of texts, sums up lines, copies some orders.
struct OrderPolicy: EntityMigrationPolicy {
  func lookups(for mapping: EntityMapping) -> [Lookup] { [Lookup(entity: "Customer", attribute: "name")] }

  func createDestinationInstances(
    forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let order = try manager.createDestinationInstance(forSource: source, in: mapping)
    let lines = try source.objects("lines")
    try order.set("total", .integer(try lines.reduce(0) { $0 &+ (try $1.integer("quantity") ?? 0) }))
    try order.set("firstWord", try lines.first?.objects("tags").first?.string("word"))
    try order.set("origin", mapping.userInfo["origin"])
    if let name = try source.string("customer") {
      try order.set("customer", to: try manager.findOrCreate("Customer", where: "name", is: .text(name)))
    }
    guard source.key % 7 == 0 else { return }
    let copy = try manager.insert(entity: "Order")
    try copy.set("number", .integer(-source.key))
    try copy.set("origin", "copy")
  }
}

/// Leaves some lines out, and relates the others to earlier and later lines of the same table.
struct LinePolicy: EntityMigrationPolicy {
  static let version = "2"
  let createsRelationships = true

  func lookups(for mapping: EntityMapping) -> [Lookup] { [Lookup(entity: "Customer", attribute: "name")] }

  /// Nobody refers to a line without tags.
  static func isLeftOut(_ source: SourceObject) throws -> Bool {
    try source.key % 5 == 0 && source.objects("tags").isEmpty
  }

  func createDestinationInstances(
    forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    guard try !Self.isLeftOut(source) else { return }
    let line = try manager.createDestinationInstance(forSource: source, in: mapping)
    guard let name = try source.object("order")?.string("customer") else { return }
    try line.set("buyer", to: try manager.find("Customer", where: "name", is: .text(name)))
  }

  func createRelationships(
    forDestination destination: DestinationObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    guard let source = try manager.sourceInstance(forEntityMappingNamed: "LineToLine", destination: destination) else {
      throw BatchError(.policyFailed, "the line has no source")
    }
    // Never asked for a line that was left out: a change of it would be an error.
    try destination.set("quantity", try source.value("quantity"))
    guard let order = try source.object("order") else { return }
    // The mirror image among the lines of the order: for one half a later line, for the other an earlier one.
    let lines = try order.objects("lines").filter { try !Self.isLeftOut($0) }
    guard let place = lines.firstIndex(where: { $0.key == source.key }) else { return }
    let mirror = try manager.destinationInstances(
      forEntityMappingNamed: "LineToLine", sourceInstances: [lines[lines.count - 1 - place]])
    try destination.set("mirror", to: mirror.first)
  }
}
