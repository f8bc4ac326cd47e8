import CoreDataStore
import Streams

extension VersionAccount {
  /// The account with its counts: by a tally of what its version holds. `known` entities need not be bound again.
  func counted(_ tally: ContentTally, _ binding: StoreBinding, known: [String: SourceEntity] = [:]) throws
    -> VersionAccount
  {
    var account = self
    var owners: [RelationshipStorage: String] = [:]
    var entities = known
    for index in lines.indices where lines[index].isCounted {
      let name = lines[index].entity
      let entity = try entities[name] ?? SourceEntity(name: name, binding: binding)
      entities[name] = entity
      account.lines[index] = Self.counted(
        lines[index], of: entity, tally: tally, binding: binding, owners: &owners)
    }
    return account
  }

  private static func counted(
    _ line: AccountLine, of entity: SourceEntity, tally: ContentTally, binding: StoreBinding,
    owners: inout [RelationshipStorage: String]
  ) -> AccountLine {
    var line = line
    switch line.kind {
    case .entity:
      line.count = tally.objects(entity.number)
      line.leftOut = tally.leftOut[entity.number]
    case .attribute:
      line.count = entity.attributes[line.name ?? ""].map { tally.values(entity.number, column: $0.position) } ?? 0
      line.changed = tally.changed[line.path]
    case .index, .constraint, .trigger: break
    case .relationship:
      guard let storage = binding.layout.storage(of: line.name ?? "", entity: line.entity) else { return line }
      // Which of several entities an owner in another table is of, its key does not show: the first counts all.
      switch storage {
      case .ownKey:
        line.count =
          entity.relationships[line.name ?? ""]?.keyPosition.map { tally.values(entity.number, column: $0) } ?? 0
      case .ownerKey(let table, let column, _):
        line.count = binding.numbers(in: table).reduce(0) {
          $0 + tally.values($1, column: binding.tables[table].positions[column])
        }
        take(&line, storage: storage, owners: &owners)
      case .join(let table, _):
        line.count = tally.links[table] ?? 0
        take(&line, storage: .join(table: table, ownerIsSource: true), owners: &owners)
      // Nobody at the other end has objects, or another line would count.
      case .inverseKey: line.count = 0
      }
    }
    return line
  }

  private static func take(
    _ line: inout AccountLine, storage: RelationshipStorage, owners: inout [RelationshipStorage: String]
  ) {
    guard let owner = owners[storage] else { return owners[storage] = line.path }
    (line.countedAs, line.count) = (owner, nil)
  }
}

extension AccountLine {
  /// Whether rows say what the line's count is.
  fileprivate var isCounted: Bool { [.entity, .attribute, .relationship].contains(kind) && countedAs == nil }
}

extension StoreBinding {
  /// The numbers of the entities whose objects are in a table.
  fileprivate func numbers(in table: Int) -> [Int] {
    layout.entityNames.filter { layout.tablePosition(ofEntity: $0) == table }.compactMap { layout.entityNumbers[$0] }
  }
}
