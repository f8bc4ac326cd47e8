import CoreDataStore

/// A column of a table without a model, and how its values are written.
struct RawColumn {
  let column: RawSchema.Column
  let kind: ExportKind

  init(column: RawSchema.Column, dates: ExportDates) {
    self.column = column
    kind = Self.kind(column).written(dates)
  }

  static func kind(_ column: RawSchema.Column) -> ExportKind {
    column.isDate ? .date : column.isFloat ? .double : .stored
  }
}
