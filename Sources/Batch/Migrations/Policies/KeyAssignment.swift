/// Which keys the destination objects of a step get.
///
/// An object that stands for a source object keeps its key, moved by an offset where rows of several source tables (or
/// of one table several times) come together in one destination table: the offset is the sum of the largest keys of
/// those before. So destination keys follow from source keys by arithmetic, no association has to be kept, and rows
/// arrive in key order. Objects that a policy makes in addition get the keys above.
package struct KeyAssignment: Sendable {
  /// The first new key of every table: entity tables, then join tables, whose rows are just counted.
  package var firstNewKeys: [Int64]
  /// Whether the table holds rows that keep their keys. Then further ones wait in a spool until those are written.
  var kept: [Bool]

  /// The last of the numbers counts places in ordered relationships.
  var orderSlot: Int { firstNewKeys.count - 1 }
  package func keepsKeys(table: Int) -> Bool { kept[table] }
  /// The number by which records for a table's spool are distinguished from records for the table.
  static func spoolNumber(_ table: Int) -> Int { firstSpool + table }
  /// The table whose spool a number means; nil for a table's own number.
  static func spoolTable(_ number: Int) -> Int? { number < firstSpool ? nil : number - firstSpool }
  /// Far above the number of any table.
  private static let firstSpool = 1 << 30
}
