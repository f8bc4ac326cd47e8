import Synchronization

/// Makes a step read a sample of its source, and keeps what its units did with it and how long they took.
package final class StepRehearsal: Sendable {
  /// What a unit had done at one moment.
  package struct Mark: Sendable {
    /// Rows read since the unit began.
    package var rowsRead: UInt64 = 0
    /// Keys given out, a table each, with those of join tables.
    package var nextKeys: [Int64] = []
    /// Rows in the output, a table each.
    package var rows: [UInt64] = []
    /// Seconds since the unit began.
    package var seconds = 0.0
  }

  private struct State {
    var units: [Int: [Mark]] = [:]
    var transformed: [Mark] = []
    var began = ContinuousClock.now
    var rowsBefore: UInt64 = 0
    var lookupsInRuns: [Int] = []
  }

  /// What is read of tables, by their roots; all of one that is missing.
  let samples: [UInt32: RowSample]
  private let state = Mutex(State())

  package init(samples: [UInt32: RowSample]) { self.samples = samples }

  /// What every unit had done after each of its pages: the first mark is its beginning, the last one its end.
  package var units: [Int: [Mark]] { state.withLock { $0.units } }

  /// Which look-ups did not fit into memory.
  package var lookupsInRuns: [Int] { state.withLock { $0.lookupsInRuns } }

  /// A unit has ended.
  func ended(_ lookups: LookupTable) { state.withLock { $0.lookupsInRuns = lookups.inRuns } }

  func begin(unit: Int, _ step: StepState, rows: [UInt64]) {
    state.withLock { state in
      (state.began, state.rowsBefore, state.transformed) = (.now, step.rowsRead, [])
      state.units[unit] = [Mark(nextKeys: step.nextKeys, rows: rows)]
    }
  }

  /// A page of rows was transformed; it is not written yet.
  func transformed(_ step: StepState) {
    state.withLock { state in
      state.transformed.append(Mark(rowsRead: step.rowsRead - state.rowsBefore, nextKeys: step.nextKeys))
    }
  }

  /// The oldest page that was transformed is written.
  func written(unit: Int, rows: [UInt64]) {
    state.withLock { state in
      guard !state.transformed.isEmpty else { return }
      var mark = state.transformed.removeFirst()
      (mark.rows, mark.seconds) = (rows, (ContinuousClock.now - state.began) / .seconds(1))
      state.units[unit]?.append(mark)
    }
  }
}
