/// Elements that wait for a crew, a few at most. Properties, `append` and `take` are used with the crew's board locked.
final class CrewQueue<Element: Sendable>: @unchecked Sendable {
  // Sendable: guarded by the board.
  private let board: CrewBoard
  private let capacity: Int
  private var elements: [Element] = []
  private var isFinished = false
  private let hasPlaces = ThreadCondition()
  private var isAwaited = false

  init(_ crew: Crew, capacity: Int) { (board, self.capacity) = (crew.board, max(1, capacity)) }

  var isEmpty: Bool { elements.isEmpty }
  var hasRoom: Bool { elements.count < capacity }

  func append(_ element: Element) {
    elements.append(element)
    board.wake()
  }

  func take() -> Element {
    // Whoever feeds sleeps until half is free, and not after every element again.
    if isAwaited, elements.count <= capacity / 2 + 1 {
      isAwaited = false
      hasPlaces.signal()
    }
    board.wake()
    return elements.removeFirst()
  }

  /// Takes an element, and works for the crew until there is one and `isReady` says, with the board locked, that it
  /// can be taken; nil when no more will come. Throws what ended the work.
  func pop(when isReady: () -> Bool) throws -> Element? {
    try board.work(until: { isEmpty ? isFinished : isReady() }) { isEmpty ? nil : take() }
  }

  /// Hands an element over from a thread outside the crew, which sleeps until there is a place. Throws what ended the
  /// work.
  func feed(_ element: Element) throws {
    try board.lock.locked {
      while !hasRoom, !isFinished, board.failure == nil {
        isAwaited = true
        board.lock.wait(for: hasPlaces)
      }
      if let failure = board.failure { throw failure }
      if !isFinished { append(element) }
    }
  }

  /// No more elements will come, and who feeds need not wait.
  func finish() {
    board.lock.locked {
      isFinished = true
      hasPlaces.signal()
      board.wake()
    }
  }
}
