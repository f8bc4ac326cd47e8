import Batch
import Glibc
import Synchronization

/// Signals to a run. SIGINT, SIGTERM and SIGHUP ask it to publish a checkpoint and leave; a second SIGINT ends the
/// process at once. A SIGHUP that was ignored when the process began stays ignored. SIGUSR1 prints how far it is,
/// SIGUSR2 pauses or resumes it.
final class StopSignals: Sendable {
  private let handlers: [SignalHandler]

  init(_ monitor: RunMonitor) {
    let interrupts = InterruptCount()
    let actions: [(Int32, @Sendable () -> Void)] = [
      (
        SIGINT,
        {
          if interrupts.next() > 1 { _exit(130) }
          monitor.requestStop()
        }
      ),
      (SIGTERM, { monitor.requestStop() }), (SIGHUP, { monitor.requestStop() }),
      (SIGUSR1, { Console.error(ProgressText(monitor.progressNow).line) }),
      (SIGUSR2, { monitor.pause(!monitor.isPaused) }),
    ]
    handlers = actions.compactMap { ProcessSignals.handler($0, $1) }
  }

  deinit { for handler in handlers { handler.cancel() } }
}

private final class InterruptCount: Sendable {
  private let count = Atomic<Int>(0)
  func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}
