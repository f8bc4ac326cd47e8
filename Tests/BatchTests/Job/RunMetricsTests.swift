import MetricsTestKit
import Testing

@testable import MigrationJobs
@testable import RunSupport

/// A backend of swift-metrics is told the truth: counters have in the end what the run did.
@Suite("What a run tells swift-metrics")
struct RunMetricsTests {
  @Test("Counters grow by what came since the last time, also where it is told twice; gauges have the last value")
  func deltas() throws {
    let backend = TestMetrics()
    let metrics = RunMetrics(store: "/a/store", factory: backend)
    var progress = MigrationProgress()
    for (rows, bytes) in [(UInt64(10), UInt64(100)), (25, 300), (25, 300), (26, 301)] {
      (progress.rows, progress.bytes, progress.checkpoints) = (rows, bytes, 1)
      progress.fraction = Double(rows) / 100
      metrics.tell(progress)
    }
    let dimensions = [("store", "/a/store")]
    #expect(backend.counterTotal(label: "godwit_checkpoints", dimensions: dimensions) == 1)
    #expect(backend.counterTotal(label: "godwit_read_rows", dimensions: dimensions) == 26)
    #expect(try backend.expectGauge("godwit_progress_ratio", dimensions).lastValue == 0.26)
  }

  @Test("After a run the counters have its rows and checkpoints")
  func run() throws {
    let folder = try MigrationFolder(MigrationModels.all)
    let store = try folder.sample("V1", rows: 3000, seed: 3)
    let backend = TestMetrics()
    let request = folder.request(store, output: try folder.place("output"))
    let monitor = RunMonitor(interval: request.interval)
    let report = try MigrationJob(policies: folder.policies, metrics: backend).migrate(request, monitor: monitor)
    #expect(report.rowsRead > 0)
    #expect(backend.counterTotal(label: "godwit_read_rows") == Int64(report.rowsRead))
    #expect(backend.counterTotal(label: "godwit_checkpoints") == Int64(monitor.progress.checkpoints))
  }
}
