import Streams

@testable import CoreDataModel
@testable import MappingModels

/// Migrates graphs object by object, slowly, with dictionaries, and with no code of the engine.
struct OracleMigrator {
  /// Objects with a number that does not fit the type it becomes: destination entity, source key.
  struct Misfit: Error { var objects: Set<OracleKey> }

  let step: OracleStep
  let source: OracleGraph
  var result: OracleGraph
  private var offsets: [String: Int64] = [:]
  private var scans: [(root: String, mappings: [EntityMapping])] = []
  private var misfits: Set<OracleKey> = []

  init(_ step: OracleStep, _ source: OracleGraph) {
    (self.step, self.source) = (step, source)
    result = OracleGraph(model: step.destination)
    for model in step.models { read(model) }
    assignOffsets()
  }

  var mappings: [EntityMapping] { scans.flatMap(\.mappings) }

  static func migrate(_ step: OracleStep, _ source: OracleGraph) throws -> OracleGraph {
    var migrator = OracleMigrator(step, source)
    try migrator.run()
    return migrator.result
  }

  /// Mappings of one mapping model share a reading of their table, but for those that put an entity into one table
  /// twice.
  private mutating func read(_ model: MappingModel) {
    let first = scans.count
    for mapping in model.entityMappings {
      guard let from = mapping.sourceEntity, let to = mapping.destinationEntity else { continue }
      let fit = scans.indices.dropFirst(first).first { index in
        scans[index].root == source.model.root(of: from)
          && !scans[index].mappings.contains {
            $0.sourceEntity == from && root($0.destinationEntity) == root(to)
          }
      }
      if let fit { scans[fit].mappings.append(mapping) } else { scans.append((source.model.root(of: from), [mapping])) }
    }
  }

  private func root(_ entity: String?) -> String { step.destination.root(of: entity ?? "") }

  /// What comes into one table from several readings follows one after the other.
  private mutating func assignOffsets() {
    for scan in scans {
      for root in Set(scan.mappings.map { self.root($0.destinationEntity) }) {
        for mapping in scan.mappings where self.root(mapping.destinationEntity) == root {
          offsets[mapping.name] = result.largestKeys[root] ?? 0
        }
        result.largestKeys[root, default: 0] += source.largestKeys[scan.root] ?? 0
      }
    }
  }

  private mutating func run() throws {
    for scan in scans {
      for key in source.objects(of: scan.root) {
        for mapping in scan.mappings where mapping.sourceEntity == key.entity { create(mapping, key) }
      }
    }
    guard misfits.isEmpty else { throw Misfit(objects: misfits) }
    for mapping in step.models.flatMap(\.entityMappings) { changeLate(mapping) }
    // What a policy left out takes the owner's key that its row would have had with it.
    for (key, object) in result.objects {
      for (name, links) in object.links {
        let kept = links.filter { result.objects[$0] != nil }
        result.objects[key]?.links[name] = kept
      }
    }
    result.closeInverses()
    for mapping in mappings { findLooseOrders(mapping) }
  }

  private mutating func create(_ mapping: EntityMapping, _ key: OracleKey) {
    guard let entity = mapping.destinationEntity, !leavesOut(mapping, key) else { return }
    let new = OracleKey(entity: entity, key: key.key + (offsets[mapping.name] ?? 0))
    var made = object(of: entity)
    for property in mapping.attributeMappings {
      guard let target = step.destination.attribute(property.name, of: entity),
        let value = value(property, mapping, key)
      else { continue }
      let converted =
        OracleValues.numbers.contains(target.type) ? OracleValues.converted(value, to: target.type) : value
      if converted == nil { misfits.insert(OracleKey(entity: entity, key: key.key)) }
      made.values[property.name] = target.type.graphValue(converted ?? .null)
    }
    for property in mapping.relationshipMappings {
      guard let destination = step.destination.relationship(property.name, of: entity)?.destinationEntity,
        let origin = origin(property, of: key.entity)
      else { continue }
      let old = source.objects[key]?.links[origin.name] ?? []
      made.links[property.name] = old.compactMap { target($0, via: origin.mapping, kind: destination) }
    }
    result.objects[new] = made
    createMore(mapping, key, new)
  }

  /// An object with its default values.
  func object(of entity: String) -> OracleGraph.Object {
    var object = OracleGraph.Object()
    for attribute in step.destination.attributes(of: entity) where !attribute.isTransient {
      object.values[attribute.name] = attribute.type.graphValue(attribute.defaultValue ?? .null)
    }
    return object
  }

  /// A further object, with a key above all that are kept.
  mutating func insert(_ entity: String) -> OracleKey {
    let root = step.destination.root(of: entity)
    result.largestKeys[root, default: 0] += 1
    let key = OracleKey(entity: entity, key: result.largestKeys[root] ?? 0)
    let fresh = object(of: entity)
    result.objects[key] = fresh
    return key
  }

  /// Nil leaves the default value.
  private func value(_ property: PropertyMapping, _ mapping: EntityMapping, _ key: OracleKey) -> Value? {
    guard let expression = property.valueExpression else { return source.objects[key]?.values[property.name] }
    switch expression {
    case .constant(let value): return value
    case .keyPath(_, let path):
      var object: OracleKey? = key
      for name in path.dropLast() { object = object.flatMap { source.objects[$0]?.links[name]?.first } }
      return object.flatMap { source.objects[$0]?.values[path.last ?? ""] } ?? .null
    case .function(_, _, let arguments):
      let argument = PropertyMapping(name: property.name, valueExpression: arguments.first)
      return OraclePolicy.triple(value(argument, mapping, key) ?? .null)
    default: fatalError("the oracle's mapping models have no such expression: \(expression)")
    }
  }

  private func origin(_ property: PropertyMapping, of entity: String) -> (name: String, mapping: String?)? {
    switch property.valueExpression {
    case nil: return source.model.relationship(property.name, of: entity) == nil ? nil : (property.name, nil)
    case .function(_, let name, let arguments)?:
      guard arguments.count == 2, case .constant(.text(let text)) = arguments[0],
        case .keyPath(_, let path) = arguments[1]
      else { return nil }
      return (path[0], name.contains("EntityMapping") ? text : nil)
    default: return nil
    }
  }

  /// The object that stands for a source object: that of the first mapping that fits.
  func target(_ key: OracleKey, via name: String? = nil, kind: String) -> OracleKey? {
    let fit = mappings.first { mapping in
      mapping.sourceEntity == key.entity && (name == nil || mapping.name == name)
        && step.destination.isKind(mapping.destinationEntity ?? "", of: kind)
    }
    return fit.map { OracleKey(entity: $0.destinationEntity ?? "", key: key.key + (offsets[$0.name] ?? 0)) }
  }

  /// The object that a mapping makes of a source object.
  func instance(_ mapping: EntityMapping, _ key: OracleKey) -> OracleKey {
    OracleKey(entity: mapping.destinationEntity ?? "", key: key.key + (offsets[mapping.name] ?? 0))
  }

  /// An order is determined where the relationship had one before.
  private mutating func findLooseOrders(_ mapping: EntityMapping) {
    guard let from = mapping.sourceEntity, let to = mapping.destinationEntity else { return }
    for link in step.destination.relationships(of: to) where link.isOrdered && link.isToMany {
      let property = mapping.relationshipMappings.first { $0.name == link.name }
      let old = property.flatMap { origin($0, of: from) }?.name
      let wasOrdered =
        old.flatMap { source.model.relationship($0, of: from) }.map { $0.isOrdered && $0.isToMany } == true
      if !wasOrdered || source.looseOrders.contains("\(from).\(old ?? "")") {
        result.looseOrders.insert("\(to).\(link.name)")
      }
    }
  }
}
