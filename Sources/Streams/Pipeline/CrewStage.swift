/// One stage of a crew's work: elements that wait, a few at most, and what is done with each of them, in order, by one
/// thread at a time.
public final class CrewStage<Element: Sendable>: CrewWork, @unchecked Sendable {
  // Sendable: what waits is guarded by the crew's board; `current` belongs to the thread that works.
  let queue: CrewQueue<Element>
  private let board: CrewBoard
  private let body: (Element) throws -> Void
  private let hasRoomBehind: () -> Bool
  private var current: Element?
  private(set) var isBusy = false

  /// Makes a stage that hands nothing on.
  public convenience init(_ crew: Crew, capacity: Int, _ body: @escaping (Element) throws -> Void) {
    self.init(crew, capacity: capacity, hasRoomBehind: { true }, body)
  }

  /// Makes a stage that hands one element at most on to `next` for each of its own.
  public convenience init<Next>(
    _ crew: Crew, capacity: Int, next: CrewStage<Next>, _ body: @escaping (Element) throws -> Void
  ) {
    self.init(crew, capacity: capacity, hasRoomBehind: { next.queue.hasRoom }, body)
  }

  private init(
    _ crew: Crew, capacity: Int, hasRoomBehind: @escaping () -> Bool,
    _ body: @escaping (Element) throws -> Void
  ) {
    (board, self.hasRoomBehind, self.body) = (crew.board, hasRoomBehind, body)
    queue = CrewQueue(crew, capacity: capacity)
    board.add(self)
  }

  var isReady: Bool { !isBusy && !queue.isEmpty && hasRoomBehind() }

  func begin() {
    current = queue.take()
    isBusy = true
  }

  func run() throws {
    guard let element = current else { return }
    current = nil
    try body(element)
  }

  func end() { isBusy = false }

  /// Hands an element over; where there is no place, the caller works until there is one.
  ///
  /// - Throws: ``StreamsError``: what ended the work.
  public func push(_ element: Element) throws {
    try board.work(until: { queue.hasRoom }) { queue.append(element) }
  }

  /// Works until all elements are done.
  ///
  /// - Throws: ``StreamsError``: what ended the work.
  public func drain() throws { try board.work(until: { queue.isEmpty && !isBusy }) {} }

  /// Takes the stage out of the crew when its element at work is done; those that wait are dropped.
  public func remove() { board.remove(self) }
}
