import CoreDataStore
import LoadTables
import RunSupport
import Streams
import Synchronization

/// Reports the progress of a load to a monitor.
final class LoadProgress: Sendable {
  private struct State {
    var bytesRead: UInt64 = 0
    var rowsToProve: UInt64 = 0
    var rowsProved: UInt64 = 0
  }

  private let monitor: RunMonitor
  private let schema: LoadSchema
  private let bytes: [UInt64]
  private let absence: Absence
  private let state = Mutex(State())

  init(_ monitor: RunMonitor, store: LoadStore, schema: LoadSchema, _ absence: Absence) {
    (self.monitor, self.schema, self.absence) = (monitor, schema, absence)
    let size = UInt64(store.reader.snapshot.geometry.pageSize)
    bytes = schema.tables.map { table in
      let pages = try? TablePages.count(store.reader.snapshot, root: store.source(of: table).rootPage)
      return (pages ?? 1) * size
    }
  }

  private var total: Double { Double(max(1, bytes.reduce(0, +))) }

  /// What there is to do: keys and indexes take about a third of the rows' time, reading back as long.
  func foresee(_ units: [LoadBook.Unit], proves: Bool) {
    monitor.note { [total] progress in
      progress.steps = 1
      progress.estimate = ProgressEstimate(steps: 1)
      progress.estimate.foresee(.rows(step: 1), work: total)
      progress.estimate.foresee(.indexes, work: total / 3)
      progress.estimate.foresee(.proof, work: proves ? total / 3 : 0)
    }
    // Of parts nobody knows how large they are: those of a table count alike.
    let done = units.filter(\.isDone).reduce(0) { sum, unit in
      sum + bytes[unit.table] / UInt64(units.count { $0.table == unit.table })
    }
    state.withLock { $0.bytesRead = done }
  }

  func begin(_ table: Int) { monitor.note { [schema] in $0.begin("loading \(schema.tables[table].name)") } }

  /// So many more bytes of the source were read, and rows sent. From several threads.
  func told(_ bytes: UInt64, _ rows: UInt64) {
    absence.end()
    let read = state.withLock { state in
      state.bytesRead += bytes
      return state.bytesRead
    }
    monitor.update { [total] progress in
      progress.rows += rows
      progress.advance(.rows(step: 1), to: Double(read) / total)
    }
  }

  func begin(_ constraint: PostgresConstraint, _ number: Int, of count: Int) {
    monitor.update { progress in
      progress.begin("creating keys and indexes: \(constraint.name)")
      progress.advance(.indexes, to: Double(number) / Double(max(1, count)))
    }
  }

  func beginProof(_ table: Int) { monitor.note { [schema] in $0.begin("reading \(schema.tables[table].name) back") } }

  func foreseeProof(_ rows: UInt64) { state.withLock { ($0.rowsToProve, $0.rowsProved) = (rows, 0) } }

  /// So many more rows were read back. From several threads.
  func proved(_ rows: UInt64) {
    absence.end()
    let done = state.withLock { state in
      state.rowsProved += rows
      return Double(state.rowsProved) / Double(max(1, state.rowsToProve))
    }
    monitor.update { $0.advance(.proof, to: done) }
  }

  func end() {
    monitor.update { $0.estimate.finish(at: $0.seconds) }
  }
}

/// Since when a server has been away: since the first failure after its last work.
final class Absence: Sendable {
  private let beginning = Mutex<ContinuousClock.Instant?>(nil)

  /// It works.
  func end() { beginning.withLock { $0 = nil } }

  /// How long it has been away; with the first question it begins to be.
  var seconds: Double {
    let now = ContinuousClock.now
    let since = beginning.withLock { beginning in
      beginning = beginning ?? now
      return beginning ?? now
    }
    return (now - since) / .seconds(1)
  }
}
