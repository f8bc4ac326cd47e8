import Glibc
import Synchronization

/// Programs that this process has called, and whose work nobody wants when it ends: a signal that ends it ends them, too.
package enum CalledPrograms {
  private static let running = Mutex<Set<pid_t>>([])

  /// Interrupts a process, as a terminal does, if this one is ended while the body waits for it.
  package static func interrupting<Result>(_ process: pid_t, _ body: () throws -> Result) rethrows -> Result {
    _ = running.withLock { $0.insert(process) }
    defer { _ = running.withLock { $0.remove(process) } }
    return try body()
  }

  /// Interrupts all that are running.
  package static func interruptAll() { for process in running.withLock({ $0 }) { kill(process, SIGINT) } }
}
