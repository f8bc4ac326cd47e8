import Glibc

/// A thread of one's own for work that blocks: reading, writing, syncing. Such work stays off the cooperative pool.
public final class Worker: @unchecked Sendable {
  // Sendable: `failure` is written by the thread before it ends and read after it was joined.
  private var thread = pthread_t()
  private let body: @Sendable () throws -> Void
  private var failure: (any Error)?
  private var isJoined = false

  /// Starts a thread that runs `body`.
  public init(_ body: @escaping @Sendable () throws -> Void) throws {
    self.body = body
    let code = pthread_create(
      &thread, nil,
      { argument in
        let worker = Unmanaged<Worker>.fromOpaque(argument!).takeRetainedValue()
        do { try worker.body() } catch { worker.failure = error }
        return nil
      }, Unmanaged.passRetained(self).toOpaque())
    guard code == 0 else {
      Unmanaged.passUnretained(self).release()
      isJoined = true
      throw StreamsError(.inputOutput, "a thread cannot be started (error \(code))")
    }
  }

  /// Has the calling thread work when no other wants to: on Linux, niceness belongs to a thread.
  public static func yieldToOthers() { setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 19) }

  // A thread that nobody waits for gives its resources back by itself.
  deinit { if !isJoined { pthread_detach(thread) } }

  /// Waits until the thread has ended and returns the error that it ended with.
  public func join() -> (any Error)? {
    if !isJoined { pthread_join(thread, nil) }
    isJoined = true
    return failure
  }
}
