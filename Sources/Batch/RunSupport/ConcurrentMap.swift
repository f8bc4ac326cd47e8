import Dispatch
import Synchronization

/// Does two things at the same time. Throws the error of the first that has one.
package func concurrently<First: Sendable, Second: Sendable>(
  _ first: @Sendable () throws -> First, and second: @Sendable () throws -> Second
) throws -> (First, Second) {
  let results = try [true, false].concurrentMap { isFirst -> (First?, Second?) in
    isFirst ? (try first(), nil) : (nil, try second())
  }
  guard let first = results[0].0, let second = results[1].1 else { preconditionFailure("each part has its result") }
  return (first, second)
}

extension Array where Element: Sendable {
  /// As `map`, on all processors: for work that takes milliseconds an element. Throws the error of the first element
  /// that has one.
  package func concurrentMap<Result: Sendable>(_ body: @Sendable (Element) throws -> Result) throws -> [Result] {
    let results = Mutex<[Swift.Result<Result, any Error>?]>(
      Array<Swift.Result<Result, any Error>?>(repeating: nil, count: count))
    withoutActuallyEscaping(body) { body in
      DispatchQueue.concurrentPerform(iterations: count) { place in
        let result = Swift.Result<Result, any Error> { try body(self[place]) }
        results.withLock { $0[place] = result }
      }
    }
    return try results.withLock { try $0.compactMap { try $0?.get() } }
  }
}
