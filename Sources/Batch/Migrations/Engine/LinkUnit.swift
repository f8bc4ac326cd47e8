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
  /// Whether it is the only unit that reads these pairs, or the first: each pair is counted once.
  var isFirst = true
  /// Where filters may have left out objects: what became of the owner, and of the other.
  var owners: CarriedTargets?
  var others: CarriedTargets?

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
