import CoreMetrics
import RunSupport
import Synchronization

/// What a run reports to swift-metrics about once a second: whatever backend the program has set up. The labels are
/// those of `--metrics`, the dimension `store` has the destination's path.
package final class RunMetrics: Sendable {
  private let rows: Counter
  private let bytes: Counter
  private let checkpoints: Counter
  private let fraction: Gauge
  private let left: Gauge
  private let told = Mutex((rows: UInt64(0), bytes: UInt64(0), checkpoints: UInt64(0)))

  init(store: String, factory: any MetricsFactory) {
    let dimensions = [("store", store)]
    rows = Counter(label: "godwit_read_rows", dimensions: dimensions, factory: factory)
    bytes = Counter(label: "godwit_written_bytes", dimensions: dimensions, factory: factory)
    checkpoints = Counter(label: "godwit_checkpoints", dimensions: dimensions, factory: factory)
    fraction = Gauge(label: "godwit_progress_ratio", dimensions: dimensions, factory: factory)
    left = Gauge(label: "godwit_left_seconds", dimensions: dimensions, factory: factory)
  }

  /// Counters grow by what came since the last call. Thread-safe.
  func tell(_ progress: MigrationProgress) {
    told.withLock { told in
      rows.increment(by: progress.rows &- min(told.rows, progress.rows))
      bytes.increment(by: progress.bytes &- min(told.bytes, progress.bytes))
      checkpoints.increment(by: progress.checkpoints &- min(told.checkpoints, progress.checkpoints))
      told = (progress.rows, progress.bytes, progress.checkpoints)
    }
    fraction.record(progress.fraction)
    if let seconds = progress.secondsLeft { left.record(seconds) }
  }
}
