import Batch
@preconcurrency import Dispatch
import Glibc
import Synchronization

/// SIGINT and SIGTERM ask the run to publish a checkpoint and leave; a second SIGINT ends the process at once.
final class StopSignals: Sendable {
  private let sources: [any DispatchSourceSignal]

  init(_ monitor: RunMonitor) {
    let interrupts = InterruptCount()
    sources = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        if number == SIGINT, interrupts.next() > 1 { _exit(130) }
        monitor.requestStop()
      }
      source.resume()
      return source
    }
  }

  deinit { for source in sources { source.cancel() } }
}

private final class InterruptCount: Sendable {
  private let count = Atomic<Int>(0)
  func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}
