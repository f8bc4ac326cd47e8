/// A queue between threads that holds a few elements at most: the faster side waits (back-pressure).
///
/// It ends in one of two ways: ``finish()`` lets the other side take what is left,
/// ``abort(_:)`` makes every waiting and later call throw, on both sides; so no side ever waits for one that is gone.
public final class BoundedQueue<Element: Sendable>: @unchecked Sendable {
  // Sendable: all state is guarded by the lock.
  private let lock = ThreadLock()
  private let changed = ThreadCondition()
  private var elements: [Element] = []
  private let capacity: Int
  private var isFinished = false
  private var failure: (any Error)?
  /// Threads that wait for a place, and for an element.
  private var (pushing, popping) = (0, 0)

  /// Makes a queue of at least one place.
  public init(capacity: Int) { self.capacity = max(1, capacity) }

  /// Waits for a place and appends.
  ///
  /// - Throws: ``StreamsError``: the error of ``abort(_:)``.
  public func push(_ element: Element) throws {
    try lock.locked {
      while elements.count >= capacity, failure == nil { wait(\.pushing) }
      if let failure { throw failure }
      elements.append(element)
      if popping > 0 { lock.wake(changed) }
    }
  }

  /// Waits for an element; nil after ``finish()`` when all are taken.
  ///
  /// - Throws: ``StreamsError``: the error of ``abort(_:)``.
  public func pop() throws -> Element? {
    try lock.locked {
      while elements.isEmpty, !isFinished, failure == nil { wait(\.popping) }
      if let failure { throw failure }
      return take()
    }
  }

  /// An element if one is there; never waits, never throws.
  public func tryPop() -> Element? { lock.locked { take() } }

  private func take() -> Element? {
    if pushing > 0 { lock.wake(changed) }
    return elements.isEmpty ? nil : elements.removeFirst()
  }

  private func wait(_ waiting: ReferenceWritableKeyPath<BoundedQueue, Int>) {
    self[keyPath: waiting] += 1
    lock.wait(for: changed)
    self[keyPath: waiting] -= 1
  }

  /// No more elements will come.
  public func finish() { end { isFinished = true } }

  /// Ends both sides with an error; the first one counts.
  public func abort(_ error: any Error) { end { if failure == nil { failure = error } } }

  private func end(_ body: () -> Void) {
    lock.locked {
      body()
      lock.wake(changed)
    }
  }
}
