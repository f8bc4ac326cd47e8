import Streams

@testable import CoreDataModel
@testable import MappingModels
@testable import Migrations

/// Random mapping models of one step, made of what can be inferred: expressions, entities mapped twice, left-out
/// properties, policies, one or two files.
struct OracleMappings {
  var models: OracleModels
  let source: ManagedObjectModel
  /// Gets what policies and second mappings need.
  private(set) var destination: ManagedObjectModel
  private var mappings: [EntityMapping]
  /// Is the order of every ordered relationship of the source known?
  private let knowsOrders: Bool
  /// Further mappings, for which the mapping model stays in one file.
  private var added: [EntityMapping] = []
  private(set) var log: [String] = []

  init(_ models: OracleModels, from source: ManagedObjectModel, to destination: ManagedObjectModel, knowsOrders: Bool) {
    (self.models, self.source, self.destination, self.knowsOrders) = (models, source, destination, knowsOrders)
    mappings = OracleInference(source, destination).mappings()
  }

  mutating func make() -> [MappingModel] {
    if models.random.flag(3) { merge() }
    for index in mappings.indices { vary(index) }
    if models.random.flag(2) { addPolicy() }
    if models.random.flag(3) { mapTwice() }
    // What is mapped twice stays behind the first, in one file, and the entities of a table in one, for their keys move
    // alike.
    let isParted = models.random.flag(3) && added.isEmpty
    let roots = isParted ? source.entities.map { source.root(of: $0.name) }.filter { _ in models.random.flag(2) } : []
    let first = mappings.filter { roots.contains(source.root(of: $0.sourceEntity ?? "")) }
    let parts = [first, mappings.filter { !first.contains($0) } + added].filter { !$0.isEmpty }
    return parts.enumerated().map { number, entities in
      var model = MappingModel(name: "\(source.name)\(destination.name)\(number)", entityMappings: entities)
      (model.sourceModelName, model.destinationModelName) = (source.name, destination.name)
      return model
    }
  }

  /// Two hierarchies become one, which no inference allows: the keys of one of them move.
  private mutating func merge() {
    let roots = destination.entities.filter { $0.superentity == nil }.map(\.name)
    guard let above = models.pick(roots), let below = models.pick(roots), above != below else { return }
    var merged = destination
    merged.change(below) { $0.superentity = above }
    // What is inherited from now on must continue no property that the entity had.
    let inherited = destination.entities.filter { $0.name == above }.flatMap { $0.propertyNames + $0.renamed }
    let had = mappings.filter { destination.root(of: $0.destinationEntity ?? "") == below }.flatMap { mapping in
      ([mapping.sourceEntity ?? ""] + source.ancestors(of: mapping.sourceEntity ?? "").map(\.name))
        .compactMap { source.entity($0) }.flatMap { $0.propertyNames + $0.renamed }
    }
    guard Set(inherited).isDisjoint(with: had), (try? merged.validate()) != nil else { return }
    destination = merged
    mappings = OracleInference(source, destination).mappings()
    if models.random.flag(2) { mappings.reverse() }
    log.append("merge \(below) into \(above)")
  }

  private mutating func vary(_ index: Int) {
    let (from, to) = (mappings[index].sourceEntity ?? "", mappings[index].destinationEntity ?? "")
    for place in mappings[index].attributeMappings.indices {
      var property = mappings[index].attributeMappings[place]
      vary(&property, from, to)
      mappings[index].attributeMappings[place] = property
    }
    if models.random.flag(3), !mappings[index].attributeMappings.isEmpty {
      mappings[index].attributeMappings.removeLast()
    }
    for place in mappings[index].relationshipMappings.indices {
      let property = mappings[index].relationshipMappings[place]
      guard case .function(_, _, let arguments) = property.valueExpression, let path = arguments.last else { continue }
      if path == OracleInference.source(property.name), models.random.flag(2) {
        mappings[index].relationshipMappings[place].valueExpression = nil
      } else if let mapping = onlyMapping(property.name, of: from, path) {
        mappings[index].relationshipMappings[place].valueExpression = .destinationInstances(
          ofMapping: mapping, source: path)
      }
    }
  }

  /// The one mapping whose objects a relationship can lead to.
  private mutating func onlyMapping(_ name: String, of entity: String, _ path: CoreDataModel.Expression) -> String? {
    guard case .keyPath(_, let names) = path, let link = source.relationship(names[0], of: entity),
      !source.hasChildren(link.destinationEntity), models.random.flag(2)
    else { return nil }
    return mappings.first { $0.sourceEntity == link.destinationEntity }?.name
  }

  private mutating func vary(_ property: inout PropertyMapping, _ from: String, _ to: String) {
    guard let target = destination.attribute(property.name, of: to), !target.allowsExternalBinaryDataStorage else {
      return
    }
    switch models.below(8) {
    case 0:
      if let value = models.defaultValue(target.type) { property.valueExpression = .constant(value) }
    case 1:
      // The same type at the other end of a to-one.
      let ways = source.relationships(of: from).filter { !$0.isToMany }.flatMap { link in
        source.attributes(of: link.destinationEntity).filter { $0.type == target.type && !$0.isTransient }
          .filter { !$0.allowsExternalBinaryDataStorage }.map { [link.name, $0.name] }
      }
      if let path = models.pick(ways) { property.valueExpression = .keyPath(operand: .variable("source"), path: path) }
    case 2, 3, 4:
      let isSame = property.valueExpression == OracleInference.source(property.name)
      let isNew =
        source.attribute(property.name, of: from) == nil
        && property.valueExpression == .constant(target.defaultValue ?? .null)
      if isSame || isNew { property.valueExpression = nil }
    default: break
    }
  }

  /// An entity's objects once more, as objects of a new entity, with plain attributes and to-ones without inverse.
  private mutating func mapTwice() {
    guard let first = models.pick(mappings.filter { $0.policyClassName == nil }), let from = first.sourceEntity else {
      return
    }
    var twin = EntityDescription(name: models.entityName())
    if models.random.flag(2) { twin.superentity = models.pick(destination.entities)?.name }
    var mapping = EntityMapping(sourceEntity: from, destinationEntity: twin.name)
    for old in source.attributes(of: from) where !old.isTransient && !old.allowsExternalBinaryDataStorage {
      let name = "twin\(models.number())"
      let attribute = AttributeDescription(name: name, type: old.type)
      twin.attributes.append(attribute)
      mapping.attributeMappings.append(PropertyMapping(name: name, valueExpression: OracleInference.source(old.name)))
    }
    for link in source.relationships(of: from) where !link.isToMany && !source.hasChildren(link.destinationEntity) {
      guard let other = mappings.first(where: { $0.sourceEntity == link.destinationEntity })?.destinationEntity else {
        continue
      }
      let name = "twin\(models.number())"
      twin.relationships.append(.toOne(name, other))
      mapping.relationshipMappings.append(
        PropertyMapping(name: name, valueExpression: OracleInference.instances(link.name)))
    }
    destination.entities.append(twin)
    added.append(mapping)
    log.append("map \(from) also to \(twin.name)\(twin.superentity.map { " below \($0)" } ?? "")")
  }

  private mutating func addPolicy() {
    guard let index = models.pick(Array(mappings.indices)) else { return }
    let kind = models.pick(["distinct", "members", "drop", "function", "late"]) ?? ""
    var mapping = mappings[index]
    guard let from = mapping.sourceEntity, let to = mapping.destinationEntity else { return }
    mapping.policyClassName = kind == "late" ? OracleLatePolicy.className : OraclePolicy.className
    mapping.userInfo["kind"] = kind
    let isDone =
      switch kind {
      case "distinct": addDistinct(&mapping, from, to)
      case "members": addMembers(&mapping, from, to)
      case "drop": true
      case "function": addFunction(&mapping, from, to)
      default: addLate(&mapping, from, to)
      }
    guard isDone else { return }
    mappings[index] = mapping
    log.append("policy \(kind) for \(mapping.name)")
  }

  private mutating func addDistinct(_ mapping: inout EntityMapping, _ from: String, _ to: String) -> Bool {
    guard let name = models.pick(source.attributes(of: from).filter { $0.type == .string && !$0.isTransient })?.name
    else { return false }
    let (link, back) = ("distinct\(models.number())", "all\(models.number())")
    var made = EntityDescription(name: models.entityName())
    made.attributes = [AttributeDescription(name: "name", type: .string)]
    made.relationships = [.toMany(back, to, inverse: link)]
    destination.entities.append(made)
    destination.change(to) { $0.relationships.append(.toOne(link, made.name, inverse: back)) }
    added.append(EntityMapping(sourceEntity: nil, destinationEntity: made.name))
    mapping.userInfo.merge(["entity": made.name, "attribute": name, "link": link]) { $1 }
    return true
  }

  private mutating func addMembers(_ mapping: inout EntityMapping, _ from: String, _ to: String) -> Bool {
    guard let link = models.pick(source.relationships(of: from).filter { knowsOrders || !$0.isOrdered }) else {
      return false
    }
    var made = EntityDescription(name: models.entityName())
    made.attributes = [
      AttributeDescription(name: "place", type: .integer32), AttributeDescription(name: "memberKey", type: .integer64),
    ]
    made.relationships = [.toOne("holder", to)]
    destination.entities.append(made)
    added.append(EntityMapping(sourceEntity: nil, destinationEntity: made.name))
    mapping.userInfo.merge(["entity": made.name, "relationship": link.name]) { $1 }
    return true
  }

  private mutating func addFunction(_ mapping: inout EntityMapping, _ from: String, _ to: String) -> Bool {
    let numbers: [AttributeType] = [.integer16, .integer32, .integer64, .boolean]
    guard
      let name = models.pick(source.attributes(of: from).filter { numbers.contains($0.type) && !$0.isTransient })?.name
    else { return false }
    let tripled = "tripled\(models.number())"
    destination.change(to) { $0.attributes.append(AttributeDescription(name: tripled, type: .integer64)) }
    mapping.attributeMappings.append(
      PropertyMapping(
        name: tripled,
        valueExpression: .function(
          operand: .variable("entityPolicy"), name: "triple:", arguments: [OracleInference.source(name)])))
    return true
  }

  private mutating func addLate(_ mapping: inout EntityMapping, _ from: String, _ to: String) -> Bool {
    let family = destination.entities.filter {
      destination.isKind($0.name, of: to) || destination.isKind(to, of: $0.name)
    }
    guard !family.contains(where: { $0.propertyNames.contains("late") }) else { return false }
    destination.change(to) { $0.attributes.append(AttributeDescription(name: "late", type: .integer64)) }
    guard let link = models.pick(source.relationships(of: from)),
      !destination.entities.contains(where: { $0.propertyNames.contains("touched") })
    else { return true }
    // Sub-entities may have moved away, so each entity gets the attribute where it has none from above.
    let others = mappings.filter { source.isKind($0.sourceEntity ?? "", of: link.destinationEntity) }.compactMap(
      \.destinationEntity)
    let roots = Set(others.map { destination.root(of: $0) })
    guard !others.isEmpty else { return true }
    for root in roots {
      destination.change(root) { $0.attributes.append(AttributeDescription(name: "touched", type: .integer64)) }
    }
    mapping.userInfo["relationship"] = link.name
    return true
  }
}
