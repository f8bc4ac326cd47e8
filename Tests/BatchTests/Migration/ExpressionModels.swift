import Streams

@testable import CoreDataModel
@testable import MappingModels
@testable import StoreSamples

/// A collection of models of which some become cars, and the others accessories: filters, expressions of every kind,
/// key paths.
enum ExpressionModels {
  typealias Expression = CoreDataModel.Expression

  static let first: ManagedObjectModel = {
    var model = StoreModels.entity(
      "Model", [("name", .string), ("kind", .integer32), ("price", .double), ("note", .string)],
      [
        StoreModels.link("owner", "Person", "models"), StoreModels.link("tags", "Tag", "models", many: true),
        StoreModels.link("parts", "Part", "model", many: true), StoreModels.link("twin", "Model", nil),
      ])
    model.userInfo = [SampleSettings.Key.share: "0.5"]
    return ManagedObjectModel(
      name: "E1",
      entities: [
        model,
        StoreModels.entity("Person", [("name", .string)], [StoreModels.link("models", "Model", "owner", many: true)]),
        StoreModels.entity("Tag", [("word", .string)], [StoreModels.link("models", "Model", "tags", many: true)]),
        StoreModels.entity("Part", [("weight", .integer16)], [StoreModels.link("model", "Model", "parts")]),
      ])
  }()

  static let second = ManagedObjectModel(
    name: "E2",
    entities: [
      StoreModels.entity(
        "Car",
        [
          ("name", .string), ("label", .string), ("weight", .integer64), ("count", .integer32), ("price", .double),
          ("rounded", .integer32), ("verdict", .string), ("first", .integer32), ("total", .integer32),
          ("origin", .string),
          ("heavy", .integer32),
        ],
        [
          StoreModels.link("owner", "Person", "cars"), StoreModels.link("tags", "Tag", "cars", many: true),
          StoreModels.link("parts", "Part", "car", many: true), StoreModels.link("twin", "Car", nil),
        ]),
      StoreModels.entity("Accessory", [("name", .string)], [StoreModels.link("owner", "Person", nil)]),
      StoreModels.entity(
        "Person", [("name", .string)],
        [StoreModels.link("cars", "Car", "owner", many: true), StoreModels.link("tags", "Tag", "people", many: true)]),
      StoreModels.entity(
        "Tag", [("word", .string)],
        [StoreModels.link("cars", "Car", "tags", many: true), StoreModels.link("people", "Person", "tags", many: true)]),
      StoreModels.entity(
        "Part", [("weight", .integer16)],
        [
          StoreModels.link("car", "Car", "parts"), StoreModels.link("accessory", "Accessory", nil),
          StoreModels.link("payer", "Person", nil),
        ]),
    ])

  private static func instances(_ mapping: String, _ path: String) throws -> String {
    "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"\(mapping)\", \(path))"
  }

  private static func mapping(
    _ name: String, _ source: String, _ destination: String, filter: String? = nil, _ attributes: [(String, String?)],
    _ relationships: [(String, String?)]
  ) throws -> EntityMapping {
    var mapping = EntityMapping(name: name, sourceEntity: source, destinationEntity: destination)
    mapping.filterPredicate = filter
    mapping.userInfo = ["shop": "corner"]
    mapping.attributeMappings = try attributes.map {
      PropertyMapping(name: $0.0, valueExpression: try $0.1.map { try Expression(format: $0) })
    }
    mapping.relationshipMappings = try relationships.map {
      PropertyMapping(name: $0.0, valueExpression: try $0.1.map { try Expression(format: $0) })
    }
    return mapping
  }

  /// What the cars' attributes come from.
  static let carAttributes: [(String, String?)] = [
    ("name", nil), ("label", "uppercase:($source.name)"), ("weight", "$source.parts.@sum.weight"),
    ("count", "$source.parts.@count"), ("price", "($source.price + 1) * 2"), ("rounded", "floor:($source.price)"),
    ("verdict", "TERNARY($source.note == nil, CAST($source.kind, \"NSString\") , $source.owner.name)"),
    ("first", "$source.parts.@min.weight"), ("total", "$destination.count + $destination.parts.@count"),
    ("origin", "$entityMapping.userInfo.shop"), ("heavy", "SUBQUERY($source.parts, $p, $p.weight > 0).@count"),
  ]

  static func mappings(filter: String? = "kind = 7", attributes: [(String, String?)] = carAttributes) throws
    -> MappingModel
  {
    var model = MappingModel(
      name: "Collection",
      entityMappings: [
        try mapping(
          "ModelToCar", "Model", "Car", filter: filter, attributes,
          [
            ("owner", try instances("PersonToPerson", "$source.owner")), ("tags", nil), ("parts", nil),
            ("twin", try instances("ModelToCar", "$source.twin")),
          ]),
        try mapping(
          "ModelToAccessory", "Model", "Accessory", filter: filter.map { "NOT \($0)" }, [("name", nil)],
          [("owner", try instances("PersonToPerson", "$source.owner"))]),
        try mapping(
          "PersonToPerson", "Person", "Person", [("name", nil)],
          [("cars", try instances("ModelToCar", "$source.models"))]),
        try mapping(
          "TagToTag", "Tag", "Tag", [("word", nil)],
          [("people", try instances("PersonToPerson", "$source.models.@distinctUnionOfObjects.owner"))]),
        try mapping(
          "PartToPart", "Part", "Part", [("weight", nil)],
          [
            ("car", try instances("ModelToCar", "$source.model")),
            ("accessory", try instances("ModelToAccessory", "$source.model")),
            ("payer", try instances("PersonToPerson", "$source.model.owner")),
          ]),
      ])
    (model.sourceModelName, model.destinationModelName) = ("E1", "E2")
    return model
  }
}
