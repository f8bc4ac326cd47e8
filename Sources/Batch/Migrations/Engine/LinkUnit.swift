/// Writes the rows of one join table from one source table: pairs of keys, moved as their objects are moved.
package struct LinkUnit {
  /// Position in the destination layout's join tables.
  let join: Int
  let scan: SourceGraph.PairScan
  /// Whether the scan's owner is the owner of the relationship that names the join table.
  let ownerIsSource: Bool
  let ownerOffset: Int64
  let otherOffset: Int64
  /// Where the row holds the place of the other among the owner's, and of the owner among the other's.
  let order: Int?
  let inverseOrder: Int?
  /// The relationship, for messages.
  package let name: String
  /// Whether it is the only unit that writes these pairs into the table, or the first.
  var isFirst = true
  /// The other units that read these pairs: those of mappings with filters, and of other tables.
  private(set) var peers: [Peer] = []
  /// Whether it is the first of all that read these pairs: each pair is counted once.
  private(set) var isFirstOfPairs = true
  /// Where filters may have left out objects: what became of the owner, and of the other.
  var owners: CarriedTargets?
  var others: CarriedTargets?

  /// Another unit that reads the same pairs.
  struct Peer {
    /// Whether it writes into the same table.
    let isInTable: Bool
    /// Whether its owner is this unit's other.
    let isTurned: Bool
    let owners: CarriedTargets?
    let others: CarriedTargets?

    func carries(owner: Int64, other: Int64) throws -> Bool {
      let (owner, other) = isTurned ? (other, owner) : (owner, other)
      return try owners.map { try $0.target(owner) != nil } ?? true
        && others.map { try $0.target(other) != nil } ?? true
    }
  }

  /// Which units read the same pairs.
  static func introduce(_ units: [LinkUnit]) -> [LinkUnit] {
    units.enumerated().map { place, unit in
      var unit = unit
      for (index, other) in units.enumerated() where index != place {
        guard let isTurned = unit.scan.isTurned(other.scan) else { continue }
        unit.isFirstOfPairs = unit.isFirstOfPairs && index > place
        unit.peers.append(
          Peer(isInTable: unit.join == other.join, isTurned: isTurned, owners: other.owners, others: other.others))
      }
      return unit
    }
  }

  /// The destination key of an owner; nil for one that was left out.
  func carriedOwner(_ key: Int64) throws -> Int64? {
    guard let owners else { return key &+ ownerOffset }
    return try owners.target(key).map { key &+ $0.offset }
  }

  /// The destination key of the other; nil for one that was left out.
  func carriedOther(_ key: Int64) throws -> Int64? {
    guard let others else { return key &+ otherOffset }
    return try others.target(key).map { key &+ $0.offset }
  }
}
