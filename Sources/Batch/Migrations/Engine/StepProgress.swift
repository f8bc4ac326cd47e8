import CoreDataStore
import MappingModels
import RunSupport
import Streams

/// What a step builds when its tables are complete; nothing before the last step.
struct StepIndexes {
  let indexes: [StoreIndex]
  let rtrees: [RTreeLayout]

  init(_ job: StepJob) {
    indexes = StoreIndex.all(job.hasIndexes ? job.plan.layout : nil, carried: job.plan.carried.indexes)
    rtrees = job.hasIndexes ? job.plan.layout.rtrees : []
  }
}

/// What a step shows of its progress.
struct StepProgress {
  private let job: StepJob
  private var plan: StepPlan { job.plan }
  /// The indexes, then the R-trees: of which table, and what an entry of it costs.
  private let built: [(name: String, table: Int?, cost: Double)]

  init(_ job: StepJob, _ indexes: StepIndexes) {
    self.job = job
    let tables = Dictionary(zip(job.plan.tableNames, job.plan.tableNames.indices), uniquingKeysWith: { $1 })
    built =
      indexes.indexes.map { ($0.name, tables[$0.table], WorkCost.indexEntry) }
      + indexes.rtrees.map { ($0.name, tables[$0.table], WorkCost.treeEntry) }
  }

  /// A unit begins.
  func show(_ unit: StepUnit, in state: StepState) {
    guard case .rows(let table, let mappings) = unit else { return show(describe(unit)) }
    let used = mappings.map { plan.mappings[$0].mapping }
    let models = plan.step.mappingModels.filter { model in used.contains { model.entityMappings.contains($0) } }
    let name = plan.binding.tables[table].schema.name
    let objects = objectsRead(unit, in: state)
    job.monitor.update { progress in
      progress.activity = used.map(\.name).joined(separator: ", ")
      progress.mappingModels = models.map(\.name)
      progress.entities = Set(used.compactMap(\.sourceEntity)).sorted()
      (progress.objects, progress.objectsInAll) = (objects, plan.passed == nil ? job.sourceRows[name] : nil)
    }
  }

  /// Something begins that is not about the objects of an entity.
  func show(_ activity: String) {
    job.monitor.update { $0.begin(activity) }
  }

  /// Says what the step has to do, and where a resumed one begins.
  func note(_ work: StepWork, in state: StepState) {
    let step = job.number
    job.monitor.note { progress in
      progress.estimate.foresee(.rows(step: step), work: work.total)
      foreseeIndexes(&progress.estimate, rows: plan.tableNames.map { work.tableRows[$0] ?? 0 })
      if state.phase == .units {
        progress.advance(.rows(step: step), to: work.fraction(unit: state.unit, pages: 0))
      } else {
        advanceToIndexes(&progress, in: state)
      }
    }
  }

  /// Names are read once more before the rows go on, or that is over.
  var passes: (_ begins: Bool) -> Void {
    let (monitor, number) = (job.monitor, job.number)
    return { begins in
      monitor.note { $0.estimate.pass(begins, of: .rows(step: number), at: $0.seconds) }
    }
  }

  /// The tables are complete: how many entries the indexes get is known.
  func noteIndexWork(in state: StepState) {
    let rows = state.tableRows.map { Double($0) }
    job.monitor.note { progress in
      foreseeIndexes(&progress.estimate, rows: rows)
      advanceToIndexes(&progress, in: state)
    }
  }

  /// The tables are complete. Only the last step has indexes: after another one the rows of the next come. What a process
  /// before has written is no work of this one.
  private func advanceToIndexes(_ progress: inout MigrationProgress, in state: StepState) {
    guard job.hasIndexes else { return progress.advance(.changes(step: job.number), to: 1) }
    progress.advance(.indexes, to: state.phase == .indexes ? fraction(written: state.unit, in: state) : 1)
  }

  /// The part of the work that so many of the indexes and R-trees were: those of small tables are soon written.
  private func fraction(written: Int, in state: StepState) -> Double {
    let costs = costs(state.tableRows.map { Double($0) })
    let total = costs.reduce(0, +)
    return total > 0 ? costs.prefix(written).reduce(0, +) / total : 1
  }

  /// The work of each index, then of each R-tree. `rows` are those of each table.
  private func costs(_ rows: [Double]) -> [Double] {
    built.map { index in
      guard let table = index.table, table < rows.count else { return 0 }
      return rows[table] * index.cost
    }
  }

  private func foreseeIndexes(_ estimate: inout ProgressEstimate, rows: [Double]) {
    guard job.hasIndexes else { return }
    estimate.foresee(.indexes, work: costs(rows).reduce(0, +))
  }

  /// Late changes go through all rows that were written.
  func showChanges(bytes: UInt64) {
    job.monitor.update { progress in
      progress.begin("late changes")
      progress.estimate.foresee(.changes(step: job.number), work: Double(bytes) * WorkCost.changedByte)
      progress.advance(.changes(step: job.number), to: 0)
    }
  }

  /// So many of the indexes and R-trees are written.
  func show(written: Int, in state: StepState) {
    show(written < built.count ? "index \(built[written].name)" : "")
    guard job.hasIndexes else { return }
    let done = fraction(written: written, in: state)
    job.monitor.update { $0.advance(.indexes, to: done) }
  }

  /// Objects of a unit's entities that were read; 0 for units of another kind.
  func objectsRead(_ unit: StepUnit, in state: StepState) -> UInt64 {
    guard case .rows(_, let mappings) = unit else { return 0 }
    // Several mappings of an entity read the same objects.
    var read: [Int: UInt64] = [:]
    for index in mappings {
      let number = plan.mappings[index].source.number
      read[number] = max(read[number] ?? 0, state.counts[index].read)
    }
    return read.values.reduce(0, +)
  }

  private func describe(_ unit: StepUnit) -> String {
    switch unit {
    case .carried(let index): plan.carried.tables[index].row.name
    case .links(let link): "links of \(link.name)"
    case .relationships(_, let mapping): "relationships of \(plan.mappings[mapping].mapping.name)"
    case .rows, .begin, .endCreation, .endRelationships, .validation, .end: ""
    }
  }
}
