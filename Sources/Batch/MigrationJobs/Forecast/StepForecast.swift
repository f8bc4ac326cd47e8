import CoreDataStore
import MappingModels
import Migrations
import Streams

/// What a step of the whole store is estimated to do, by what it did with a sample.
struct StepForecast {
  /// Rows of the output's tables, by name.
  private(set) var rows: [String: Foreseen] = [:]
  private(set) var sampleRows: [String: UInt64] = [:]
  /// Rows of them that units made which read rows.
  private var made: [String: UInt64] = [:]
  private(set) var parts: [MigrationForecast.Part] = []
  /// Seconds of all units, in the sample and estimated.
  private(set) var sampleSeconds = 0.0
  private(set) var seconds = 0.0
  /// The part of a unit behind which its rows are timed. Those that look into runs are the last ones of a sample.
  private let steady: Double

  /// `tableRows` says how many rows the tables have that were not read as a whole, by their roots.
  init(_ plan: StepPlan, rehearsal: StepRehearsal, state: StepState, tableRows: [UInt32: Double]) {
    steady = rehearsal.lookupsInRuns.isEmpty ? 0.5 : 0.75
    for name in plan.tableNames { rows[name] = Foreseen(0) }
    let measured = rehearsal.units
    for (number, unit) in plan.units.enumerated() {
      guard let marks = measured[number], let origin = plan.origin(of: unit) else { continue }
      let read = Double(marks.last?.rowsRead ?? 0)
      add(unit, marks: marks, factor: max(1, (tableRows[origin.root] ?? read) / max(1, read)), plan: plan)
    }
    sampleRows = Dictionary(zip(plan.tableNames, state.tableRows)) { $1 }
    // What policies make before the first row or after the last one is no more for more rows.
    for (name, count) in sampleRows where count > made[name, default: 0] {
      rows[name] = (rows[name] ?? Foreseen(0)) + Foreseen(count - made[name, default: 0])
    }
  }

  private mutating func add(_ unit: StepUnit, marks: [StepRehearsal.Mark], factor: Double, plan: StepPlan) {
    guard let first = marks.first, let last = marks.last, marks.count > 1 else { return }
    func mark(_ part: Double) -> StepRehearsal.Mark {
      let place = UInt64(part * Double(last.rowsRead))
      return marks.min { $0.distance(to: place) < $1.distance(to: place) } ?? last
    }
    let half = mark(0.5)
    let all = Double(last.rowsRead) * factor
    var (written, sampled) = (0.0, 0.0)
    for (table, name) in plan.tableNames.enumerated() {
      let growth = TableGrowth(table, first: first, half: half, last: last, plan: plan)
      let found = growth.foreseen(all: all)
      rows[name] = (rows[name] ?? Foreseen(0)) + found
      made[name, default: 0] += growth.sampled
      written += Double(found.likely)
      sampled += Double(growth.sampled)
    }
    // Rows behind the sample that find what others have made write less: about half of a row's time is writing.
    let more = sampled * (all / Double(max(1, last.rowsRead)) - 1)
    let share = more > 0 ? (1 + min(1, max(0, (written - sampled) / more))) / 2 : 1
    let unitSeconds = last.seconds + Self.perRow(mark(steady), last) * (all - Double(last.rowsRead)) * share
    sampleSeconds += last.seconds
    seconds += unitSeconds
    parts.append(
      MigrationForecast.Part(
        name: Self.name(unit, plan), rowsRead: Foreseen.whole(all),
        rowsWritten: Foreseen.whole(written), seconds: unitSeconds))
  }

  /// Seconds of a row. What the beginning of a unit takes is not for every row.
  private static func perRow(_ first: StepRehearsal.Mark, _ last: StepRehearsal.Mark) -> Double {
    guard last.rowsRead > first.rowsRead, first.rowsRead > 0 else {
      return last.seconds / Double(max(1, last.rowsRead))
    }
    return (last.seconds - first.seconds) / Double(last.rowsRead - first.rowsRead)
  }

  /// The mapping model whose rows a unit reads, or what the unit is about.
  private static func name(_ unit: StepUnit, _ plan: StepPlan) -> String {
    switch unit {
    case .rows(_, let mappings):
      let used = mappings.map { plan.mappings[$0].mapping }
      let models = plan.step.mappingModels.filter { model in used.contains { model.entityMappings.contains($0) } }
      return models.map(\.name).joined(separator: ", ")
    case .relationships(_, let mapping): return "relationships of \(plan.mappings[mapping].mapping.name)"
    case .links(let link): return "links of \(link.name)"
    case .carried(let index): return plan.carried.tables[index].row.name
    case .begin, .endCreation, .endRelationships, .validation, .end: return ""
    }
  }
}

/// Rows that a unit gave one table, in the two parts of a sample.
private struct TableGrowth {
  /// Of objects that are made as often as there are values: by policies.
  private var made: (Foreseen.Half, Foreseen.Half)
  /// Of rows that are as many for as many rows.
  private var kept = 0.0
  private let rowsRead: Double

  init(
    _ table: Int, first: StepRehearsal.Mark, half: StepRehearsal.Mark, last: StepRehearsal.Mark, plan: StepPlan
  ) {
    func parts(_ count: (StepRehearsal.Mark) -> Double) -> (Foreseen.Half, Foreseen.Half) {
      let (middle, end) = (Double(half.rowsRead), Double(last.rowsRead))
      return (
        Foreseen.Half(rows: middle, made: count(half) - count(first)),
        Foreseen.Half(rows: end - middle, made: count(last) - count(half))
      )
    }
    rowsRead = Double(last.rowsRead)
    let written = parts { Double($0.rows[table]) }
    made = (Foreseen.Half(rows: 0, made: 0), Foreseen.Half(rows: 0, made: 0))
    let isEntity = table < plan.layout.entityTables.count
    guard !isEntity || plan.keys.keepsKeys(table: table) else {
      made = written
      return
    }
    kept = written.0.made + written.1.made
    // Further objects wait in a spool: their keys show how many there are.
    if isEntity { made = parts { Double($0.nextKeys[table]) } }
  }

  var sampled: UInt64 { Foreseen.whole(kept + made.0.made + made.1.made) }

  func foreseen(all: Double) -> Foreseen {
    let linear = rowsRead > 0 ? kept * max(1, all / rowsRead) : kept
    return Foreseen(least: linear, likely: linear, most: linear) + Foreseen(made.0, made.1, all: all)
  }
}

extension StepRehearsal.Mark {
  /// How many rows lie between this mark and another place.
  fileprivate func distance(to place: UInt64) -> UInt64 { rowsRead > place ? rowsRead - place : place - rowsRead }
}
