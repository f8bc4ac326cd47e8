/// A part of what a thread of a crew does, for another one that has nothing else to do. Its error is for the thread
/// whose part it is.
final class CrewShare: CrewWork, @unchecked Sendable {
  // Sendable: guarded by the crew's board; the body belongs to the thread that works.
  private let body: () throws -> Void
  private(set) var isReady = true
  private(set) var isBusy = false
  private(set) var failure: (any Error)?

  init(_ body: @escaping () throws -> Void) { self.body = body }

  func begin() { (isReady, isBusy) = (false, true) }

  func run() { do { try body() } catch { failure = error } }

  func end() { isBusy = false }
}
