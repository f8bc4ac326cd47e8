/// A destination object that a call made for a source object which somebody watches.
package struct WatchedObject {
  package var entity: String
  package var key: Int64
  /// Whether it is the one that stands for the source object.
  package var isOwn: Bool
  /// Columns that expressions, rules or the policy set.
  package var columns: Set<Int>
}
