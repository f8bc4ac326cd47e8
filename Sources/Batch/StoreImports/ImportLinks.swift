import CoreDataModel
import CoreDataStore
import RunSupport
import Streams

/// The relationships of an import: to which objects they lead, and where each link is stored.
final class ImportLinks {
  private let plan: ImportPlan
  private let spool: ImportSpool
  private let references: ImportReferences
  private let sides: ImportSides
  /// Attributes by whose values objects may be found: root entity and path, by entity and path.
  private var unique: [String: [String: String]] = [:]
  /// Entities by whose name attributes were named, by root entity and path. No two of their objects may have one value.
  private var named: [String: [String]] = [:]

  /// `unique` are attributes, as `User.userId`, beside those that the model keeps unique alone.
  init(
    _ plan: ImportPlan, spool: ImportSpool, references: ImportReferences, sides: ImportSides, unique: [String]
  ) throws {
    (self.plan, self.spool, self.references, self.sides) = (plan, spool, references, sides)
    try find(unique)
  }

  private func find(_ named: [String]) throws {
    let model = plan.layout.model
    var found: [(entity: String, path: String)] = []
    for entity in model.entities {
      found += entity.uniquenessConstraints.filter { $0.count == 1 }.map { (entity.name, $0[0]) }
    }
    for name in named {
      let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
      guard parts.count == 2, plan.entities[parts[0]]?.attributes[parts[1]] != nil else {
        throw BatchError(
          .refused, "the model has no attribute \(name)", hint: "Write it as Entity.attribute",
          effect: .nothingWritten)
      }
      found.append((parts[0], parts[1]))
      self.named["\(model.root(of: parts[0])).\(parts[1])", default: []].append(parts[0])
    }
    for (entity, path) in found {
      for name in plan.layout.entityNames where model.isKind(name, of: entity) {
        unique[name, default: [:]][path] = "\(model.root(of: name)).\(path)"
      }
    }
  }

  static func unknown(_ name: String, _ entity: ImportPlan.Entity, in plan: ImportPlan) -> ImportProblem {
    let names = Array(entity.attributes.keys) + Array(entity.relationships.keys)
    return ImportProblem(
      "\(entity.name) of \(plan.layout.model.name) has no property \(name)\(NearName.question(name, in: names.sorted()))"
    )
  }

  /// The objects to which a line's relationship leads. Throws ``ImportProblem``.
  func targets(
    _ member: ImportValue.Member, of entity: ImportPlan.Entity, uris: ImportURIs
  ) throws -> (ImportPlan.Relationship, [ImportTarget]) {
    let parts = member.name.split(separator: ".", maxSplits: 1).map(String.init)
    guard let relationship = entity.relationships[parts.first ?? ""] else {
      throw Self.unknown(member.name, entity, in: plan)
    }
    let path = parts.count > 1 ? parts[1] : nil
    let reader = ImportTargetReader(relationship: relationship, attribute: path, plan: plan, uris: uris)
    let found = try reader.read(member.value)
    for case .value(let attribute, _) in found where unique[relationship.destination]?[attribute] == nil {
      let name = "\(relationship.destination).\(attribute)"
      throw ImportProblem("\(name) is not unique in the model; name it by --unique \(name)")
    }
    if case .object(nil, _)? = found.first, !relationship.isToMany, plan.hasFamily(relationship.destination) {
      throw ImportProblem("\(relationship.name) may lead to sub-entities: name the entity, too")
    }
    return (relationship, found)
  }

  /// Notes the values by which an object may be found.
  func define(
    _ value: (Int) throws -> Value, of entity: ImportPlan.Entity, at address: ImportAddress, line: Int
  ) throws {
    guard !unique.isEmpty else { return }
    for (path, attribute) in unique[entity.name] ?? [:] {
      guard let column = entity.attributes[path]?.column, case let value = try value(column), value != .null else {
        continue
      }
      try references.define(attribute, value, entity: entity.number, at: address, line: line)
    }
  }

  /// Whether objects of an entity may be found by values.
  func defines(_ entity: ImportPlan.Entity?) -> Bool { entity.map { unique[$0.name]?.isEmpty == false } ?? false }

  /// Whether there is something to answer or to compare, when all objects are known.
  var hasQuestions: Bool { !references.isEmpty || !named.isEmpty }

  /// The attribute that is named as unique, if no two objects of these two entities may have the same value of it.
  private func uniqueName(_ attribute: String, of first: Int, and second: Int) -> String? {
    guard let one = plan.byNumber[first]?.name, let other = plan.byNumber[second]?.name else { return nil }
    let model = plan.layout.model
    let entity = named[attribute]?.first { model.isKind(one, of: $0) && model.isKind(other, of: $0) }
    return entity.map { $0 + attribute.drop { $0 != "." } }
  }

  /// Answers references by values, and compares those of attributes that are named as unique. `rejects` lines were left
  /// out.
  func answer(_ lines: ImportLines, rejects: UInt64) throws {
    guard hasQuestions else { return }
    try references.answer(lines, rejects: rejects, unique: { uniqueName($0, of: $1, and: $2) }) {
      question, entity, target in
      guard let owner = plan.byNumber[question.entity], let found = plan.byNumber[entity],
        let relationship = owner.relationships[question.relationship]
      else { return }
      try link(
        relationship, question.owner, of: owner, to: target, table: found.table, entity: entity, place: question.place,
        line: question.line)
    }
  }

  /// Notes that a relationship of an object leads nowhere.
  func addNone(
    _ relationship: ImportPlan.Relationship, of entity: ImportPlan.Entity, at address: ImportAddress, line: Int
  ) throws {
    guard relationship.back != nil, case .ownKey(_, let column, _, _) = relationship.storage else { return }
    try spool.add(.none(column, line: line), to: entity.table, address)
  }

  /// Notes that an object has a list of its relationship's objects.
  private func addList(_ relationship: ImportPlan.Relationship, of address: ImportAddress, line: Int) throws {
    switch relationship.storage {
    case .ownKey, .ownerKey: break
    case .inverseKey(let table, let column, _):
      try sides.addList(.init(table: table, column: column), of: address, line: line)
    case .join(let join, let ownerIsSource):
      let place = ImportSides.Place(table: ImportSpool.firstJoin | join, column: ownerIsSource ? 0 : 1)
      try sides.addList(place, of: address, line: line)
    }
  }

  /// Notes the links of an object. `isList` if the line has a list, though it may be empty.
  func add(
    _ targets: [ImportTarget], _ relationship: ImportPlan.Relationship, of entity: ImportPlan.Entity,
    at address: ImportAddress, line: Int, isList: Bool
  ) throws {
    if isList { try addList(relationship, of: address, line: line) }
    if targets.isEmpty { try addNone(relationship, of: entity, at: address, line: line) }
    for (place, target) in targets.enumerated() {
      switch target {
      case .object(let found, let key):
        guard let other = plan.entities[found ?? relationship.destination] else { continue }
        if plan.allowsDangling { try spool.reserve(key, in: other.table) }
        try link(
          relationship, address, of: entity, to: ImportAddress(key: key), table: other.table,
          entity: found == nil && plan.hasFamily(relationship.destination) ? 0 : other.number, place: place, line: line)
      case .value(let attribute, let value):
        guard let kind = unique[relationship.destination]?[attribute] else { continue }
        try references.ask(
          kind, value,
          for: .init(
            table: entity.table, owner: address, entity: entity.number, relationship: relationship.name, place: place,
            line: line))
      }
    }
  }

  /// Notes where a link is stored: in the owner's row, in the other one, or in a join table.
  func link(
    _ relationship: ImportPlan.Relationship, _ owner: ImportAddress, of entity: ImportPlan.Entity,
    to target: ImportAddress, table: Int, entity number: Int, place: Int, line: Int
  ) throws {
    let order = Int64(place + 1) * 1024
    func own(_ column: Int, _ entityColumn: Int?, order orderColumn: Int?) -> ImportSpool.Patch {
      .init(
        column: column, entityColumn: entityColumn, orderColumn: orderColumn, table: table, target: target,
        entity: number, line: line)
    }
    func mirrored(_ column: Int, _ orderColumn: Int?, isWeak: Bool = false) -> ImportSpool.Patch {
      let helper = plan.entityColumn(beside: column, in: table)
      return .init(
        column: column, entityColumn: helper, orderColumn: orderColumn, order: order, table: entity.table,
        target: owner, entity: entity.number, isWeak: isWeak, line: line)
    }
    switch relationship.storage {
    case .ownKey(_, let column, let entityColumn, let orderColumn):
      try spool.add(own(column, entityColumn, order: orderColumn), to: entity.table, owner)
      if case .ownKey(_, let back, _, _)? = relationship.back {
        try spool.add(mirrored(back, nil, isWeak: true), to: table, target)
      }
    case .inverseKey(_, let column, let orderColumn), .ownerKey(_, let column, let orderColumn):
      try spool.add(mirrored(column, orderColumn), to: table, target)
    case .join(let join, let ownerIsSource):
      // What is its own inverse has a row for each side.
      for isBySource in plan.layout.joinTables[join].isOwnInverse ? [true, false] : [ownerIsSource] {
        try spool.add(
          .init(
            source: isBySource ? owner : target, destination: isBySource ? target : owner, order: order,
            isBySource: isBySource, line: line), to: join)
      }
    }
  }
}
