import Foundation
import RunSupport
import Streams
import Synchronization

/// What a process does twice a second beside its run: it heeds orders, looks at clock and load, and says how far the
/// run is.
///
/// It goes past the run's own `FileSystem`: nothing here is ever read to resume a run, and nothing has to be durable.
package final class RunPulse: Sendable {
  private let job: JobDirectory
  private let monitor: RunMonitor
  private let recorder: RunRecorder?
  private let metrics: RunMetrics?
  private let heartbeat = Heartbeat()
  private let heeded = Mutex<RunOrders?>(nil)
  private let count = Atomic<Int>(0)
  private let isEnded = Mutex(false)
  /// What is done when the run is a second old.
  private let whenOld: @Sendable () -> Void
  /// The limit that the run was begun with.
  private let rate: RunRate?

  /// Begins.
  package init(
    _ job: JobDirectory, monitor: RunMonitor, recorder: RunRecorder? = nil, metrics: RunMetrics? = nil,
    whenOld: @escaping @Sendable () -> Void = {}
  ) {
    (self.job, self.monitor, self.recorder, self.metrics, rate) = (job, monitor, recorder, metrics, monitor.rate)
    self.whenOld = whenOld
    try? LocalFileSystem().remove(job.progress)
    if let shown = recorder?.shownBefore { monitor.note { $0.estimate.shownBefore = shown } }
    heartbeat.start(every: 0.5, after: 0.1) { [weak self] in self?.beat() }
  }

  /// Ends: nothing is written any longer on return, and by another call.
  package func end() {
    let wasEnded = isEnded.withLock { isEnded in
      defer { isEnded = true }
      return isEnded
    }
    // By then the directory may be another run's.
    guard !wasEnded else { return }
    heartbeat.stop()
    metrics?.tell(monitor.progressNow)
    for path in [job.progress, job.progress + ".new"] { try? LocalFileSystem().remove(path) }
  }

  private func beat() {
    if let orders = RunOrders.read(job) { heed(orders) }
    monitor.tick()
    // Once a second, and at once when the run was paused.
    let number = count.add(1, ordering: .relaxed).newValue
    if number % 2 == 1 || monitor.isPaused { tell() }
    if number == 3 { whenOld() }
  }

  private func heed(_ orders: RunOrders) {
    let last = heeded.withLock { heeded in
      defer { heeded = orders }
      return heeded ?? RunOrders()
    }
    if orders.stop {
      monitor.requestStop(
        because: BatchError(
          .stopped, "the \(monitor.work) stopped as \(ProgramName.current) ctl asked"))
    }
    if orders.paused != last.paused { monitor.pause(orders.paused) }
    if orders.throttle != last.throttle { monitor.throttle(orders.throttle.map { RunRate($0) } ?? rate) }
  }

  private func tell() {
    recorder?.sample(monitor.progressNow)
    metrics?.tell(monitor.progressNow)
    let files = LocalFileSystem()
    guard let file = try? files.open(job.progress + ".new", .create) else { return }
    defer { file.close() }
    let bytes = Array(ProgressRecord(monitor.progressNow).line.utf8)
    guard (try? bytes.withUnsafeBytes({ try file.write($0, at: 0) })) != nil else { return }
    try? files.rename(job.progress + ".new", to: job.progress)
  }
}
