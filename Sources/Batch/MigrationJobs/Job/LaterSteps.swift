import CoreDataStore
import Migrations
import RunSupport
import Streams

/// What the steps behind the first one have to do, presumed before the first row: they read stores that do not exist yet.
struct LaterSteps {
  /// Objects that rules and policies make, as a part of those that there are: as in a library whose authors become
  /// objects.
  private static let made = 0.4
  private let steps: [MigrationStep]
  /// Rows of the source, presumed by a page of each table; and its bytes.
  private let rows: Double
  private let bytes: Double

  init(_ steps: [MigrationStep], source: StoreReader) throws {
    self.steps = steps
    bytes = Double(source.byteCount)
    guard steps.count > 1, let first = steps.first else {
      rows = 0
      return
    }
    rows = try StoreBinding(source, model: first.origin).tables.reduce(0) { sum, table in
      sum + Self.rows(source.snapshot, root: table.schema.rootPage)
    }
  }

  /// None of a damaged table: who reads it says so.
  private static func rows(_ snapshot: DatabaseSnapshot, root: UInt32) -> Double {
    guard let pages = try? TablePages.count(snapshot, root: root),
      let rows = try? TablePages.rowsOfFirst(snapshot, root: root)
    else { return 0 }
    return Double(pages) * Double(rows)
  }

  /// The work of the rows of each step, from the second one on.
  func work() throws -> [Double] {
    try steps.indices.dropFirst().map { index in
      let isMade = steps[..<index].contains { !$0.isInferred }
      return try work(steps[index], rows: rows * (isMade ? 1 + Self.made : 1))
    }
  }

  private func work(_ step: MigrationStep, rows: Double) throws -> Double {
    let (before, after) = (try StoreLayout(model: step.origin), try StoreLayout(model: step.destination))
    let columns = after.entityTables.map(\.columns.count).reduce(0, +)
    let links = Double(max(0, after.joinTables.count - before.joinTables.count)) * self.rows
    let row = rowCost(step) + WorkCost.column * Double(columns) / Double(max(1, after.entityTables.count))
    return rows * row + links * WorkCost.linkRow + bytes * WorkCost.readByte
  }

  private func rowCost(_ step: MigrationStep) -> Double {
    step.mappingModels.flatMap(\.entityMappings).map { mapping in
      mapping.rules != nil
        ? WorkCost.ruledRow : mapping.policyClassName != nil ? WorkCost.policyRow : WorkCost.plainRow
    }.max() ?? WorkCost.plainRow
  }
}
