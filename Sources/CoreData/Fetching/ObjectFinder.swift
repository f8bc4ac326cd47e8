import CoreDataModel
import Migrations
import RunSupport
import Streams

/// Answers fetch requests: in the source by sorted files, or by reading a table; in the destination by what is
/// remembered, else by look-ups.
final class ObjectFinder {
  private static let mostObjects = 1 << 17
  private unowned let session: MigrationSession
  /// Whether mappings without such policies make objects of entities.
  private var isForeign: [Set<String>: Bool] = [:]

  init(_ session: MigrationSession) { self.session = session }

  /// The objects that a request asks for. Throws ``BatchError`` that says what to write instead.
  func find(_ question: FetchQuestion, _ side: ManagedEntity.Side) throws -> [NSManagedObject] {
    guard let kind = session.known(question.entity, side) else {
      _ = session.entity(question.entity, side)
      return []
    }
    var condition = Condition(question.predicate)
    if let problem = condition.problem { throw problem(session) }
    var found =
      side == .source ? try source(kind, &condition) : try destination(kind, &condition, limit: question.limit)
    if !question.includesSubentities { found.removeAll { $0.kind !== kind } }
    if !question.order.isEmpty { sort(&found, question.order) }
    if question.offset > 0 { found.removeFirst(min(question.offset, found.count)) }
    if question.limit > 0, found.count > question.limit { found.removeLast(found.count - question.limit) }
    return found
  }

  private func sort(_ objects: inout [NSManagedObject], _ order: [NSSortDescriptor]) {
    objects.sort { left, right in
      for descriptor in order {
        let result = descriptor.compare(left, to: right)
        if result != .orderedSame { return result == .orderedAscending }
      }
      return left.key < right.key
    }
  }

  // MARK: The source

  private func source(_ kind: ManagedEntity, _ condition: inout Condition) throws -> [NSManagedObject] {
    let graph = session.engine.graph
    guard let entity = graph.entities[kind.name] else { return [] }
    // What may lie in files is compared object by object.
    if let (name, value) = condition.equality, let attribute = entity.attributes[name], !attribute.isExternal,
      let fitting = attribute.type.fitting(value)
    {
      return try graph.objects(entity, attribute, maybe: fitting).map { session.window($0) }
        .filter { try condition.holds($0) }
    }
    var keys: [(number: Int, key: Int64)] = []
    let window = session.sourceWindow(entity.number, 0)
    try graph.forEach(entity) { row in
      (window.row, window.key) = (row, row.key)
      guard try condition.holds(window) else { return }
      guard keys.count < Self.mostObjects else { throw tooMany(kind) }
      keys.append((row.entity.number, row.key))
    }
    return keys.map { session.sourceWindow($0.number, $0.key) }
  }

  private func tooMany(_ kind: ManagedEntity) -> BatchError {
    session.engine.failure(
      "a fetch gives more than \(Self.mostObjects) objects of \(kind.name), which is too much for memory",
      hint: "Fetch with a predicate that few objects fulfil, or go through a relationship", entity: kind.name)
  }

  // MARK: The destination

  private func destination(_ kind: ManagedEntity, _ condition: inout Condition, limit: Int) throws
    -> [NSManagedObject]
  {
    let kinds = session.destinations.compactMap { $0 }.filter { $0.isKind(of: kind) }
    let open = try session.open.filter { object in
      try kinds.contains { $0 === object.kind } && condition.holds(object)
    }
    if isWhole(kinds) { return try remembered(kinds, &condition) + open }
    guard let (name, value) = condition.equality, condition.isEqualityAlone, value != .null,
      let (object, isOnly) = try session.engine.findWished(kind.name, where: name, is: value)
    else { throw unbounded(kind) }
    guard let object else { return open }
    let found = session.window(object)
    let others = open.filter { $0 !== found && $0.key != found.key }
    guard (isOnly && others.isEmpty) || limit == 1 else {
      throw session.engine.failure(
        "several objects of \(kind.name) have the same \(name), and a fetch finds the first of them alone",
        hint: "Set fetchLimit = 1, if the first is meant", entity: kind.name)
    }
    return [found]
  }

  /// Whether all objects of entities are remembered: policies of this process make all of them.
  private func isWhole(_ kinds: [ManagedEntity]) -> Bool {
    guard !session.engine.isResumed else { return false }
    let names = Set(kinds.map(\.name))
    guard kinds.allSatisfy({ session.remembered.takes($0.number) }) else { return false }
    if let known = isForeign[names] { return !known }
    let isForeign = session.engine.hasForeignMappings(to: names)
    self.isForeign[names] = isForeign
    return !isForeign
  }

  private func remembered(_ kinds: [ManagedEntity], _ condition: inout Condition) throws -> [NSManagedObject] {
    if let (name, value) = condition.equality {
      return try kinds.flatMap { kind -> [NSManagedObject] in
        guard case .attribute(let attribute)? = kind.properties[name]?.kind, !attribute.isExternal else {
          return session.remembered.all(kind.number)
        }
        guard let fitting = attribute.type.fitting(value) else { return [] }
        return session.remembered.objects(kind.number, where: name, is: attribute.type.normalized(fitting))
      }
      .filter { try condition.holds($0) }
    }
    return try kinds.flatMap { session.remembered.all($0.number) }.filter { try condition.holds($0) }
  }

  private func unbounded(_ kind: ManagedEntity) -> BatchError {
    session.engine.failure(
      "objects of \(kind.name) cannot all be kept in memory, and this fetch needs them",
      hint: "Fetch with a predicate that compares one attribute with a value (%K == %@), or look in the sourceContext",
      entity: kind.name)
  }
}
