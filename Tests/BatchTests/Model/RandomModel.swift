import Streams

@testable import CoreDataModel

extension SeededRandom {
  /// True once in `chance` times.
  mutating func flag(_ chance: Int = 3) -> Bool { Int.random(in: 0..<chance, using: &self) == 0 }
}

/// Models with everything that a model file can say, made up from a seed.
struct RandomModel {
  private var random: SeededRandom
  private var texts = 0

  init(seed: UInt64) { random = SeededRandom(seed) }

  mutating func model() -> ManagedObjectModel {
    var model = ManagedObjectModel(name: "Random", entities: [])
    for _ in 0..<Int.random(in: 0...2, using: &random) {
      model.composites["Composite\(model.composites.count)"] = composite(of: model.composites)
    }
    let names = (0..<Int.random(in: 1...5, using: &random)).map { "Entity\($0) \(word())" }
    model.entities = names.enumerated().map { entity($1, parents: Array(names[..<$0]), all: names, model.composites) }
    model.versionIdentifiers = random.flag() ? [text()] : []
    if random.flag() { model.configurations[text()] = names.filter { _ in random.flag() } }
    if let name = model.configurations.keys.first, random.flag() { model.cloudKitConfigurations = [name] }
    if random.flag() { model.fetchRequestTemplates["template \(text())"] = request(names) }
    model.isUsedWithCloudKit = random.flag()
    model.isUsedWithSwiftData = random.flag()
    if random.flag() { model.unknown = ["sourceLanguage": "Swift", "zz": text()] }
    return model
  }

  private mutating func entity(
    _ name: String, parents: [String], all: [String], _ composites: [String: CompositeDescription]
  ) -> EntityDescription {
    var entity = EntityDescription(name: name, superentity: random.flag() ? parents.randomElement(using: &random) : nil)
    entity.isAbstract = random.flag()
    entity.managedObjectClassName = maybe()
    entity.renamingIdentifier = maybe()
    entity.versionHashModifier = maybe()
    entity.codeGenerationType = maybe()
    entity.isSyncable = maybeFlag()
    entity.coreSpotlightDisplayNameExpression = maybe()
    entity.attributes = (0..<Int.random(in: 0...6, using: &random)).map { attribute("a\($0)\(word())", composites) }
    entity.relationships = (0..<Int.random(in: 0...3, using: &random)).map { relationship("r\($0)\(word())", all) }
    if random.flag() { entity.fetchedProperties = [fetched(all)] }
    if random.flag() { entity.uniquenessConstraints = [[text()], [text(), text()]] }
    if random.flag() { entity.compoundIndexes = [[text(), text()]] }
    if random.flag() { entity.indexes = [index()] }
    entity.userInfo = entries()
    entity.unknown = unknown()
    return entity
  }

  private mutating func composite(of others: [String: CompositeDescription]) -> CompositeDescription {
    var composite = CompositeDescription(
      elements: (0..<Int.random(in: 1...3, using: &random)).map { attribute("e\($0)", others) })
    composite.userInfo = entries()
    composite.unknown = unknown()
    return composite
  }

  private mutating func attribute(_ name: String, _ composites: [String: CompositeDescription]) -> AttributeDescription
  {
    let raw = [0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200, 1800, 2000, 2100] as [Int32]
    let type = raw.randomElement(using: &random).flatMap(AttributeType.init) ?? .string
    var attribute = AttributeDescription(name: name, type: type, isOptional: random.flag(2))
    (attribute.isTransient, attribute.isReadOnly, attribute.isIndexed) = (random.flag(), random.flag(), random.flag())
    attribute.allowsExternalBinaryDataStorage = random.flag()
    attribute.preservesValueInHistoryOnDeletion = random.flag()
    attribute.allowsCloudEncryption = random.flag()
    attribute.isStoredInExternalRecord = random.flag()
    attribute.isIndexedBySpotlight = random.flag()
    (attribute.usesScalarValueType, attribute.isSyncable) = (maybeFlag(), maybeFlag())
    (attribute.valueTransformerName, attribute.attributeValueClassName) = (maybe(), maybe())
    (attribute.renamingIdentifier, attribute.versionHashModifier) = (maybe(), maybe())
    if random.flag() { (attribute.derivationExpression, attribute.derivationFilter) = (text(), maybe()) }
    if type == .composite, let used = composites.keys.sorted().randomElement(using: &random) {
      attribute.compositeName = used
      attribute.elements = composites[used]?.elements ?? []
    }
    setValues(&attribute)
    attribute.userInfo = entries()
    attribute.unknown = unknown()
    return attribute
  }

  private mutating func setValues(_ attribute: inout AttributeDescription) {
    if random.flag(2) { attribute.defaultValue = value(attribute.type) }
    if attribute.type == .decimal, random.flag(2) {
      attribute.exactDefaultValue = "123456789012345678901234567890.12345678"
      attribute.defaultValue = .real(123_456_789_012_345_678_901_234_567_890.12345678)
    }
    switch attribute.type {
    case .string:
      attribute.regularExpression = maybe()
      attribute.minimumValue = random.flag() ? .integer(1) : nil
    case .integer16, .integer32, .integer64, .double, .float, .date, .decimal:
      attribute.minimumValue = random.flag() ? value(attribute.type) : nil
      attribute.maximumValue = random.flag() ? value(attribute.type) : nil
    default: break
    }
  }

  private mutating func value(_ type: AttributeType) -> Value? {
    switch type {
    case .undefined, .integer16, .integer32, .integer64, .boolean:
      let numbers = type == .boolean ? 0...1 : Int64.min...Int64.max
      return type == .undefined ? nil : .integer(Int64.random(in: numbers, using: &random))
    case .float: return .real(Double(Float.random(in: -1e9...1e9, using: &random)))
    case .double, .decimal: return .real(Double.random(in: -1e3...1e3, using: &random))
    case .date: return .real(random.flag(2) ? -3600 : Double.random(in: -1e9...1e9, using: &random))
    case .string: return .text(random.flag() ? "" : text())
    case .uuid: return .blob((0..<16).map { _ in UInt8.random(in: 0...255, using: &random) })
    default: return .text(text())
    }
  }

  private mutating func relationship(_ name: String, _ all: [String]) -> RelationshipDescription {
    var relationship = RelationshipDescription(
      name: name, destinationEntity: all.randomElement(using: &random) ?? "", inverseName: maybe(),
      maxCount: [-1, 0, 1, 1, 5].randomElement(using: &random) ?? 1)
    relationship.inverseEntity = random.flag() ? text() : nil
    relationship.minCount = random.flag() ? 1 : 0
    (relationship.isOrdered, relationship.isOptional) = (random.flag(), random.flag(2))
    (relationship.isTransient, relationship.isReadOnly) = (random.flag(), random.flag())
    (relationship.isIndexed, relationship.isStoredInExternalRecord) = (random.flag(), random.flag())
    (relationship.isIndexedBySpotlight, relationship.isSyncable) = (random.flag(), maybeFlag())
    relationship.deleteRule = [.noAction, .nullify, .cascade, .deny].randomElement(using: &random) ?? .deny
    (relationship.renamingIdentifier, relationship.versionHashModifier) = (maybe(), maybe())
    relationship.userInfo = entries()
    relationship.unknown = unknown()
    return relationship
  }

  private mutating func fetched(_ all: [String]) -> FetchedPropertyDescription {
    var property = FetchedPropertyDescription(name: "f\(word())", fetchRequest: request(all))
    (property.isOptional, property.isTransient, property.isReadOnly) = (random.flag(), random.flag(), random.flag())
    (property.isIndexedBySpotlight, property.isSyncable) = (random.flag(), maybeFlag())
    (property.renamingIdentifier, property.versionHashModifier) = (maybe(), maybe())
    property.userInfo = entries()
    property.unknown = unknown()
    return property
  }

  private mutating func request(_ all: [String]) -> FetchRequestDescription {
    var request = FetchRequestDescription(entity: all.randomElement(using: &random), predicate: maybe())
    (request.fetchLimit, request.fetchOffset) = (random.flag() ? 10 : 0, random.flag() ? 3 : 0)
    (request.fetchBatchSize, request.resultType) = (random.flag() ? 20 : 0, random.flag() ? 2 : 0)
    (request.includesSubentities, request.includesPropertyValues) = (random.flag(2), random.flag(2))
    (request.includesPendingChanges, request.returnsObjectsAsFaults) = (random.flag(2), random.flag(2))
    request.returnsDistinctResults = random.flag()
    request.unknown = unknown()
    return request
  }

  private mutating func index() -> EntityDescription.FetchIndex {
    var expression = EntityDescription.FetchIndex.Element(property: "", isAscending: false)
    (expression.expression, expression.expressionType) = (text(), random.flag() ? .integer64 : nil)
    var index = EntityDescription.FetchIndex(
      name: text(), elements: [.init(property: text(), type: random.flag() ? "RTree" : "Binary"), expression])
    index.partialPredicate = maybe()
    index.unknown = unknown()
    return index
  }

  private mutating func entries() -> [String: String] { random.flag() ? [text(): text(), "empty": ""] : [:] }
  private mutating func unknown() -> [String: String] { random.flag() ? ["zzNew": text(), "zzOther": "NO"] : [:] }
  private mutating func maybe() -> String? { random.flag() ? text() : nil }
  private mutating func maybeFlag() -> Bool? { random.flag() ? random.flag(2) : nil }
  private mutating func word() -> String { ["", "é", "名", "_x", "Ж"].randomElement(using: &random) ?? "" }

  /// A text that no other text of the model equals, with characters that XML must escape.
  private mutating func text() -> String {
    texts += 1
    let pieces = [
      "a", "žluť", "<b>", "&amp;", "\"q\"", "'", "\n", "\t", "\r", "  ", "🐎", ">", "]]>", "&#10;", "a == $b", "\u{301}",
    ]
    return "\(texts)"
      + (0..<Int.random(in: 0...4, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
      .joined()
  }
}
