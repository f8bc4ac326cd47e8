import Glibc

/// A thread of one's own for work that blocks: reading, writing, syncing. Such work stays off the cooperative pool.
public final class Worker: @unchecked Sendable {
  /// What a thread does.
  public typealias Body = @Sendable () throws -> Void

  /// Says of the next thread that the system refuses it: for tests.
  @TaskLocal static var isRefused: @Sendable () -> Bool = { false }

  // Sendable: `failure` is written by the thread before it ends and read after it was joined.
  private var thread = pthread_t()
  private let body: Body
  private var failure: (any Error)?
  private var isJoined = false

  /// Starts a thread that runs `body`.
  ///
  /// - Throws: ``StreamsError``.
  public init(_ body: @escaping Body) throws {
    self.body = body
    guard !Self.isRefused() else {
      isJoined = true
      throw Self.failure(EAGAIN)
    }
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
      throw Self.failure(code)
    }
  }

  private static func failure(_ code: Int32) -> StreamsError {
    StreamsError(
      .inputOutput, "a thread cannot be started: \(String(cString: strerror(code)))",
      hint:
        "Memory or the number of threads is limited; raise it (ulimit -v, ulimit -u, or the container's limits) and start again"
    )
  }

  /// Starts threads that share one work, so that fewer can do it.
  ///
  /// - Throws: ``StreamsError`` only where not even the first can be started.
  public static func startAny(_ bodies: [Body]) throws -> [Worker] {
    var workers: [Worker] = []
    for body in bodies {
      do { workers.append(try Worker(body)) } catch {
        guard !workers.isEmpty else { throw error }
        break
      }
    }
    return workers
  }

  /// Starts threads all of which are needed. Where one cannot be started, those that could have ended when the error is
  /// thrown.
  ///
  /// - Throws: ``StreamsError``.
  public static func startAll(_ bodies: [Body]) throws -> [Worker] {
    var workers: [Worker] = []
    do {
      for body in bodies { workers.append(try Worker(body)) }
    } catch {
      for worker in workers { _ = worker.join() }
      throw error
    }
    return workers
  }

  /// Makes the calling thread work only when no other wants to: on Linux, niceness belongs to a thread.
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
