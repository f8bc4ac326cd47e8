import CoreDataModel
import CoreDataStore

extension VersionAccount {
  /// Says of the lines of relationships how many of their links were cleared: `places` of the next version have them.
  /// What objects of several entities have in one place is given to one line after the other.
  mutating func clear(_ places: [KeyPlace: UInt64], from source: StoreLayout, to next: StoreLayout) {
    guard !places.isEmpty else { return }
    var rest = places
    let heirs = Dictionary(
      lines.filter { $0.kind == .entity }.map { ($0.entity, Set($0.to.compactMap { next.entityNumbers[$0] })) }
    ) { $0.union($1) }
    // Places that have rows of one entity first.
    for isExact in [true, false] {
      for index in lines.indices where lines[index].mayBeCleared {
        for spot in lines[index].to.compactMap(next.place(of:)) {
          let places = rest.keys.filter { place in
            (place.table, place.column) == spot
              && (!isExact || heirs[lines[index].entity]?.contains(place.number) == true)
          }
          for place in places.sorted(by: { $0.number < $1.number }) {
            clear(
              &rest[place, default: 0], at: index, isMoved: isMoved(lines[index], at: place, from: source, to: next))
          }
        }
      }
    }
  }

  /// Whether keys have become links of a join table: those of objects that were not taken are among what is cleared.
  private func isMoved(_ line: AccountLine, at place: KeyPlace, from source: StoreLayout, to next: StoreLayout) -> Bool
  {
    guard place.table >= next.entityTables.count else { return false }
    if case .join? = source.storage(of: line.name ?? "", entity: line.entity) { return false }
    return true
  }

  private mutating func clear(_ count: inout UInt64, at index: Int, isMoved: Bool) {
    if isMoved { count -= min(count, (lines[index].leftOut ?? 0) &+ (lines[index].rejected ?? 0)) }
    let cleared = min(count, lines[index].share)
    guard cleared > 0 else { return }
    count -= cleared
    lines[index].cleared = (lines[index].cleared ?? 0) + cleared
  }
}

extension AccountLine {
  /// Whether links of the line can be cleared.
  var mayBeCleared: Bool { kind == .relationship && holdsData && !isGone && count != nil }
}

extension StoreLayout {
  /// The table and column that have the keys of a relationship, given as `Entity.name`; of a join table column 0.
  fileprivate func place(of path: String) -> (table: Int, column: Int)? {
    guard let path = PropertyPath(path) else { return nil }
    switch storage(of: path.name, entity: path.entity) {
    case .ownKey(let table, let column, _, _)?, .inverseKey(let table, let column, _)?,
      .ownerKey(let table, let column, _)?:
      return (table, column)
    case .join(let table, _)?: return (entityTables.count + table, 0)
    case nil: return nil
    }
  }
}
