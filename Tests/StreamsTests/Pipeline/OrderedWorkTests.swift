import Glibc
import Synchronization
import Testing

@testable import Streams

@Suite("Work in order by several threads")
struct OrderedWorkTests {
  private final class Piece: Sendable {
    let number: Int
    let result = Mutex(0)
    init(_ number: Int) { self.number = number }
  }

  private final class Counter: Sendable {
    private let number = Mutex((now: 0, most: 0))
    var most: Int { number.withLock { $0.most } }

    @discardableResult
    func add(_ more: Int) -> Int {
      number.withLock {
        $0.now += more
        $0.most = max($0.most, $0.now)
        return $0.now
      }
    }
  }

  private struct Stopped: Error {}

  /// The squares of the numbers that were taken.
  private func squares(
    upTo count: Int, helpers: Int, failingAt failure: Int = .max, take: (Int) throws -> Void = { _ in }
  ) throws -> [Int] {
    let (made, underWay) = (Counter(), Counter())
    var taken: [Int] = []
    defer { #expect(underWay.most <= 4) }
    try OrderedWork<Piece>.run(
      helpers: helpers, depth: 4, mostWeight: 40,
      make: {
        let number = made.add(1)
        if number == failure { throw Stopped() }
        guard number <= count else { return nil }
        underWay.add(1)
        return (Piece(number), weight: 10)
      },
      work: { piece in
        // The first of four takes longest.
        if piece.number % 4 == 1 { usleep(200) }
        piece.result.withLock { $0 = piece.number * piece.number }
      },
      take: { piece in
        underWay.add(-1)
        try take(piece.number)
        taken.append(piece.result.withLock { $0 })
      })
    return taken
  }

  @Test("Elements are taken in order, each when it was worked on, and few are under way", arguments: [0, 1, 3])
  func order(helpers: Int) throws {
    #expect(try squares(upTo: 200, helpers: helpers) == (1...200).map { $0 * $0 })
    #expect(try squares(upTo: 0, helpers: helpers) == [])
  }

  @Test("An error in making comes behind the elements before it, one in taking ends the work", arguments: [0, 2])
  func errors(helpers: Int) throws {
    var last = 0
    #expect(throws: Stopped.self) { try squares(upTo: 200, helpers: helpers, failingAt: 100) { last = $0 } }
    #expect(last == 99)
    #expect(throws: Stopped.self) {
      try squares(upTo: 200, helpers: helpers) {
        last = $0
        if $0 == 50 { throw Stopped() }
      }
    }
    #expect(last == 50)
  }

  @Test("Where no thread can be started, the caller does all of it")
  func alone() throws {
    let found = try Worker.$isRefused.withValue({ true }) { try squares(upTo: 50, helpers: 3) }
    #expect(found.count == 50)
  }
}
