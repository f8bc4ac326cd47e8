/// Where keys lead when filters decide which objects are carried over: the object is fetched and asked, as it was when
/// its own row was migrated. The source does not change, so nothing has to be kept.
struct CarriedTargets {
  /// A way that objects of one source entity may go.
  struct Candidate {
    var filter: MappingFilter?
    var target: KeyMap.Target
  }

  let graph: SourceGraph
  /// The Z_ENT of the entity that the relationship leads to.
  let expected: Int
  /// By the object's Z_ENT; the first that takes it counts.
  let candidates: [[Candidate]]
  /// Where a key that is cleared is noted; nil where nobody counts it.
  var cleared: ClearedKey?

  /// Whether anything can be left out.
  var hasFilters: Bool { candidates.contains { $0.contains { $0.filter != nil } } }

  /// The same for the keys in a column, which are counted where they are cleared.
  func clearing(_ column: Int, of destination: DestinationEntity) -> CarriedTargets {
    var targets = self
    targets.cleared = ClearedKey(
      KeyPlace(table: destination.table, column: column, number: destination.number))
    return targets
  }

  /// What became of an object; nil if no mapping took it, or if its row is missing.
  func target(_ key: Int64) throws -> KeyMap.Target? {
    guard let object = try graph.object(expected, key: key), object.entity.number < candidates.count else { return nil }
    return try candidates[object.entity.number].first { try $0.filter?.takes(object) ?? true }?.target
  }
}
