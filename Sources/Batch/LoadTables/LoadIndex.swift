/// Something to be made when the rows are there.
package struct LoadIndex: Sendable, Equatable {
  package var name: String
  package var table: Int
  /// Columns by their places, and whether they descend.
  package var columns: [Int]
  package var descending: [Bool]
  package var isUnique: Bool
}
