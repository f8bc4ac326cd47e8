import LoadTables
import RunSupport
import Streams

extension LoadRemarks {
  /// What of the rows a person should know.
  static func notes(_ units: [LoadBook.Unit], _ schema: LoadSchema) -> [String] {
    var notes: [String] = []
    for (table, unit) in zip(schema.tables, units) {
      let missing = list(unit.remarks.missing, table).map { "\($0) in \($1)" }
      if !missing.isEmpty {
        notes.append(
          "\(table.name): values are missing that the model requires: \(missing.joined(separator: ", ")); "
            + "these columns are not NOT NULL")
      }
      notes += list(unit.remarks.rounded, table).map {
        "\(table.name).\($0): times are rounded in \($1), to whole microseconds"
      }
    }
    let lost = units.reduce(0) { $0 + $1.remarks.lostFiles }
    if lost == 1 { notes.append("a value is NULL, because its file beside the store is missing") }
    if lost > 1 { notes.append("\(lost.grouped) values are NULL, because their files beside the store are missing") }
    return notes
  }

  /// Columns of a table by their names, each with its rows.
  private static func list(_ columns: [Int: UInt64], _ table: LoadTable) -> [(String, String)] {
    columns.filter { $0.key < table.columns.count }.sorted { $0.key < $1.key }
      .map { (table.columns[$0.key].name, $0.value.counted("row")) }
  }
}
