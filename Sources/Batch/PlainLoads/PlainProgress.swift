import CoreDataStore
import LoadTables
import RunSupport
import Streams
import Synchronization

/// Reports the progress of a load into a file.
final class PlainProgress: Sendable {
  private let monitor: RunMonitor
  private let total: Double
  private let counts = Mutex((bytes: UInt64(0), written: UInt64(0), proved: UInt64(0)))

  init(_ monitor: RunMonitor, _ schema: LoadSchema, of store: LoadStore, proves: Bool) {
    self.monitor = monitor
    let size = UInt64(store.reader.snapshot.geometry.pageSize)
    let pages = schema.tables.map { table in
      (try? TablePages.count(store.reader.snapshot, root: store.source(of: table).rootPage)) ?? 1
    }
    let total = Double(max(1, pages.reduce(UInt64(0)) { $0 + UInt64($1) } * size))
    self.total = total
    monitor.note { progress in
      progress.steps = 1
      progress.estimate = ProgressEstimate(steps: 1)
      progress.estimate.foresee(.rows(step: 1), work: total)
      progress.estimate.foresee(.indexes, work: total / 2)
      progress.estimate.foresee(.proof, work: proves ? total : 0)
    }
  }

  /// So many more bytes of the source were read, and rows written. From another thread.
  func read(_ bytes: UInt64, _ rows: UInt64) {
    let read = counts.withLock { counts in
      counts.bytes += bytes
      counts.written += rows
      return counts.bytes
    }
    monitor.update { [total] progress in
      progress.rows += rows
      progress.advance(.rows(step: 1), to: min(1, Double(read) / total))
    }
  }

  /// So many more rows were read back.
  func proved(_ rows: UInt64) {
    let part = counts.withLock { counts in
      counts.proved += rows
      return Double(counts.proved) / Double(max(1, counts.written))
    }
    monitor.update { $0.advance(.proof, to: min(1, part)) }
  }

  func end() { monitor.update { $0.estimate.finish(at: $0.seconds) } }
}
