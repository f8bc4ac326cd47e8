/// Elements that wait for a crew, a few at most. Everything but ``pop(when:)`` is used with the crew's board locked.
final class CrewQueue<Element: Sendable>: @unchecked Sendable {
  // Sendable: guarded by the board.
  private let board: CrewBoard
  private let capacity: Int
  private var elements: [Element] = []
  /// Whether no more elements will come.
  private(set) var isFinished = false

  init(_ crew: Crew, capacity: Int) { (board, self.capacity) = (crew.board, max(1, capacity)) }

  var isEmpty: Bool { elements.isEmpty }
  var hasRoom: Bool { elements.count < capacity }

  func append(_ element: Element) {
    elements.append(element)
    board.wake()
  }

  func take() -> Element {
    board.wake()
    return elements.removeFirst()
  }

  func finish() {
    isFinished = true
    board.wake()
  }

  /// Takes an element, and works for the crew until there is one and `isReady` says, with the board locked, that it
  /// can be taken; nil when no more will come. Throws what ended the work.
  func pop(when isReady: () -> Bool) throws -> Element? {
    try board.work(until: { isEmpty ? isFinished : isReady() }) { isEmpty ? nil : take() }
  }
}
