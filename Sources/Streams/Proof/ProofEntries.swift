/// What the proof found in an index.
public struct ProofEntries: Sendable {
  /// All entries.
  public var digest = ProofDigest()
  /// Rowids of entries that come before the one before them.
  public var disordered = ProofTally()
  /// Rowids of entries whose values the entry before them has, too, in a unique index.
  public var repeated = ProofTally()
  /// Entries that are so long that they cannot be compared.
  public var isPartial = false
  /// What was found in a tree that is in the order of its own columns; nil if that was not asked for.
  package var keyed: ProofKeyedRows?

  /// Adds what was found in the next part.
  mutating func add(_ other: ProofEntries) {
    digest.add(other.digest)
    disordered.add(other.disordered)
    repeated.add(other.repeated)
    isPartial = isPartial || other.isPartial
  }
}
