import CoreDataStore
import Streams

extension VersionAccount {
  /// The account with its counts: by a tally of what its version holds. `known` entities need not be bound again. With
  /// the layout of the next version also what was cleared.
  func counted(
    _ tally: ContentTally, _ binding: StoreBinding, known: [String: SourceEntity] = [:], next: StoreLayout? = nil
  ) throws -> VersionAccount {
    var account = self
    var owners: [RelationshipStorage: String] = [:]
    var entities = known
    // Of what goes as a whole, no object is left out.
    let gone = Set(lines.filter { $0.kind == .entity && $0.isGone }.map(\.entity))
    for index in lines.indices where lines[index].isCounted {
      let name = lines[index].entity
      let entity = try entities[name] ?? SourceEntity(name: name, binding: binding)
      entities[name] = entity
      account.lines[index] = Self.counted(
        lines[index], of: entity, tally: tally, binding: binding, isTaken: !gone.contains(name), owners: &owners)
    }
    if let next { account.clear(tally.cleared, from: binding.layout, to: next) }
    return account
  }

  private static func counted(
    _ line: AccountLine, of entity: SourceEntity, tally: ContentTally, binding: StoreBinding, isTaken: Bool,
    owners: inout [RelationshipStorage: String]
  ) -> AccountLine {
    var line = line
    switch line.kind {
    case .entity: line.set(tally, isTaken: isTaken) { $0.objects(entity.number) }
    case .attribute:
      let position = entity.attributes[line.name ?? ""]?.position
      line.set(tally, isTaken: isTaken) { rows in position.map { rows.values(entity.number, column: $0) } ?? 0 }
      line.changed = tally.changed[line.path]
    case .index, .constraint, .trigger: break
    case .relationship:
      guard let storage = binding.layout.storage(of: line.name ?? "", entity: line.entity) else { return line }
      count(&line, storage, of: entity, tally: tally, binding: binding, isTaken: isTaken)
      switch storage {
      case .ownerKey: take(&line, storage: storage, owners: &owners)
      case .join(let table, _): take(&line, storage: .join(table: table, ownerIsSource: true), owners: &owners)
      case .ownKey, .inverseKey: break
      }
    }
    return line
  }

  private static func count(
    _ line: inout AccountLine, _ storage: RelationshipStorage, of entity: SourceEntity, tally: ContentTally,
    binding: StoreBinding, isTaken: Bool
  ) {
    switch storage {
    case .ownKey:
      let position = entity.relationships[line.name ?? ""]?.keyPosition
      line.set(tally, isTaken: isTaken) { rows in position.map { rows.values(entity.number, column: $0) } ?? 0 }
    // Which of several entities an owner in another table is of, its key does not show: the first counts all.
    case .ownerKey(let table, let column, _):
      let position = binding.tables[table].positions[column]
      line.set(tally, isTaken: isTaken) { rows in
        binding.numbers(in: table).reduce(0) { $0 + rows.values($1, column: position) }
      }
    case .join(let table, _):
      let count = tally.links[table] ?? 0
      line.count = count
      if isTaken { line.leftOut = tally.carriedLinks[table].flatMap { (count - min(count, $0)).unlessZero } }
    // Nobody at the other end has objects, or another line would count.
    case .inverseKey: line.count = 0
    }
  }

  private static func take(
    _ line: inout AccountLine, storage: RelationshipStorage, owners: inout [RelationshipStorage: String]
  ) {
    guard let owner = owners[storage] else { return owners[storage] = line.path }
    (line.countedAs, line.count, line.leftOut, line.rejected) = (owner, nil, nil, nil)
  }
}

extension AccountLine {
  /// Whether rows say what the line's count is.
  fileprivate var isCounted: Bool { [.entity, .attribute, .relationship].contains(kind) && countedAs == nil }

  /// Takes its counts from those of all rows, and of those that were not taken.
  fileprivate mutating func set(_ tally: ContentTally, isTaken: Bool, _ number: (RowCounts) -> UInt64) {
    count = number(tally.rows)
    if isTaken {
      // Where somebody may leave objects out, none is an answer.
      let none = number(tally.leftOut)
      (leftOut, rejected) = (leftOutBy == nil ? none.unlessZero : none, number(tally.rejected).unlessZero)
    }
  }
}

extension UInt64 {
  /// The number; nil for 0.
  fileprivate var unlessZero: UInt64? { self == 0 ? nil : self }
}

extension StoreBinding {
  /// The numbers of the entities whose objects are in a table.
  fileprivate func numbers(in table: Int) -> [Int] {
    layout.entityNames.filter { layout.tablePosition(ofEntity: $0) == table }.compactMap { layout.entityNumbers[$0] }
  }
}
