/// An R-tree, as the proof reads it: nodes in the rows of one table, and two tables that say which node holds what.
///
/// Source of the rules: SQLite, "The SQLite R*Tree Module", section 5 (shadow tables), and the layout of its nodes.
public struct ProofRTree: Sendable, Equatable {
  /// The name of the virtual table.
  public var name: String
  /// The root page of the table of nodes.
  public var nodes: UInt32
  /// Bounds of a cell: two for each dimension.
  public var bounds: Int
  /// Whether they are whole numbers of 32 bits, and not reals.
  public var isInteger: Bool

  /// Makes an R-tree.
  public init(name: String, nodes: UInt32, bounds: Int, isInteger: Bool) {
    (self.name, self.nodes, self.bounds, self.isInteger) = (name, nodes, bounds, isInteger)
  }
}

/// What was found in an R-tree: how many rows and inner cells it has, and sums of their pairs with the node that they
/// are in.
package struct ProofRTreeFindings: Sendable, Equatable {
  /// Rows, and the sum of their pairs.
  package var rows: UInt64 = 0
  /// The sum over rows.
  package var rowSum: UInt64 = 0
  /// Nodes below another one.
  package var children: UInt64 = 0
  /// The sum over them.
  package var childSum: UInt64 = 0
  /// Numbers of nodes with bounds that are upside down, or do not lie within those of their parent.
  package var unbounded = ProofTally()
}
