import CoreDataModel
import CoreDataStore
import Streams

extension VersionAccount {
  /// The account with its counts: by a tally of what its version holds. `known` entities need not be bound again. With
  /// the layout of the next version also what was cleared.
  func counted(
    _ tally: ContentTally, _ binding: StoreBinding, to model: ManagedObjectModel,
    known: [String: SourceEntity] = [:], next: StoreLayout? = nil
  ) throws -> VersionAccount {
    var account = self
    var (owners, entities) = ([RelationshipStorage: [Int]](), known)
    let fates = LinkFates(self, binding, to: model)
    // Of what goes as a whole, no object is left out.
    let gone = Set(lines.filter { $0.kind == .entity && $0.isGone }.map(\.entity))
    for index in lines.indices where lines[index].isCounted {
      let name = lines[index].entity
      let entity = try entities[name] ?? SourceEntity(name: name, binding: binding)
      entities[name] = entity
      Self.count(
        &account.lines[index], of: entity, tally: tally, binding: binding, isTaken: !gone.contains(name), fates: fates)
      guard lines[index].kind == .relationship else { continue }
      switch binding.layout.storage(of: lines[index].name ?? "", entity: name) {
      case .ownerKey(let table, let column, _)?:
        owners[.ownerKey(table: table, column: column, orderColumn: nil), default: []].append(index)
      case .join(let table, _)?:
        owners[.join(table: table, ownerIsSource: true), default: []].append(index)
      default: break
      }
    }
    for shared in owners.values { account.share(shared, gone: gone) }
    if let next { account.clear(tally.cleared, from: binding.layout, to: next) }
    account.noteUnfit(binding)
    return account
  }

  /// Lets one of several lines about the same links count them: one whose links are carried, if there is one.
  private mutating func share(_ indices: [Int], gone: Set<String>) {
    guard let first = indices.first(where: { !lines[$0].isGone }) ?? indices.first else { return }
    for index in indices where index != first {
      let other = lines[index]
      if other.isGone, !lines[first].isGone, !gone.contains(other.entity), lines[first].narrowed != .lost {
        lines[first].narrowed = other.fate == .lost ? .lost : .dropped
      }
      lines[index].countedAs = lines[first].path
      (lines[index].count, lines[index].leftOut, lines[index].rejected) = (nil, nil, nil)
      (lines[index].cleared, lines[index].narrowed) = (nil, nil)
    }
  }

  /// Of relationships that no longer take all of their objects: how many links are gone for that, at most.
  mutating func noteUnfit(_ binding: StoreBinding) {
    for index in lines.indices where lines[index].narrowed != nil {
      let line = lines[index]
      switch binding.layout.storage(of: line.name ?? "", entity: line.entity) {
      case .join?: lines[index].unfit = line.leftOut
      case .ownKey?, .inverseKey?, .ownerKey?, nil: lines[index].unfit = line.cleared
      }
    }
  }

  private static func count(
    _ line: inout AccountLine, of entity: SourceEntity, tally: ContentTally, binding: StoreBinding, isTaken: Bool,
    fates: LinkFates
  ) {
    switch line.kind {
    case .entity: line.set(tally, isTaken: isTaken) { $0.objects(entity.number) }
    case .attribute:
      let position = entity.attributes[line.name ?? ""]?.position
      line.set(tally, isTaken: isTaken) { rows in position.map { rows.values(entity.number, column: $0) } ?? 0 }
      if !tally.changed.isEmpty { line.changed = tally.changed[line.path] }
      if !tally.lost.isEmpty { line.cleared = tally.lost[line.path] }
    case .index, .constraint, .trigger: break
    case .relationship:
      guard let storage = binding.layout.storage(of: line.name ?? "", entity: line.entity) else { return }
      count(&line, in: storage, of: entity, tally: tally, binding: binding, isTaken: isTaken, fates: fates)
    }
  }

  private static func count(
    _ line: inout AccountLine, in storage: RelationshipStorage, of entity: SourceEntity, tally: ContentTally,
    binding: StoreBinding, isTaken: Bool, fates: LinkFates
  ) {
    switch storage {
    case .ownKey:
      let position = entity.relationships[line.name ?? ""]?.keyPosition
      line.set(tally, isTaken: isTaken) { rows in position.map { rows.values(entity.number, column: $0) } ?? 0 }
      if !tally.lost.isEmpty { line.cleared = tally.lost[line.path] }
    // Which of several entities an owner in another table is of, its key does not show: one line counts all.
    case .ownerKey(let table, let column, _):
      let (position, targets) = (binding.tables[table].positions[column], fates.targets(of: line))
      let rows = binding.numbers(in: table)
      func sum(_ numbers: [Int], in counts: RowCounts) -> UInt64 {
        numbers.reduce(0) { $0 + counts.values($1, column: position) }
      }
      line.count = sum(rows, in: tally.rows)
      guard isTaken else { return }
      let (gone, unfit) = (rows.filter(targets.gone.contains), rows.filter(targets.unfit.contains))
      let kept = rows.filter { !targets.gone.contains($0) }
      line.leftOut = (sum(gone, in: tally.rows) + sum(kept, in: tally.leftOut)).nilIfZero
      line.rejected = sum(kept, in: tally.rejected).nilIfZero
      let untaken = sum(unfit, in: tally.leftOut) + sum(unfit, in: tally.rejected)
      let narrowed = sum(unfit, in: tally.rows) - min(sum(unfit, in: tally.rows), untaken)
      line.cleared = (narrowed + (line.lossPath(in: binding.layout.model).flatMap { tally.lost[$0] } ?? 0)).nilIfZero
    case .join(let table, _):
      let count = tally.links[table] ?? 0
      line.count = count
      if isTaken { line.leftOut = tally.carriedLinks[table].flatMap { (count - min(count, $0)).nilIfZero } }
    // Nobody at the other end has objects, or another line would count.
    case .inverseKey: line.count = 0
    }
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
      (leftOut, rejected) = (leftOutBy == nil ? none.nilIfZero : none, number(tally.rejected).nilIfZero)
    }
  }
}

extension StoreBinding {
  /// The numbers of the entities whose objects are in a table.
  fileprivate func numbers(in table: Int) -> [Int] {
    layout.entityNames.filter { layout.tablePosition(ofEntity: $0) == table }.compactMap { layout.entityNumbers[$0] }
  }
}
