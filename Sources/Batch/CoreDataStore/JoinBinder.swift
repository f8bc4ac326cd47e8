/// Finds the store's table for every many-to-many of a layout (B.6).
///
/// A table may be named by either side, bear an old entity number, or hold its columns in the order of an earlier name.
/// What decides is the columns: each is named after the relationship that points at its rows.
package struct JoinBinder {
  private var candidates: [TableSchema]
  private let claim: StoreClaim

  package init(candidates: [TableSchema], claim: StoreClaim) {
    self.candidates = candidates
    self.claim = claim
  }

  /// Exact tables are taken before any looser match, so that a stale name cannot take another relationship's table.
  package mutating func bind(_ joins: [JoinTable]) throws -> [StoreBinding.Join] {
    var bound: [Int: StoreBinding.Join] = [:]
    for looseness in Looseness.allCases {
      var taken: Set<String> = []
      for (position, join) in joins.enumerated() where bound[position] == nil {
        let found = candidates.compactMap { match(join, table: $0, looseness: looseness) }
        guard let only = found.first else { continue }
        guard found.count == 1 else {
          let names = found.map(\.schema.name).joined(separator: ", ")
          throw claim.error("has several tables for \(join.relationship): \(names)", entity: join.relationship.entity)
        }
        guard taken.insert(NameOrder.folded(only.schema.name)).inserted else {
          throw claim.error(
            "has one table \(only.schema.name) for several relationships, \(join.relationship) among them",
            entity: join.relationship.entity)
        }
        bound[position] = only
      }
      candidates.removeAll { taken.contains(NameOrder.folded($0.name)) }
    }
    return try joins.enumerated().map { position, join in
      if let found = bound[position] { return found }
      throw claim.error(
        "has no table \(join.name) with columns \(join.columns.joined(separator: ", ")) for \(join.relationship)",
        entity: join.relationship.entity)
    }
  }

  private enum Looseness: CaseIterable {
    /// The predicted name with the predicted columns.
    case exact
    /// Named by the other side, with the predicted columns.
    case otherSide
    /// Any table with the predicted columns.
    case anyName
    /// The predicted name of either side whatever its number, and columns whatever their numbers and suffixes.
    case renumbered
  }

  private func match(_ join: JoinTable, table: TableSchema, looseness: Looseness) -> StoreBinding.Join? {
    let name = NameOrder.folded(table.name)
    switch looseness {
    case .exact: return name == NameOrder.folded(join.name) ? exact(join, table) : nil
    case .otherSide: return join.otherName.map { NameOrder.folded($0) == name } == true ? exact(join, table) : nil
    case .anyName: return name.hasPrefix("z_") ? exact(join, table) : nil
    case .renumbered:
      guard let real = NumberedName(table.name) else { return nil }
      let sides = [join.relationship, join.inverse].map { NameOrder.folded($0.name.uppercased()) }
      return real.prefix == "z_" && sides.contains(real.base) ? renumbered(join, table) : nil
    }
  }

  private func exact(_ join: JoinTable, _ table: TableSchema) -> StoreBinding.Join? {
    make(join, table: table) { table.position(of: $0) }
  }

  private func renumbered(_ join: JoinTable, _ table: TableSchema) -> StoreBinding.Join? {
    make(join, table: table) { wanted in
      if let position = table.position(of: wanted) { return position }
      guard let shape = NumberedName(wanted) else { return nil }
      let found = table.columns.indices.filter { index in
        NumberedName(table.columns[index].name).map { Self.agree($0, shape) } == true
      }
      return found.count == 1 ? found[0] : nil
    }
  }

  /// Suffixes of collisions differ too when entities came or went: `Z_17USERS1` was `Z_15USERS`.
  private static func agree(_ left: NumberedName, _ right: NumberedName) -> Bool {
    guard left.prefix == right.prefix else { return false }
    let stem = { (name: String) in String(name.reversed().drop { $0.isASCII && $0.isNumber }.reversed()) }
    return left.base == right.base || stem(left.base) == stem(right.base)
  }

  private func make(
    _ join: JoinTable, table: TableSchema, position: (String) -> Int?
  ) -> StoreBinding.Join? {
    guard let source = position(join.sourceColumn), let destination = position(join.destinationColumn),
      source != destination
    else { return nil }
    let sourceOrder = join.sourceOrderColumn.flatMap(position)
    let destinationOrder = join.destinationOrderColumn.flatMap(position)
    // An ordered side without its ordering key is another relationship's table.
    guard (sourceOrder == nil) == (join.sourceOrderColumn == nil),
      (destinationOrder == nil) == (join.destinationOrderColumn == nil)
    else { return nil }
    return StoreBinding.Join(
      layout: join, schema: table, sourcePosition: source, destinationPosition: destination,
      sourceOrderPosition: sourceOrder, destinationOrderPosition: destinationOrder)
  }
}
