/// A destination object that a call made for a source object which somebody watches.
package struct WatchedObject {
  package var entity: String
  package var key: Int64
  /// Whether it is the one that stands for the source object.
  package var isOwn: Bool
  /// Columns that expressions, rules or the policy set.
  package var columns: Set<Int>
}

extension MigrationManager {
  /// Takes down the objects that the call at work has made.
  func watch() {
    objects.forEach { watched?.append($0.watched) }
  }
}

extension DestinationObject {
  fileprivate var watched: WatchedObject {
    WatchedObject(entity: entity.name, key: key, isOwn: mapping != nil, columns: setColumns)
  }
}
