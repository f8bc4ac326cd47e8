import Dispatch
import Foundation
import Synchronization

/// Works on all processors with deep stacks: a parser goes down with what it reads.
enum DeepThreads {
  private static let stackBytes = 64 << 20

  /// As `map`; throws the error of the first element that has one.
  static func map<Element: Sendable, Result: Sendable>(
    _ elements: [Element], _ body: @escaping @Sendable (Element) throws -> Result
  ) throws -> [Result] {
    let work = Work(elements: elements, body: body)
    let group = DispatchGroup()
    let count = min(ProcessInfo.processInfo.activeProcessorCount, elements.count)
    for _ in 0..<count {
      group.enter()
      let thread = Thread {
        work.run()
        group.leave()
      }
      thread.stackSize = stackBytes
      thread.start()
    }
    group.wait()
    return try work.results()
  }

  private final class Work<Element: Sendable, Output: Sendable>: Sendable {
    private struct State {
      var next = 0
      var found: [Swift.Result<Output, any Error>?]
    }

    private let elements: [Element]
    private let body: @Sendable (Element) throws -> Output
    private let state: Mutex<State>

    init(elements: [Element], body: @escaping @Sendable (Element) throws -> Output) {
      (self.elements, self.body) = (elements, body)
      state = Mutex(State(found: Array(repeating: nil, count: elements.count)))
    }

    func run() {
      while let place = next() {
        let found = Swift.Result<Output, any Error> { try body(elements[place]) }
        state.withLock { $0.found[place] = found }
      }
    }

    func results() throws -> [Output] { try state.withLock { try $0.found.compactMap { try $0?.get() } } }

    private func next() -> Int? {
      state.withLock { state in
        guard state.next < elements.count else { return nil }
        defer { state.next += 1 }
        return state.next
      }
    }
  }
}
