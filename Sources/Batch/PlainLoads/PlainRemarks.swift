/// What a table's rows have that the plain form changes, or that its readers must know; counted by column.
struct PlainRemarks: Equatable, Sendable {
  enum Remark: Hashable, Sendable, CaseIterable {
    /// NULL where the model requires a value.
    case missing
    /// A time that the text or the number does not hold to its last bit.
    case rounded
    /// A whole number that its attribute's type does not hold.
    case wide
    /// A text with a NUL character.
    case nul
    /// A text that is not UTF-8.
    case notUTF8
    /// A NaN, which SQLite takes for NULL.
    case notANumber
    /// A value whose file is gone.
    case lostFile
  }

  private(set) var counts: [Remark: [Int: UInt64]] = [:]
  /// The most by which a time of a column is rounded, in seconds.
  private(set) var losses: [Int: Double] = [:]

  mutating func note(_ remark: Remark, _ column: Int) { counts[remark, default: [:]][column, default: 0] += 1 }

  mutating func lose(seconds: Double, _ column: Int) { losses[column] = max(losses[column, default: 0], seconds) }

  mutating func add(_ other: PlainRemarks) {
    for (column, seconds) in other.losses { lose(seconds: seconds, column) }
    for (remark, columns) in other.counts {
      for (column, count) in columns { counts[remark, default: [:]][column, default: 0] += count }
    }
  }

  /// Columns in which values are missing.
  var columnsWithout: Set<Int> {
    Set([Remark.missing, .notANumber, .lostFile].flatMap { counts[$0, default: [:]].keys })
  }
}
