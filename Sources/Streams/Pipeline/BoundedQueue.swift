/// A queue between two threads that holds a few elements at most: the faster side waits (back-pressure).
///
/// One thread pushes, one pops. It ends in one of two ways: ``finish()`` lets the other side take what is left,
/// ``abort(_:)`` makes every waiting and later call throw, on both sides; so no side ever waits for one that is gone.
public final class BoundedQueue<Element: Sendable>: @unchecked Sendable {
  // Sendable: all state is guarded by the lock.
  private let lock = ThreadLock()
  private let changed = ThreadCondition()
  private var elements: [Element] = []
  private let capacity: Int
  private var isFinished = false
  private var failure: (any Error)?

  /// Makes a queue of at least one place.
  public init(capacity: Int) { self.capacity = max(1, capacity) }

  private func locked<R>(_ body: () throws -> R) rethrows -> R {
    try lock.locked {
      defer { changed.broadcast() }
      return try body()
    }
  }

  /// Waits for a place and appends.
  ///
  /// - Throws: ``StreamsError``: the error of ``abort(_:)``.
  public func push(_ element: Element) throws {
    try locked {
      while elements.count >= capacity, failure == nil { lock.wait(for: changed) }
      if let failure { throw failure }
      elements.append(element)
    }
  }

  /// Waits for an element; nil after ``finish()`` when all are taken.
  ///
  /// - Throws: ``StreamsError``: the error of ``abort(_:)``.
  public func pop() throws -> Element? {
    try locked {
      while elements.isEmpty, !isFinished, failure == nil { lock.wait(for: changed) }
      if let failure { throw failure }
      return elements.isEmpty ? nil : elements.removeFirst()
    }
  }

  /// An element if one is there; never waits, never throws.
  public func tryPop() -> Element? { locked { elements.isEmpty ? nil : elements.removeFirst() } }

  /// No more elements will come.
  public func finish() { locked { isFinished = true } }

  /// Ends both sides with an error; the first one counts.
  public func abort(_ error: any Error) { locked { if failure == nil { failure = error } } }
}
