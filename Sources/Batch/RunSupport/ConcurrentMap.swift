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
  package func concurrentMap<Result: Sendable, Failure: Error>(
    _ body: @Sendable (Element) throws(Failure) -> Result
  ) throws(Failure) -> [Result] {
    let results = Mutex<[Swift.Result<Result, Failure>?]>(
      Array<Swift.Result<Result, Failure>?>(repeating: nil, count: count))
    withoutActuallyEscaping(body) { body in
      DispatchQueue.concurrentPerform(iterations: count) { place in
        let result = Swift.Result<Result, Failure> { () throws(Failure) in try body(self[place]) }
        results.withLock { $0[place] = result }
      }
    }
    var found: [Result] = []
    for result in results.withLock({ $0 }) { if let result { found.append(try result.get()) } }
    return found
  }
}
