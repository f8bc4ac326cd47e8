import Streams

@testable import CoreDataModel

/// Random models of two to twelve entities with relationships of every kind, and what later versions add to them.
struct OracleModels {
  var random: SeededRandom
  /// Numbers that make names unique over all versions of a case.
  private var count = 0

  static let types: [AttributeType] = [
    .integer16, .integer32, .integer64, .decimal, .double, .float, .boolean, .string, .date, .binaryData, .uuid, .uri,
    .transformable,
  ]

  init(seed: UInt64) { random = SeededRandom(seed) }

  mutating func model(_ name: String) -> ManagedObjectModel {
    var model = ManagedObjectModel(name: name, entities: [])
    for _ in 0..<Int.random(in: 2...([4, 8, 12].randomElement(using: &random) ?? 4), using: &random) {
      var entity = EntityDescription(name: entityName())
      if random.flag(), let parent = model.entities.randomElement(using: &random) {
        entity.superentity = parent.name
      }
      model.entities.append(entity)
    }
    for entity in model.entities {
      let hasChildren = model.entities.contains { $0.superentity == entity.name }
      model.change(entity.name) { $0.isAbstract = hasChildren && random.flag(4) }
      for _ in 0..<Int.random(in: 0...5, using: &random) { addAttribute(to: entity.name, in: &model) }
    }
    let pairs = Int.random(in: 0...(model.entities.count * 3 / 2), using: &random)
    for _ in 0..<pairs { addRelationship(in: &model) }
    return model
  }

  mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<max(1, limit), using: &random) }

  mutating func pick<T>(_ list: [T]) -> T? { list.randomElement(using: &random) }

  mutating func number() -> Int {
    count += 1
    return count
  }

  /// Upper and lower case, because numbers follow names without regard to it.
  mutating func entityName() -> String {
    let word = pick(["Person", "book", "Zoo", "apple", "Éclair", "URL", "Key", "bear"]) ?? ""
    return word + "\(number())"
  }

  mutating func newAttribute(_ name: String, _ type: AttributeType? = nil) -> AttributeDescription {
    var attribute = AttributeDescription(
      name: name, type: type ?? pick(Self.types) ?? .string, isOptional: !random.flag(4))
    if random.flag(3) { attribute.defaultValue = defaultValue(attribute.type) }
    attribute.isTransient = random.flag(15)
    attribute.isIndexed = !attribute.isTransient && random.flag(6)
    if attribute.type == .binaryData { attribute.allowsExternalBinaryDataStorage = random.flag(3) }
    return attribute
  }

  /// Names are few, so that entities of one table have attributes of one name.
  mutating func addAttribute(to entity: String, in model: inout ManagedObjectModel) {
    let word = pick(["title", "Size", "text", "flag", "when", "data", "amount", "rate"]) ?? ""
    let family = model.entities.filter { model.isKind($0.name, of: entity) || model.isKind(entity, of: $0.name) }
    let isTaken = family.contains { $0.propertyNames.contains(word) || $0.renamed.contains(word) }
    let attribute = newAttribute(isTaken ? "\(word)\(number())" : word)
    model.change(entity) { $0.attributes.append(attribute) }
  }

  mutating func defaultValue(_ type: AttributeType) -> Value? {
    switch type {
    case .integer16, .integer32, .integer64: .integer(Int64(below(200)) - 100)
    case .boolean: .integer(Int64(below(2)))
    case .double, .float, .decimal, .date: .real(Double(below(4000)) / 8 - 100)
    case .string: .text(pick(["", "none", "<é & \"ü\">", " two  words "]) ?? "")
    case .uri: .text("https://example.org/\(below(10))")
    case .uuid: .blob((0..<16).map { _ in UInt8(below(256)) })
    default: nil
    }
  }

  /// Adds a relationship of a random kind, with its inverse if it has one.
  mutating func addRelationship(in model: inout ManagedObjectModel) {
    guard let from = pick(model.entities)?.name, let to = pick(model.entities)?.name else { return }
    let (name, back) = (
      "\(pick(["owner", "Items", "next"]) ?? "")\(number())", "\(pick(["all", "Zone"]) ?? "")\(number())"
    )
    func link(_ name: String, _ entity: String, _ inverse: String?, many: Bool, ordered: Bool = false)
      -> RelationshipDescription
    {
      var link = RelationshipDescription(
        name: name, destinationEntity: entity, inverseName: inverse, maxCount: many ? 0 : 1)
      link.isOrdered = ordered
      return link
    }
    let (ordered, backOrdered) = (random.flag(2), random.flag(2))
    var links: [(String, RelationshipDescription)]
    switch below(7) {
    case 0, 1:
      links = [(from, link(name, to, back, many: false)), (to, link(back, from, name, many: true, ordered: ordered))]
    case 2: links = [(from, link(name, to, back, many: false)), (to, link(back, from, name, many: false))]
    case 3:
      links = [
        (from, link(name, to, back, many: true, ordered: ordered)),
        (to, link(back, from, name, many: true, ordered: backOrdered)),
      ]
    case 4: links = [(from, link(name, from, name, many: ordered))]
    case 5: links = [(from, link(name, to, nil, many: false))]
    default: links = [(from, link(name, to, nil, many: true, ordered: ordered))]
    }
    for (entity, link) in links { model.change(entity) { $0.relationships.append(link) } }
  }
}

extension EntityDescription {
  /// Names that renamed properties had.
  var renamed: [String] { attributes.compactMap(\.renamingIdentifier) }
}

extension ManagedObjectModel {
  mutating func change(_ entity: String, _ body: (inout EntityDescription) -> Void) {
    guard let index = entities.firstIndex(where: { $0.name == entity }) else { return }
    var changed = entities
    body(&changed[index])
    entities = changed
  }

  mutating func change(_ relationship: String, of entity: String, _ body: (inout RelationshipDescription) -> Void) {
    change(entity) { description in
      guard let index = description.relationships.firstIndex(where: { $0.name == relationship }) else { return }
      body(&description.relationships[index])
    }
  }

  mutating func remove(relationship: String, of entity: String) {
    change(entity) { $0.relationships.removeAll { $0.name == relationship } }
  }

  /// Every relationship with the entity that declares it.
  var declaredRelationships: [(entity: String, link: RelationshipDescription)] {
    entities.flatMap { entity in entity.relationships.map { (entity.name, $0) } }
  }

  /// The inverse with the entity that declares it.
  func inverse(of link: RelationshipDescription) -> (entity: String, link: RelationshipDescription)? {
    guard let name = link.inverseName else { return nil }
    return declaredRelationships.first { $0.link.name == name && isKind(link.destinationEntity, of: $0.entity) }
  }

  func hasChildren(_ entity: String) -> Bool { entities.contains { $0.superentity == entity } }
}
