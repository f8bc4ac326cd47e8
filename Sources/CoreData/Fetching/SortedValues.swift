import Foundation
import Migrations
import Streams

extension NSSortDescriptor {
  /// Sorts objects by the value of a key; nil comes first.
  public convenience init(key: String?, ascending: Bool) {
    self.init(
      keyPath: \NSManagedObject.[sorting: key ?? "self"], ascending: ascending,
      comparator: { SortedValues.compare($0, $1) })
  }
}

extension NSManagedObject {
  /// What a sort descriptor compares.
  subscript(sorting key: String) -> Any? { value(forKeyPath: key) }
}

/// The order of values of attributes.
enum SortedValues {
  static func compare(_ left: Any?, _ right: Any?) -> ComparisonResult {
    let (left, right) = (ValueBridge.any(left) ?? .null, ValueBridge.any(right) ?? .null)
    if left == .null || right == .null {
      return left == right ? .orderedSame : left == .null ? .orderedAscending : .orderedDescending
    }
    let order = (try? Comparing.order(left, right)) ?? 0
    return order < 0 ? .orderedAscending : order > 0 ? .orderedDescending : .orderedSame
  }
}
