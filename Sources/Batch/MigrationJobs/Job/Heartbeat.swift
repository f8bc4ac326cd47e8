@preconcurrency import Dispatch
import Glibc
import Streams

/// Calls a body every second or so, to give a sign of life, as long as it is held.
package final class Heartbeat: Sendable {
  private let timer: any DispatchSourceTimer
  private let queue = DispatchQueue(label: "heartbeat", qos: .utility)

  package init() { timer = DispatchSource.makeTimerSource(queue: queue) }

  /// The first call comes after `delay` seconds: a run that is over before need not be held up by it.
  package func start(
    every seconds: Double = 1, after delay: Double = 0, _ beat: @escaping @Sendable () -> Void
  ) {
    timer.schedule(deadline: .now() + delay, repeating: seconds)
    timer.setEventHandler(handler: beat)
    timer.resume()
  }

  /// Waits for a sign that is being given: the file may be closed after it, and its number be another's.
  package func stop() {
    timer.cancel()
    queue.sync {}
  }

  deinit { timer.cancel() }
}
