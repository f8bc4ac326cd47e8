/// Where a key or a link of a version stands: a column of an entity table, or a join table after them, whose column and
/// entity number are 0.
struct KeyPlace: Hashable {
  var table: Int
  var column = 0
  /// The Z_ENT of the row.
  var number = 0
}

/// Notes whose key is cleared in one column. It counts if the row is kept; the transforming thread's alone.
final class ClearedKey {
  let place: KeyPlace
  /// The key of the last row whose key was cleared.
  var row: Int64?

  init(_ place: KeyPlace) { self.place = place }
}
