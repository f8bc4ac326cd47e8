/// What the proof looks at in a tree whose records are in the order of their own columns: a table WITHOUT ROWID, or an
/// index of one.
package struct ProofKeyedTree: Sendable, Equatable {
  /// The columns that order the records, as places in a record. No two records are equal in all of them.
  package var key: [ProofIndexColumn]
  /// How many of them are unique by themselves, except for NULL; nil if none.
  package var uniqueCount: Int?
  /// What columns hold.
  package var rules: [ProofColumnRule] = []
  /// A record with the values of columns that a short record lacks.
  package var defaults: [UInt8] = []
  /// Columns of the entries that each index of a table has; of an index its own.
  package var entries: [[Int]] = []

  /// Makes a tree in the order of a key.
  package init(key: [ProofIndexColumn], uniqueCount: Int? = nil) { (self.key, self.uniqueCount) = (key, uniqueCount) }
}

/// What was found in such a tree.
package struct ProofKeyedRows: Sendable {
  /// Records that do not come after the one before them.
  package var disordered: UInt64 = 0
  /// Records whose unique values the one before them has, too.
  package var repeated: UInt64 = 0
  /// Records that break a rule, in the order of the rules.
  package var broken: [UInt64]
  /// The sums of entries.
  package var entries: [ProofDigest]
  /// Whether there are records that are too long to be looked at.
  package var isPartial = false
}
