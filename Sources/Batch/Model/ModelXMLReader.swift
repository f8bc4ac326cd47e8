/// Reads the file `contents` of an `.xcdatamodel` (C.2).
///
/// What has no place in the descriptions (Xcode's own settings, limits of values) is kept by name in `unknown`.
final class ModelXMLReader: XMLEvents {
  static func read(_ path: String, name: String) throws -> ManagedObjectModel {
    let reader = ModelXMLReader()
    try XMLFile.parse(path, code: .badModel, into: reader)
    guard reader.isModel else { throw BatchError(.badModel, "the file holds no data model", path: path) }
    return try reader.model(name: name, path: path)
  }

  private var isModel = false
  private var versionIdentifiers: [String] = []
  private var configurations: [String: [String]] = [:]
  private var entities: [EntityDescription] = []
  private var composites: [String: [AttributeDescription]] = [:]

  /// Names of the open elements, outermost first.
  private var open: [String] = []
  private var entity: EntityDescription?
  private var attribute: AttributeDescription?
  private var relationship: RelationshipDescription?
  private var index: EntityDescription.FetchIndex?
  private var names: [String] = []
  private var configuration: String?
  private var composite: String?

  func start(_ element: String, _ attributes: [String: String]) throws {
    let parent = open.last
    open.append(element)
    var values = XMLAttributes(element, attributes)
    switch (parent, element) {
    case (nil, "model"): startModel(&values)
    case (nil, _): throw values.problem("is not a model")
    case ("model", "entity"): entity = try Self.entity(&values)
    case ("model", "composite"):
      composite = try values.need("name")
      composites[composite ?? ""] = []
    case ("model", "configuration"):
      configuration = try values.need("name")
      configurations[configuration ?? ""] = []
    case ("configuration", "memberEntity"):
      configurations[configuration ?? "", default: []].append(try values.need("name"))
    case ("entity", "attribute"), ("composite", "attribute"): attribute = try Self.attribute(&values)
    case ("entity", "relationship"): relationship = try Self.relationship(&values)
    case ("entity", "fetchedProperty"):
      entity?.fetchedProperties.append(FetchedPropertyDescription(name: try values.need("name")))
    case ("userInfo", "entry"): startEntry(&values)
    default: try startIndex(parent, element, &values)
    }
  }

  func text(_ characters: String) {}

  func end(_ element: String) throws {
    open.removeLast()
    switch (open.last, element) {
    case ("model", "entity"):
      if let entity { entities.append(entity) }
      entity = nil
    case ("entity", "attribute"):
      if let attribute { entity?.attributes.append(attribute) }
      attribute = nil
    case ("composite", "attribute"):
      if let attribute { composites[composite ?? "", default: []].append(attribute) }
      attribute = nil
    case ("entity", "relationship"):
      if let relationship { entity?.relationships.append(relationship) }
      relationship = nil
    case ("entity", "fetchIndex"):
      if let index { entity?.indexes.append(index) }
      index = nil
    case (_, "compoundIndex"): entity?.compoundIndexes.append(names)
    case (_, "uniquenessConstraint"): entity?.uniquenessConstraints.append(names)
    default: break
    }
  }

  private func startModel(_ values: inout XMLAttributes) {
    isModel = true
    // An empty identifier is one: stores of such models hold an array with an empty string.
    versionIdentifiers = values.takeText("userDefinedModelVersionIdentifier").map { [$0] } ?? []
  }

  private func startIndex(_ parent: String?, _ element: String, _ values: inout XMLAttributes) throws {
    switch (parent, element) {
    case ("entity", "fetchIndex"):
      index = EntityDescription.FetchIndex(name: try values.need("name"), elements: [])
      index?.partialPredicate = values.take("partialIndexPredicate")
    case ("fetchIndex", "fetchIndexElement"):
      // An element without a property indexes an expression, which only SQLite's owner can evaluate.
      guard let property = values.take("property") else { return }
      let isAscending = values.take("order") != "descending"
      index?.elements.append(.init(property: property, type: values.take("type") ?? "Binary", isAscending: isAscending))
    case (_, "compoundIndex"), (_, "uniquenessConstraint"): names = []
    case ("compoundIndex", "index"), ("uniquenessConstraint", "constraint"): names.append(try values.need("value"))
    default: break
    }
  }

  private func startEntry(_ values: inout XMLAttributes) {
    guard let key = values.take("key"), open.count >= 3 else { return }
    let value = values.take("value") ?? ""
    switch open[open.count - 3] {
    case "attribute": attribute?.userInfo[key] = value
    case "relationship": relationship?.userInfo[key] = value
    case "entity": entity?.userInfo[key] = value
    default: break
    }
  }

  private func model(name: String, path: String) throws -> ManagedObjectModel {
    var expander = CompositeExpander(composites: composites, path: path)
    for position in entities.indices {
      entities[position].attributes = try entities[position].attributes.map { try expander.expand($0) }
    }
    var model = ManagedObjectModel(name: name, entities: entities, versionIdentifiers: versionIdentifiers)
    model.configurations = configurations
    return model
  }
}
