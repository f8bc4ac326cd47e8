import CoreDataStore
import Migrations
import Streams
import Synchronization

/// When a step of a rehearsal began its indexes, and when it had ended; and what all threads took of the processors
/// until then.
final class RehearsalClock: Sendable {
  private let begin = ContinuousClock.now
  private let usedBefore = ProcessorSpeed.used
  private let times = Mutex((units: 0.0, indexes: 0.0, end: 0.0, used: 0.0))

  /// A checkpoint would be published now.
  func note(_ phase: StepState.Phase) {
    let now = (ContinuousClock.now - begin) / .seconds(1)
    times.withLock { times in
      if phase == .units, times.units == 0 { times.units = now }
      if phase == .indexes, times.indexes == 0 { times.indexes = now }
      if phase == .finished { (times.end, times.used) = (now, ProcessorSpeed.used - usedBefore) }
    }
  }

  /// How many processors were at work on average.
  var hands: Double { times.withLock { $0.end > 0 ? max(0, $0.used / $0.end) : 1 } }

  /// Seconds for which a processor had nothing to do: of one of them, as one thread verifies.
  var idle: Double { times.withLock { min($0.end, max(0, Double(ProcessorSpeed.count) * $0.end - $0.used)) } }

  /// Seconds to the first unit, from there to the indexes, and those of the indexes.
  var seconds: (preparing: Double, tables: Double, indexes: Double) {
    times.withLock { ($0.units, $0.indexes - $0.units, $0.end - $0.indexes) }
  }
}

/// What a step did with a sample.
struct RehearsedStep {
  var state: StepState
  /// Its store.
  var path: String
  var clock: RehearsalClock
  /// Seconds in which rows are counted that no unit reads.
  var counting = 0.0

  /// The same of the whole store.
  func step(_ forecast: StepForecast, bytes: ForeseenBytes, plan: StepPlan) -> MigrationForecast.Step {
    let (preparing, tables, indexes) = clock.seconds
    // Without late changes this is what the last pages waited for, which are no more in a large store.
    let changes = max(0, tables - forecast.sampleSeconds) * (state.isPatched ? bytes.tableFactor : 1)
    let indexing = indexes * bytes.indexFactor
    let seconds = preparing + forecast.seconds + changes + indexing + counting
    let objects = plan.layout.entityTables.map { ($0.rootEntity, forecast.rows[$0.name] ?? Foreseen(0)) }
    return MigrationForecast.Step(
      parts: MigrationForecast.Part.merged(forecast.parts), objects: Dictionary(objects) { $1 },
      bytes: Foreseen.whole(bytes.total),
      indexBytes: Foreseen.whole(bytes.indexes), sampledIndexBytes: Foreseen.whole(bytes.sampledIndexes),
      changeSeconds: changes, indexSeconds: indexing, seconds: seconds,
      processorSeconds: (seconds - counting) * clock.hands + counting,
      isWrittenTwice: state.isPatched)
  }
}

extension MigrationForecast.Part {
  /// Parts of one name are one, where the first of them stood.
  static func merged(_ parts: [MigrationForecast.Part]) -> [MigrationForecast.Part] {
    var merged: [MigrationForecast.Part] = []
    for part in parts {
      guard let index = merged.firstIndex(where: { $0.name == part.name }) else {
        merged.append(part)
        continue
      }
      merged[index].rowsRead += part.rowsRead
      merged[index].rowsWritten += part.rowsWritten
      merged[index].seconds += part.seconds
    }
    return merged
  }
}

/// How large the whole store will be, by the pages of one that was made of a sample.
struct ForeseenBytes {
  /// All bytes of the file.
  private(set) var total: Double
  /// How many times the bytes of the sample's tables, and of its indexes with its R-trees.
  let tableFactor: Double
  let indexFactor: Double
  /// How many times the bytes of the sample's file.
  let growth: Double
  /// Bytes of all indexes, and of the sample's.
  let indexes: Double
  let sampledIndexes: Double
  /// Rows of the tables that have more than in the sample, by their roots in the sample's store.
  private(set) var tableRows: [UInt32: Double] = [:]

  init(_ sample: StoreReader, forecast: StepForecast, layout: StoreLayout) throws {
    var (tables, allTables, indexes, allIndexes) = (0.0, 0.0, 0.0, 0.0)
    var (trees, allTrees) = (0.0, 0.0)
    let owners = Dictionary(layout.rtrees.flatMap { tree in tree.tableNames.map { ($0, tree.table) } }) { first, _ in
      first
    }
    func factor(_ name: String) -> Double {
      guard let rows = forecast.rows[name], let found = forecast.sampleRows[name], found > 0 else { return 1 }
      return max(1, Double(rows.likely) / Double(found))
    }
    for table in sample.schema.tables {
      let bytes = try TreeEstimate(root: table.rootPage, in: sample.snapshot, pages: 256).bytes
      if let owner = owners[table.name] {
        trees += bytes
        allTrees += bytes * factor(owner)
        continue
      }
      tables += bytes
      allTables += bytes * factor(table.name)
      if factor(table.name) > 1, let rows = forecast.rows[table.name] {
        tableRows[table.rootPage] = Double(rows.likely)
      }
    }
    for index in sample.schema.indexes {
      guard let root = sample.schema.rows.first(where: { $0.type == "index" && $0.name == index.name })?.rootPage else {
        continue
      }
      let bytes = try TreeEstimate(root: root, in: sample.snapshot, pages: 256).bytes
      indexes += bytes
      allIndexes += bytes * factor(index.table)
    }
    let file = Double(sample.snapshot.pageCount) * Double(sample.snapshot.geometry.pageSize)
    total = max(0, file - tables - indexes - trees) + allTables + allIndexes + allTrees
    (self.indexes, sampledIndexes, growth) = (allIndexes, indexes, total / max(1, file))
    (tableFactor, indexFactor) = (allTables / max(1, tables), (allIndexes + allTrees) / max(1, indexes + trees))
  }
}
