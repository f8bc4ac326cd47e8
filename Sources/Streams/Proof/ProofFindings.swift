extension Proof {
  /// What was found.
  public struct Findings: Sendable {
    /// What the rows of the tables are, in their order; nil for a table that could not be read to its end.
    public var rows: [ProofRows?] = []
    /// What the indexes hold, in the order of the trees; nil for one that could not be read to its end.
    public var entries: [ProofEntries?] = []
    /// What the R-trees hold, in their order; nil for one that could not be read to its end.
    package var rtrees: [ProofRTreeFindings?] = []
    /// Sets with a key that is referred to and does not exist.
    public var dangling: [Int] = []
    /// Faults of the file's structure, with the table or index.
    public var damage: [(name: String, error: StreamsError)] = []
  }
}
