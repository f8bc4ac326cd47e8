import Streams

/// A second thread for reading runs.
final class RunSearcher {
  private struct Task: @unchecked Sendable {
    // Sendable: two threads look for different keys, in a map that nobody changes meanwhile.
    let map: SpillingMap
    let keys: ForeseenKeys
    let open: Range<Int>
  }

  /// Fewer keys are looked for sooner than a thread wakes up.
  private static let fewest = 32
  private let memory = RunMemory()
  private let tasks = BoundedQueue<Task>(capacity: 1)
  private let done = BoundedQueue<Bool>(capacity: 1)
  private let worker: Worker

  init() throws {
    let (tasks, done) = (tasks, done)
    worker = try Worker {
      let memory = RunMemory()
      do {
        while let task = try tasks.pop() {
          try task.map.foresee(task.keys, open: task.open, memory)
          try done.push(true)
        }
      } catch {
        done.abort(error)
      }
    }
  }

  deinit {
    tasks.finish()
    _ = worker.join()
  }

  func search(_ map: SpillingMap, _ keys: ForeseenKeys) throws {
    let count = keys.openCount
    guard count >= Self.fewest else { return try map.foresee(keys, open: 0..<count, memory) }
    try tasks.push(Task(map: map, keys: keys, open: count / 2..<count))
    try map.foresee(keys, open: 0..<count / 2, memory)
    _ = try done.pop()
  }
}
