/// What the proof has to look at in the rows of a table, as places of columns in its records.
public struct ProofTable: Sendable, Equatable {
  /// Rows of one kind, known by a number in a column.
  public struct Kind: Sendable, Equatable {
    /// The number.
    public var number: Int64
    /// Places in ``ProofTable/required``.
    public var required: [Int]
    /// Sets of keys that the row's belongs to.
    public var sets: [Int]
    /// Makes a kind.
    public init(number: Int64, required: [Int], sets: [Int]) {
      (self.number, self.required, self.sets) = (number, required, sets)
    }
  }

  /// A column that holds the kind of a row that a key leads to.
  public struct Helper: Sendable, Equatable {
    /// The column.
    public var column: Int
    /// The set of keys by kind.
    public var sets: [Int64: Int]
    /// Makes a helper.
    public init(column: Int, sets: [Int64: Int]) { (self.column, self.sets) = (column, sets) }
  }

  /// A column that has a value where another has one.
  public struct Place: Sendable, Equatable {
    /// The column with a key.
    public var key: Int
    /// The column with the place.
    public var place: Int
    /// Makes a place.
    public init(key: Int, place: Int) { (self.key, self.place) = (key, place) }
  }

  /// A column with keys of another table.
  public struct Reference: Sendable, Equatable {
    /// The column.
    public var column: Int
    /// Whether it must not be NULL.
    public var isNeeded: Bool
    /// The set that the keys must be in.
    public var set: Int
    /// The column that holds the kind of the row that the key leads to, and the set by kind.
    public var helper: Helper?
    /// Makes a reference.
    public init(column: Int, isNeeded: Bool, set: Int, helper: Helper? = nil) {
      (self.column, self.isNeeded, self.set, self.helper) = (column, isNeeded, set, helper)
    }
  }

  /// A column whose keys, with the row's own, are pairs that another column must have, too.
  public struct Pair: Sendable, Equatable {
    /// The column.
    public var column: Int
    /// Number of the sum that the pairs are added to.
    public var sum: Int
    /// Whether the row's own key comes first.
    public var isForward: Bool
    /// Makes a pair.
    public init(column: Int, sum: Int, isForward: Bool) {
      (self.column, self.sum, self.isForward) = (column, sum, isForward)
    }
  }

  /// The name.
  public var name: String
  /// The root page.
  public var root: UInt32
  /// Columns of the table.
  public var columnCount = 0
  /// The column that is another name of the rowid.
  public var rowidColumn: Int?
  /// A record with the values of columns that a short record lacks.
  public var defaults: [UInt8] = []
  /// The column that holds a row's kind, and the kinds; no column where rows have none.
  public var kindColumn: Int?
  /// The kinds that may occur.
  public var kinds: [Kind] = []
  /// Columns that are not NULL in rows of some kinds.
  public var required: [Int] = []
  /// Columns with keys.
  public var references: [Reference] = []
  /// A column that has a value where another has one.
  public var places: [Place] = []
  /// Pairs.
  public var pairs: [Pair] = []
  /// The column whose number stands for the row in a report; nil for the rowid.
  public var keyColumn: Int?
  /// The indexes.
  public var indexes: [ProofIndex] = []
  /// What columns hold.
  package var rules: [ProofColumnRule] = []

  /// Columns, from the first, of which more than whether they are NULL is looked at.
  var knownColumns: Int {
    var columns =
      [kindColumn, keyColumn].compactMap { $0 } + references.flatMap { [$0.column, $0.helper?.column ?? 0] }
    columns +=
      places.flatMap { [$0.key, $0.place] } + pairs.map(\.column) + indexes.flatMap { $0.columns ?? [] }.map(\.column)
    columns += rules.map(\.column)
    // Only of the first 64 the record knows that as a whole.
    return ((columns + required.filter { $0 >= 64 }).max() ?? -1) + 1
  }

  /// Makes a table of which only the structure and the digest are asked for.
  public init(name: String, root: UInt32) { (self.name, self.root) = (name, root) }
}

/// An index, or a tree of records without rowids.
public struct ProofIndex: Sendable, Equatable {
  /// The name.
  public var name: String
  /// The root page.
  public var root: UInt32
  /// The columns of an entry, before its rowid; nil if only the structure and the digest are asked for.
  public var columns: [ProofIndexColumn]?
  /// Whether entries are unique, except for NULL.
  public var isUnique: Bool
  /// What a tree holds that is in the order of its own columns; nil if that is not looked at.
  package var keyed: ProofKeyedTree?
  /// Makes an index.
  public init(name: String, root: UInt32, columns: [ProofIndexColumn]?, isUnique: Bool) {
    (self.name, self.root, self.columns, self.isUnique) = (name, root, columns, isUnique)
  }
}

/// Rows that share a fault: how many, and the first few.
public struct ProofTally: Sendable, Equatable {
  /// How many.
  public private(set) var count: UInt64 = 0
  /// The first ones' keys.
  public private(set) var keys: [Int64?] = []
  static let most = 5

  mutating func add(_ key: Int64?) {
    count += 1
    if keys.count < Self.most { keys.append(key) }
  }

  mutating func add(_ other: ProofTally) {
    count += other.count
    keys = Array((keys + other.keys).prefix(Self.most))
  }
}

/// What the proof found in the rows of a table, or in a part of them.
public struct ProofRows: Sendable {
  /// All rows.
  public var digest = ProofDigest()
  /// Rows by kind, in the order of the table's kinds.
  public var kinds: [UInt64]
  /// What the entries of the indexes must be, in their order.
  public var entries: [ProofDigest]
  /// Sums of pairs, in the order of the proof's sums: first by one side, then by the other.
  public var pairs: [Int: (forward: UInt64, backward: UInt64)] = [:]
  /// Rows of a kind that the table may not hold.
  public var strangeKinds = ProofTally()
  /// Rows whose key is below 1.
  public var lowKeys = ProofTally()
  /// Rows without a required value, in the order of the table's required columns.
  public var missing: [ProofTally]
  /// Rows without a place, in the order of the table's places.
  public var misplaced: [ProofTally]
  /// References that are no keys, or whose helper holds a kind that they cannot lead to.
  public var badReferences: UInt64 = 0
  /// Rows that break a rule, in the order of the table's rules.
  package var broken: [ProofTally]
  /// Rows that are so long that their entries cannot be found, or whether they keep the rules.
  public var isPartial = false

  init(_ table: ProofTable) {
    kinds = Array(repeating: 0, count: table.kinds.count)
    entries = Array(repeating: ProofDigest(), count: table.indexes.count)
    missing = Array(repeating: ProofTally(), count: table.required.count)
    misplaced = Array(repeating: ProofTally(), count: table.places.count)
    broken = Array(repeating: ProofTally(), count: table.rules.count)
  }

  /// Adds what became of a rule in a row.
  @inline(__always)
  mutating func add(_ outcome: ProofRecord.RuleOutcome, rule: Int, _ rowid: Int64) {
    switch outcome {
    case .kept: break
    case .broken: broken[rule].add(rowid)
    case .unknown: isPartial = true
    }
  }

  /// Adds what was found in the next part.
  mutating func add(_ other: ProofRows) {
    digest.add(other.digest)
    kinds = zip(kinds, other.kinds).map { $0 + $1 }
    for index in entries.indices { entries[index].add(other.entries[index]) }
    for (sum, pair) in other.pairs {
      let old = pairs[sum] ?? (0, 0)
      pairs[sum] = (old.forward &+ pair.forward, old.backward &+ pair.backward)
    }
    strangeKinds.add(other.strangeKinds)
    lowKeys.add(other.lowKeys)
    for index in missing.indices { missing[index].add(other.missing[index]) }
    for index in misplaced.indices { misplaced[index].add(other.misplaced[index]) }
    for index in broken.indices { broken[index].add(other.broken[index]) }
    badReferences += other.badReferences
    isPartial = isPartial || other.isPartial
  }
}
