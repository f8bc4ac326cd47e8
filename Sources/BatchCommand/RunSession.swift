import ArgumentParser
import Batch
import Foundation
import Synchronization

/// A run as a command has it: watched, controlled, and summed up in the end.
final class RunSession {
  private let options: OperatingOptions
  private let monitor = MonitorBox()

  init(_ options: OperatingOptions) { self.options = options }

  /// Runs a migration and says what it did. `body` asks for its monitor once it knows when checkpoints are due.
  func run(_ body: ((RunMonitor.Interval) -> RunMonitor) throws -> MigrationJob.Report) throws {
    // Before any thread is made.
    if let workers = options.workers { Processors.limit(to: workers) }
    let display = ProgressDisplay(options.progressMode) { [monitor] in monitor.value?.progressNow }
    defer { display.end() }
    let (started, date) = (ContinuousClock.now, Date())
    var signals: StopSignals?
    let report = try body { interval in
      let made = RunMonitor(interval: interval)
      options.apply(to: made, started: date)
      monitor.value = made
      signals = StopSignals(made)
      return made
    }
    withExtendedLifetime(signals) {}
    display.end()
    let seconds = (ContinuousClock.now - started) / .seconds(1)
    let summary = RunSummary(report, seconds: seconds, checkpoints: monitor.value?.progress.checkpoints ?? 0)
    if options.json { Console.print(try summary.json()) } else if !options.quiet { Console.print(summary.text) }
    if report.rejects != nil { throw ExitCode(ExitCodes.rejects) }
  }
}

/// The monitor, once there is one.
private final class MonitorBox: Sendable {
  private let monitor = Mutex<RunMonitor?>(nil)

  var value: RunMonitor? {
    get { monitor.withLock { $0 } }
    set { monitor.withLock { $0 = newValue } }
  }
}
