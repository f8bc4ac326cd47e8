import ArgumentParser
import Batch
import Foundation
import Synchronization

/// A run as a command has it: watched, controlled, and summed up in the end.
final class RunSession {
  private let options: OperatingOptions
  private let outlets: OutletOptions
  private let store: String
  private let resumes: Bool
  private let monitor = MonitorBox()

  /// `resumes`: earlier processes worked on the run.
  init(_ store: String, options: OperatingOptions, outlets: OutletOptions, resumes: Bool = false) {
    (self.options, self.outlets, self.resumes) = (options, outlets, resumes)
    self.store = URL(fileURLWithPath: store).path
  }

  /// Runs a migration and says what it did. `body` is given a job, and asks for its monitor once it knows when
  /// checkpoints are due.
  func run(_ body: (MigrationJob, (RunMonitor.Interval) -> RunMonitor) throws -> MigrationJob.Report) throws {
    // Before any thread is made.
    if let workers = options.workers { Processors.limit(to: workers) }
    let job = MigrationJob(policies: Program.policies, logger: try outlets.logger(store: store))
    let outlet = RunOutlets(outlets, store: store) { [monitor] in monitor.value?.progressNow }
    let report: MigrationJob.Report
    do {
      report = try watch(job, body)
    } catch {
      outlet.end(ExitCodes.code(of: error), environment: ["GODWIT_STORE": store, "GODWIT_ERROR": "\(error)"])
      throw error
    }
    // What a list said of the store holds no longer. Of one that needed nothing the list at work keeps that next; if it
    // is killed before, it has not begun it.
    if report.steps > 0 || !CommandLineWords.isOfList { try? KeptResults().forget(report.destination) }
    let code = report.rejects == nil ? 0 : ExitCodes.rejects
    outlet.end(
      code,
      environment: [
        "GODWIT_STORE": store, "GODWIT_DESTINATION": report.destination, "GODWIT_BACKUP": report.backup,
        "GODWIT_REJECTS": report.rejects?.path, "GODWIT_ROWS": "\(report.rowsRead)",
      ])
    if code != 0 { throw ExitCode(code) }
  }

  private func watch(
    _ job: MigrationJob, _ body: (MigrationJob, (RunMonitor.Interval) -> RunMonitor) throws -> MigrationJob.Report
  ) throws -> MigrationJob.Report {
    let display = ProgressDisplay(options.progressMode) { [monitor] in monitor.value?.progressNow }
    defer { display.end() }
    let pages = ProgramPages.release()
    defer { pages.cancel() }
    let (started, date) = (ContinuousClock.now, Date())
    var signals: StopSignals?
    let report = try body(job) { interval in
      let made = RunMonitor(interval: interval)
      options.apply(to: made, started: date)
      made.hooks = options.hooks(store)
      // A load follows its migration: a stop that came too late for that is for the load.
      monitor.value?.handStop(to: made)
      monitor.value = made
      signals = StopSignals(made, of: store)
      return made
    }
    withExtendedLifetime(signals) {}
    display.end()
    let (seconds, waited) = ((ContinuousClock.now - started) / .seconds(1), monitor.waited)
    var summary = RunSummary(
      report, seconds: max(0, seconds - waited), waited: waited, checkpoints: monitor.value?.progress.checkpoints ?? 0,
      isResumed: resumes)
    if options.brief { summary.shorten() }
    if options.json { Console.print(try summary.json()) } else if !options.quiet { Console.print(summary.text) }
    return report
  }
}

/// The monitor, once there is one; a command may have several, one after the other.
private final class MonitorBox: Sendable {
  private let monitors = Mutex<[RunMonitor]>([])

  var value: RunMonitor? {
    get { monitors.withLock { $0.last } }
    set { monitors.withLock { $0 += newValue.map { [$0] } ?? [] } }
  }

  /// Seconds in which the command waited.
  var waited: Double { monitors.withLock { $0.reduce(0) { $0 + $1.progressNow.waited } } }
}
