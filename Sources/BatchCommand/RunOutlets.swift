import Batch
@preconcurrency import Dispatch
import Foundation

/// Reports a run to others: metrics, systemd, and a command at its end.
final class RunOutlets: Sendable {
  /// How it stands.
  struct Moment {
    /// In a line.
    var text: String
    /// Whether it works. A service that does not is not called alive.
    var isAlive = true
    var stores: [MetricsFile.Store]
    /// How many stores of a list are how far.
    var counts: [(state: String, count: Int)] = []
  }

  private let options: OutletOptions
  private let metrics: MetricsFile?
  private let socket: SystemdSocket?
  private let timer: any DispatchSourceTimer
  private let queue = DispatchQueue(label: "outlets")
  private let moment: @Sendable (Int32?) -> Moment?

  /// `moment` is asked once a second, and at the end with the exit code; it knows nothing as long as it returns nil.
  init(_ options: OutletOptions, name: String, moment: @escaping @Sendable (_ code: Int32?) -> Moment?) {
    (self.options, self.moment) = (options, moment)
    metrics = options.metrics.map { MetricsFile(path: $0) }
    socket = options.notify ? SystemdSocket() : nil
    socket?.send(["READY=1", "STATUS=\(name): starting"])
    timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(deadline: .now() + 1, repeating: 1)
    timer.setEventHandler { [weak self] in self?.tell() }
    timer.resume()
  }

  /// Of a run of one store.
  convenience init(
    _ options: OutletOptions, store: String, progress: @escaping @Sendable () -> MigrationProgress?
  ) {
    let name = URL(fileURLWithPath: store).path
    self.init(options, name: name) { code in
      guard let now = progress() ?? code.map({ _ in MigrationProgress() }) else { return nil }
      let record = ProgressRecord(now)
      return Moment(
        text: ProgressText(record).line,
        stores: [MetricsFile.Store(name: name, progress: record, code: code, end: code.map { _ in Date() })])
    }
  }

  deinit { timer.cancel() }

  // Once a second, which is more often than half of any watchdog's time.
  private func tell() {
    guard options.metrics != nil || socket != nil, let now = moment(nil) else { return }
    socket?.send((now.isAlive ? ["WATCHDOG=1"] : []) + ["STATUS=\(now.text)"])
    try? metrics?.write(now)
  }

  /// The run has ended; its command is waited for, with `environment` beside what it has.
  func end(_ code: Int32, environment: [String: String?]) {
    timer.cancel()
    queue.sync {}
    socket?.send(["STOPPING=1", "STATUS=ended with \(code)"])
    do {
      if let metrics, let last = moment(code) { try metrics.write(last) }
    } catch { Console.error("the metrics cannot be written: \(error)") }
    guard let command = options.command(code) else { return }
    let outcome = code == 0 || code == ExitCodes.rejects ? "success" : code == ExitCodes.stopped ? "stopped" : "failure"
    let common: [String: String?] = ["GODWIT_EXIT_CODE": "\(code)", "GODWIT_OUTCOME": outcome]
    guard let failure = Hook.run(command, common.merging(environment) { $1 }) else { return }
    Console.error("\(failure); the migration's own exit code stays \(code)")
  }
}

/// A command that somebody gave to be run, without a shell.
enum Hook {
  /// Runs it to its end, with some variables beside those of this process. Returns what went wrong.
  static func run(_ command: String, _ variables: [String: String?]) -> String? {
    guard let words = ShellLine(command).whole, let name = words.first else { return nil }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    // Words go as they are, behind what ends env's own: what a store is called can be no option and no variable.
    process.arguments = ["--", name] + words.dropFirst()
    process.environment = ProcessInfo.processInfo.environment.merging(variables.compactMapValues { $0 }) { $1 }
    do {
      try process.run()
      process.waitUntilExit()
      guard process.terminationStatus != 0 else { return nil }
      return "the command \(name) ended with \(process.terminationStatus)"
    } catch { return "the command \(name) cannot be started: \(error)" }
  }
}
