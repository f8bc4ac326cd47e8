import Foundation
import Testing

/// Ends the process when the body of a test runs longer than a given time: what must not hang ends the run with its
/// name.
///
/// The time begins with the body. That of `TimeLimitTrait` begins earlier, while the test may still wait for a
/// processor behind hundreds of others, and its end only cancels a task, which does not stop a loop that never looks.
public struct EndsWithin: TestTrait, SuiteTrait, TestScoping {
  let minutes: Double

  /// Given to a suite, it holds for each of its tests.
  public var isRecursive: Bool { true }

  /// Runs the body beside a thread that waits for its end, as the threads of tasks may all be taken.
  public func provideScope(for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void)
    async throws
  {
    // A suite is no body; its tests get this trait each.
    guard testCase != nil else { return try await function() }
    let ended = DispatchSemaphore(value: 0)
    let (name, minutes) = ("\(test.name) in \(test.sourceLocation)", minutes)
    Thread.detachNewThread {
      guard ended.wait(timeout: .now() + minutes * 60) == .timedOut else { return }
      FileHandle.standardError.write(Data("\(name) has run for \(minutes) minutes and must not: it hangs\n".utf8))
      exit(1)
    }
    defer { ended.signal() }
    try await function()
  }
}

extension Trait where Self == EndsWithin {
  /// - Parameter minutes: How long the body of a test, or of each case of a test with arguments, may run.
  public static func endsWithin(minutes: Double) -> Self { Self(minutes: minutes) }
}
