import Streams

/// Migrates the rows of one table that need no object: by the recipe of the entity's only mapping. What does not fit is left to
/// ``RowTransformer``'s other way, which gives the same bytes.
final class FastRows {
  struct Mapping {
    var index: Int
    var program: RecordProgram
    /// The table's number in the output.
    var table: Int
    /// What is added to a source key.
    var offset: Int64
  }

  private let locator: RecordLocator
  private let entityPosition: Int
  private let byNumber: [Mapping?]
  /// Rows that were migrated, by mapping.
  private var kept: [UInt64]

  init(_ locator: RecordLocator, entityPosition: Int, byNumber: [Mapping?], mappings: Int) {
    self.locator = locator
    self.entityPosition = entityPosition
    self.byNumber = byNumber
    kept = Array(repeating: 0, count: mappings)
  }

  /// False, and nothing is done, where the row needs the other way.
  func migrate(_ record: UnsafeRawBufferPointer, _ key: Int64, to output: RecordPage) -> Bool {
    guard locator.locate(record), let number = locator.integer(entityPosition), number > 0, number < Int64(byNumber.count),
      let mapping = byNumber[Int(number)],
      mapping.program.append(locator, to: output, table: mapping.table, rowid: key &+ mapping.offset)
    else { return false }
    kept[mapping.index] += 1
    return true
  }

  /// Adds what was migrated since the last call to the step's counts.
  func count(into state: inout StepState) {
    for (index, count) in kept.enumerated() where count > 0 {
      state.counts[index].read += count
      state.counts[index].kept += count
      kept[index] = 0
    }
  }
}
