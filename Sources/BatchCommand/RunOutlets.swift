import Batch
@preconcurrency import Dispatch
import Foundation

/// Reports a run to others: metrics, systemd, and a command at its end.
final class RunOutlets: Sendable {
  private let options: OutletOptions
  private let store: String
  private let metrics: MetricsFile?
  private let socket: SystemdSocket?
  private let timer: any DispatchSourceTimer
  private let queue = DispatchQueue(label: "outlets")
  private let progress: @Sendable () -> MigrationProgress?

  init(_ options: OutletOptions, store: String, progress: @escaping @Sendable () -> MigrationProgress?) {
    (self.options, self.store, self.progress) = (options, store, progress)
    metrics = options.metrics.map { MetricsFile(path: $0, store: store) }
    socket = options.notify ? SystemdSocket() : nil
    socket?.send(["READY=1", "STATUS=\(store): starting"])
    timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(deadline: .now() + 1, repeating: 1)
    timer.setEventHandler { [weak self] in self?.tell() }
    timer.resume()
  }

  deinit { timer.cancel() }

  // Once a second, which is more often than half of any watchdog's time.
  private func tell() {
    guard let now = progress() else { return }
    socket?.send(["WATCHDOG=1", "STATUS=\(ProgressText(now).line)"])
    try? metrics?.write(now)
  }

  /// The run has ended; its command is waited for.
  func end(_ code: Int32, report: MigrationJob.Report?, error: (any Error)?) {
    timer.cancel()
    queue.sync {}
    socket?.send(["STOPPING=1", "STATUS=ended with \(code)"])
    do {
      try metrics?.write(progress() ?? MigrationProgress(), code: code)
    } catch { Console.error("the metrics cannot be written: \(error)") }
    guard let command = options.command(code).flatMap({ ShellLine($0).whole }), let name = command.first else { return }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    // Words go as they are, behind what ends env's own: what a store is called can be no option and no variable.
    process.arguments = ["--", name] + command.dropFirst()
    process.environment = environment(code, report: report, error: error)
    do {
      try process.run()
      process.waitUntilExit()
      guard process.terminationStatus != 0 else { return }
      Console.error(
        "the command \(name) ended with \(process.terminationStatus); the migration's own exit code stays \(code)")
    } catch { Console.error("the command \(name) cannot be started: \(error)") }
  }

  private func environment(_ code: Int32, report: MigrationJob.Report?, error: (any Error)?) -> [String: String] {
    var values = ProcessInfo.processInfo.environment
    values["GODWIT_STORE"] = store
    values["GODWIT_EXIT_CODE"] = "\(code)"
    values["GODWIT_OUTCOME"] =
      code == 0 || code == ExitCodes.rejects ? "success" : code == ExitCodes.stopped ? "stopped" : "failure"
    values["GODWIT_ERROR"] = error.map { "\($0)" }
    values["GODWIT_DESTINATION"] = report?.destination
    values["GODWIT_BACKUP"] = report?.backup
    values["GODWIT_REJECTS"] = report?.rejects?.path
    values["GODWIT_ROWS"] = report.map { "\($0.rowsRead)" }
    return values
  }
}
