import Synchronization

/// Remembers what a function gave that depends on its argument alone. Of more than `limit` results all are forgotten,
/// so that memory stays bounded.
package final class Memo<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  // Inlined, so that keys of several thousand bytes are compared by code of their own type.
  @usableFromInline let limit: Int
  @usableFromInline let known = Mutex<[Key: Value]>([:])

  package init(limit: Int) { self.limit = limit }

  /// The value of a key, made at most once by each thread that asks for it. Errors are not remembered.
  @inlinable package func value(_ key: Key, make: () throws -> Value) rethrows -> Value {
    if let value = self[key] { return value }
    let value = try make()
    self[key] = value
    return value
  }

  /// Forgets all.
  package func forget() { known.withLock { $0.removeAll() } }

  /// The value of a key as far as it is known.
  @inlinable package subscript(key: Key) -> Value? {
    get { known.withLock { $0[key] } }
    set {
      known.withLock { known in
        if known.count >= limit { known.removeAll() }
        known[key] = newValue
      }
    }
  }
}
