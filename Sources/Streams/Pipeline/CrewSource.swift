/// The first stage of a flow: makes elements, one after the other, as long as there is a place for them.
///
/// A thread of its own for reading would take a processor from the others again and again, and each page of rows would
/// have to wake it.
final class CrewSource<Element: Sendable>: CrewWork, @unchecked Sendable {
  // Sendable: guarded by the board; `made` belongs to the thread that works.
  private let queue: CrewQueue<Element>
  private let make: () throws -> Element?
  private var made: Element?
  private(set) var isBusy = false

  /// Makes elements for `queue` until `make` gives nil.
  init(_ queue: CrewQueue<Element>, _ make: @escaping () throws -> Element?) { (self.queue, self.make) = (queue, make) }

  var isReady: Bool { !isBusy && !queue.isFinished && queue.hasRoom }

  func begin() { isBusy = true }

  func run() throws { made = try make() }

  func end() {
    isBusy = false
    if let made { queue.append(made) } else { queue.finish() }
    made = nil
  }
}
