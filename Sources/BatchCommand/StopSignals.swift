import Batch
@preconcurrency import Dispatch
import Glibc
import Synchronization

/// Signals to a run. SIGINT, SIGTERM and SIGHUP ask it to publish a checkpoint and leave; a second SIGINT ends the
/// process at once, with a word. A SIGHUP that was ignored when the process began stays ignored. SIGUSR1 prints how far it is,
/// SIGUSR2 pauses or resumes it.
final class StopSignals: Sendable {
  private let handlers: [SignalHandler]

  init(_ monitor: RunMonitor, of store: String) {
    let interrupts = InterruptCount()
    let actions: [(Int32, @Sendable () -> Void)] = [
      (
        SIGINT,
        {
          switch interrupts.next() {
          case 1: monitor.requestStop()
          case 2: Self.endAtOnce(store)
          default: _exit(130)
          }
        }
      ),
      (SIGTERM, { monitor.requestStop() }), (SIGHUP, { monitor.requestStop() }),
      (SIGUSR1, { Console.error(ProgressText(monitor.progressNow).line) }),
      (SIGUSR2, { monitor.pause(!monitor.isPaused) }),
    ]
    handlers = actions.compactMap { ProcessSignals.handler($0, $1) }
  }

  /// Ends the process, also where the terminal takes no word.
  private static func endAtOnce(_ store: String) {
    DispatchQueue.global().async {
      if Console.canRedraw { Console.write("\r\u{1B}[K") }
      Console.error("\(store): ended at once; \(ProgramName.command("status", store)) tells what is left")
      _exit(130)
    }
    usleep(500_000)
    _exit(130)
  }

  deinit { for handler in handlers { handler.cancel() } }
}

private final class InterruptCount: Sendable {
  private let count = Atomic<Int>(0)
  func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}
