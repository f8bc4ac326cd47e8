import Synchronization

/// Paths that go when a process ends. Its end waits for whoever makes a folder, and no folder is made after it: so none is
/// left that nobody knew when the paths were removed.
final class UnfinishedPaths: Sendable {
  private struct State {
    var paths: Set<String> = []
    var isEnding = false
  }

  private let state = Mutex(State())

  var all: Set<String> { state.withLock { $0.paths } }
  var isEnding: Bool { state.withLock { $0.isEnding } }

  func add(_ path: String) { _ = state.withLock { $0.paths.insert(path) } }
  func forget(_ path: String) { _ = state.withLock { $0.paths.remove(path) } }

  /// Adds a path whose folder `make` makes. Throws `stopped` if the end has begun.
  func addFolder(_ path: String, _ make: () throws -> Void) throws {
    try state.withLock { state in
      guard !state.isEnding else {
        throw BatchError(.stopped, "the process is being ended", effect: .nothingWritten)
      }
      try make()
      state.paths.insert(path)
    }
  }

  func end() { state.withLock { $0.isEnding = true } }
}
