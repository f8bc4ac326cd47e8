/// Work on elements of a sequence: they are made in order, worked on by whoever is free, and taken in order by the
/// caller. What comes of it does not depend on the number of threads.
///
/// Every thread, the caller's among them, does what is to be done next; so all are busy whatever takes longest. Few
/// elements are under way at a time.
public final class OrderedWork<Element: Sendable>: @unchecked Sendable {
  // Sendable: all that changes is guarded by the lock.
  private struct Place {
    enum State { case made, atWork, done }
    let number: UInt64
    let element: Element
    let weight: Int
    var state = State.made
  }

  private let lock = ThreadLock()
  private let changed = ThreadCondition()
  private let depth: Int
  private let mostWeight: Int
  private let make: () throws -> (Element, weight: Int)?
  private let work: (Element) -> Void
  private var places: [Place] = []
  private var made: UInt64 = 0
  private var isMaking = false
  /// No more elements will be made.
  private var isOver = false
  /// Nobody waits for elements any more.
  private var isEnding = false
  /// What was thrown in place of an element.
  private var failure: (any Error)?

  private init(
    depth: Int, mostWeight: Int, make: @escaping () throws -> (Element, weight: Int)?,
    work: @escaping (Element) -> Void
  ) {
    (self.depth, self.mostWeight, self.make, self.work) = (depth, mostWeight, make, work)
  }

  /// Works until all elements are taken, or until the first error: then nobody works any more.
  ///
  /// - Parameters:
  ///   - helpers: threads beside the caller's; fewer where the system refuses them.
  ///   - depth: elements that may be under way.
  ///   - mostWeight: no further element is made when those under way weigh as much together.
  ///   - make: makes the next element, and says its weight; nil at the end. Called by one thread at a time. An error is
  ///     thrown when the elements before it are taken.
  ///   - work: works on an element, on any thread.
  ///   - take: takes an element, on the caller's thread, in order.
  /// - Throws: what `make` or `take` threw.
  public static func run(
    helpers: Int, depth: Int, mostWeight: Int, make: @escaping @Sendable () throws -> (Element, weight: Int)?,
    work: @escaping @Sendable (Element) -> Void, take: (Element) throws -> Void
  ) throws {
    let board = OrderedWork(depth: depth, mostWeight: mostWeight, make: make, work: work)
    let bodies: [Worker.Body] = Array(repeating: { board.help() }, count: helpers)
    let workers = (try? Worker.startAny(bodies)) ?? []
    defer {
      board.end()
      for worker in workers { _ = worker.join() }
    }
    try board.takeAll(take)
  }

  private func end() {
    lock.locked {
      isEnding = true
      lock.wake(changed)
    }
  }

  private func help() {
    lock.locked {
      while !isEnding {
        if !performOne() { lock.wait(for: changed) }
      }
    }
  }

  private func takeAll(_ take: (Element) throws -> Void) throws {
    try lock.locked {
      while true {
        if let first = places.first, first.state == .done {
          try lock.unlocked { try take(first.element) }
          places.removeFirst()
          lock.wake(changed)
        } else if places.isEmpty, isOver {
          if let failure { throw failure }
          return
        } else if !performOne() {
          lock.wait(for: changed)
        }
      }
    }
  }

  /// Works on an element, or makes one; false if there is nothing to do. Locked at the beginning and at the end.
  private func performOne() -> Bool {
    if let index = places.firstIndex(where: { $0.state == .made }) {
      places[index].state = .atWork
      let (number, element) = (places[index].number, places[index].element)
      lock.unlocked { work(element) }
      if let index = places.firstIndex(where: { $0.number == number }) { places[index].state = .done }
    } else if !isMaking, !isOver, places.count < depth, places.reduce(0, { $0 + $1.weight }) < mostWeight {
      isMaking = true
      makeOne()
      isMaking = false
    } else {
      return false
    }
    lock.wake(changed)
    return true
  }

  private func makeOne() {
    do {
      guard let (element, weight) = try lock.unlocked({ try make() }) else { return isOver = true }
      places.append(Place(number: made, element: element, weight: weight))
      made += 1
    } catch {
      (isOver, failure) = (true, error)
    }
  }
}
