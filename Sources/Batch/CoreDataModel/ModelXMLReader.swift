import Codecs
import Foundation
import RunSupport

/// Reads the file `contents` of an `.xcdatamodel` (C.2).
///
/// XML attributes that have no place in the descriptions are kept by name in `unknown`; elements that are not known are
/// named in ``ManagedObjectModel/unknownElements``.
final class ModelXMLReader: XMLEvents {
  private static let mostElements = 200_000
  private static let mostUnknownElements = 100
  private static let mostAncestors = 100

  /// Reads a version; `texts` are those of its bundle.
  static func read(_ path: String, name: String, texts: EntityTexts? = nil) throws -> ManagedObjectModel {
    let data = try XMLFile.contents(of: path, code: .badModel)
    if let outline = texts?.outline(of: data, path: path),
      let model = try? read(outline.data, entities: outline.entities, path: path, name: name)
    {
      return model
    }
    return try read(data, path: path, name: name)
  }

  /// Reads a file's bytes; `path` is for messages.
  static func read(
    _ data: Data, entities: [EntityTexts.Parsed] = [], path: String, name: String
  ) throws -> ManagedObjectModel {
    let reader = ModelXMLReader(entities)
    try XMLFile.parse(data, path: path, code: .badModel, into: reader)
    do { return try reader.finished(name: name) } catch var error as BatchError {
      error.path = error.path ?? path
      throw error
    }
  }

  /// Reads a model that holds one entity; nil for one that holds none. Composites are not looked up.
  static func readEntity(_ data: Data, path: String) throws -> EntityTexts.Parsed? {
    let reader = ModelXMLReader([])
    try XMLFile.parse(data, path: path, code: .badModel, into: reader)
    return reader.entities.first.map { entity in
      // The model is no part of it.
      EntityTexts.Parsed(entity: entity, unknownElements: reader.model.unknownElements, count: reader.count - 1)
    }
  }

  /// Entities that were read before, by the places that stand for them in the file.
  private let parsed: [EntityTexts.Parsed]
  private var isModel = false
  private var entities: [EntityDescription] = []
  /// Everything but the entities.
  private var model = ManagedObjectModel(entities: [])

  /// Names of the open elements, outermost first; those inside an element that is not known are only counted.
  private var open: [String] = []
  private var ignored = 0
  private var count = 0

  private var entity: EntityDescription?
  private var attribute: AttributeDescription?
  private var relationship: RelationshipDescription?
  private var fetchedProperty: FetchedPropertyDescription?
  private var index: EntityDescription.FetchIndex?
  private var names: [String] = []
  /// The name of the open configuration or composite.
  private var name = ""

  private init(_ parsed: [EntityTexts.Parsed]) { self.parsed = parsed }

  func start(_ element: String, _ attributes: [String: String]) throws {
    // The element "elements" holds nothing but the places of boxes on Xcode's canvas.
    guard ignored == 0, (open.last, element) != ("model", "elements") else {
      ignored += 1
      return
    }
    var values = XMLAttributes(element, attributes)
    let isKnown = try open.isEmpty ? startModel(&values) : startPart(of: open.last ?? "", element, &values)
    guard isKnown else {
      ignored = 1
      note(values.place(in: open))
      return
    }
    open.append(element)
    try count(1)
  }

  /// A description takes far more room than its element; no real model has a tenth of this.
  private func count(_ elements: Int) throws {
    count += elements
    guard count <= Self.mostElements else {
      throw BatchError(.badModel, "the model has more than \(Self.mostElements) elements")
    }
  }

  func text(_ characters: String) {}

  func end(_ element: String) throws {
    guard ignored == 0 else {
      ignored -= 1
      return
    }
    open.removeLast()
    switch (open.last, element) {
    case ("model", "entity"):
      if let entity { entities.append(entity) }
      entity = nil
    case ("entity", "attribute"):
      if let attribute { entity?.attributes.append(attribute) }
      attribute = nil
    case ("composite", "attribute"):
      if let attribute { model.composites[name]?.elements.append(attribute) }
      attribute = nil
    case ("entity", "relationship"):
      if let relationship { entity?.relationships.append(relationship) }
      relationship = nil
    case ("entity", "fetchedProperty"):
      if let fetchedProperty { entity?.fetchedProperties.append(fetchedProperty) }
      fetchedProperty = nil
    case ("entity", "fetchIndex"):
      if let index { entity?.indexes.append(index) }
      index = nil
    case (_, "compoundIndex"): entity?.compoundIndexes.append(names)
    case (_, "uniquenessConstraint"): entity?.uniquenessConstraints.append(names)
    default: break
    }
  }

  private func startModel(_ values: inout XMLAttributes) throws -> Bool {
    guard values.element == "model" else { throw values.problem("is not a model") }
    isModel = true
    // An empty identifier is one: stores of such models hold an array with an empty string.
    model.versionIdentifiers = values.takeText("userDefinedModelVersionIdentifier").map { [$0] } ?? []
    model.isUsedWithCloudKit = try values.flag("usedWithCloudKit")
    model.isUsedWithSwiftData = try values.flag("usedWithSwiftData")
    model.unknown = values.rest
    // These are the same in every file; only another value says something.
    for (name, value) in ModelXMLNames.fixed where model.unknown[name] == value { model.unknown[name] = nil }
    return true
  }

  /// Begins an element inside another one; false when it has no place there.
  private func startPart(of parent: String, _ element: String, _ values: inout XMLAttributes) throws -> Bool {
    switch (parent, element) {
    case ("model", "entity"): entity = try parsed.isEmpty ? Self.entity(&values) : known(&values)
    case ("model", _): return try startNamed(element, &values)
    case ("configuration", "memberEntity"): model.configurations[name, default: []].append(try values.need("name"))
    case ("entity", "attribute"), ("composite", "attribute"): attribute = try Self.attribute(&values)
    case ("entity", "relationship"): relationship = try Self.relationship(&values)
    case ("entity", "fetchedProperty"): fetchedProperty = try Self.fetchedProperty(&values)
    case ("fetchedProperty", "fetchRequest"):
      _ = values.take("name")
      fetchedProperty?.fetchRequest = try Self.fetchRequest(&values)
    case ("userInfo", "entry"): try startEntry(&values)
    case (_, "userInfo"):
      return ["entity", "attribute", "relationship", "fetchedProperty", "composite"].contains(parent)
    default: return try startIndex(parent, element: element, values: &values)
    }
    return true
  }

  /// The entity for which this element stands.
  private func known(_ values: inout XMLAttributes) throws -> EntityDescription {
    guard let place = try values.number("place"), parsed.indices.contains(Int(place)) else {
      throw values.problem("is none")
    }
    let known = parsed[Int(place)]
    for element in known.unknownElements { note(element) }
    try count(known.count - 1)
    return known.entity
  }

  /// A configuration, a composite or a fetch request template: what a model holds by name.
  private func startNamed(_ element: String, _ values: inout XMLAttributes) throws -> Bool {
    guard ["configuration", "composite", "fetchRequest"].contains(element) else { return false }
    name = try values.need("name")
    let isTaken: Bool
    switch element {
    case "configuration":
      isTaken = model.configurations.updateValue([], forKey: name) != nil
      if try values.flag("usedWithCloudKit") { model.cloudKitConfigurations.insert(name) }
    case "composite":
      var composite = CompositeDescription(elements: [])
      composite.unknown = values.rest
      isTaken = model.composites.updateValue(composite, forKey: name) != nil
    default:
      isTaken = model.fetchRequestTemplates.updateValue(try Self.fetchRequest(&values), forKey: name) != nil
    }
    guard !isTaken else { throw values.problem("is there twice") }
    return true
  }

  private func startIndex(_ parent: String, element: String, values: inout XMLAttributes) throws -> Bool {
    switch (parent, element) {
    case ("entity", "fetchIndex"):
      var index = EntityDescription.FetchIndex(name: try values.need("name"), elements: [])
      index.partialPredicate = values.take("partialIndexPredicate")
      index.unknown = values.rest
      self.index = index
    case ("fetchIndex", "fetchIndexElement"): index?.elements.append(try Self.indexElement(&values))
    case ("entity", "compoundIndexes"), ("entity", "uniquenessConstraints"): break
    case ("compoundIndexes", "compoundIndex"), ("uniquenessConstraints", "uniquenessConstraint"): names = []
    case ("compoundIndex", "index"), ("uniquenessConstraint", "constraint"): names.append(try values.need("value"))
    default: return false
    }
    return true
  }

  private func startEntry(_ values: inout XMLAttributes) throws {
    let key = try values.needText("key")
    let value = values.takeText("value") ?? ""
    switch open.dropLast().last {
    case "attribute": attribute?.userInfo[key] = value
    case "relationship": relationship?.userInfo[key] = value
    case "fetchedProperty": fetchedProperty?.userInfo[key] = value
    case "composite": model.composites[name]?.userInfo[key] = value
    default: entity?.userInfo[key] = value
    }
  }

  private func note(_ place: String) {
    if model.unknownElements.count < Self.mostUnknownElements { model.unknownElements.append(place) }
  }

  /// What is done for an entity grows with its ancestors; no real model has more than a few.
  private func checkAncestors() throws {
    for entity in model.entities {
      var (next, count) = (entity.superentity, 0)
      while let parent = next, count <= Self.mostAncestors {
        (next, count) = (model.entity(parent)?.superentity, count + 1)
      }
      // A ring of few entities is left to validation, which names it.
      if count > Self.mostAncestors, model.ancestors(of: entity.name).count > Self.mostAncestors {
        throw BatchError(.badModel, "the entity \(entity.name) has more than \(Self.mostAncestors) ancestors")
      }
    }
  }

  private func finished(name: String) throws -> ManagedObjectModel {
    guard isModel else { throw BatchError(.badModel, "the file holds no data model") }
    var expander = CompositeExpander(composites: model.composites)
    for position in entities.indices {
      // What is left as it is shares its memory with other versions.
      guard entities[position].attributes.contains(where: { $0.type == .composite }) else { continue }
      entities[position].attributes = try entities[position].attributes.map { try expander.expand($0) }
    }
    for (name, composite) in model.composites {
      model.composites[name]?.elements = try composite.elements.map { try expander.expand($0) }
    }
    model.name = name
    model.entities = entities
    try checkAncestors()
    return model
  }
}
