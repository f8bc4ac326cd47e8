/// A part of a tree whose pages stay as they are: everything below one of the lowest inner pages, which is the last of
/// them.
public struct ProofPart: Sendable, Hashable {
  /// The root of the tree.
  public var root: UInt32
  /// The inner page right above leaves.
  public var page: UInt32
  /// In a table: rowids are above this one.
  public var lower: Int64?
  /// In a table: rowids are not above this one.
  public var upper: Int64?

  /// Makes a part.
  public init(root: UInt32, page: UInt32, lower: Int64? = nil, upper: Int64? = nil) {
    (self.root, self.page, self.lower, self.upper) = (root, page, lower, upper)
  }

  func walked(parent: UInt32) -> ProofTableWalk.Part {
    ProofTableWalk.Part(page: page, parent: parent, depth: 1, lower: lower, upper: upper, isClaimed: true)
  }
}

/// Looks at parts of a file while the rest of it is being written, so that a ``Proof`` of the finished file need not
/// look at them again. Used by one thread at a time.
public final class EarlyProof {
  /// What was found in a part of an index.
  struct Entries {
    var found: ProofEntries
    /// The first entry's record and the last one's; nil if there are none that could be compared.
    var first: [UInt8]?
    var last: [UInt8]?
  }

  private let file: ProofFile
  private let limit: Int
  let tables: [ProofTable]
  let trees: [ProofIndex]
  let window: Range<Int64>
  let claims: ProofClaims
  let keys: ProofKeys
  private var checks: [UInt32: ProofTableCheck] = [:]
  private let tablePlaces: [UInt32: Int]
  private let treePlaces: [UInt32: Int]
  /// What was found in the parts of a table, by its place.
  private(set) var rows: [Int: ProofRows] = [:]
  /// The parts of tables that were looked at, by the table's place.
  private(set) var parts: [Int: Set<ProofPart>] = [:]
  /// What was found in the parts of indexes, by tree and by the part's page.
  private(set) var entries: [Int: [UInt32: Entries]] = [:]

  /// Begins with a file that has no part yet. `tables` and all else are what the finished file's ``Proof`` will be
  /// given; what differs then is not used.
  public init(_ file: ProofFile, tables: [ProofTable], trees: [ProofIndex], sets: Int, window: Int64, limit: Int) {
    (self.file, self.tables, self.limit, self.window) = (file, tables, limit, 0..<window)
    self.trees = tables.flatMap(\.indexes) + trees
    (claims, keys) = (ProofClaims(file), ProofKeys(sets: sets, window: 0..<window))
    func places(_ roots: [UInt32]) -> [UInt32: Int] { Dictionary(zip(roots, roots.indices)) { first, _ in first } }
    (tablePlaces, treePlaces) = (places(tables.map(\.root)), places(self.trees.map(\.root)))
  }

  /// Looks at a part, which must be in the file.
  ///
  /// - Throws: ``StreamsError``: at damage, and when the disk fails; what was found is worth nothing then.
  public func look(at part: ProofPart) throws {
    if let table = tablePlaces[part.root] {
      let check =
        checks[part.root]
        ?? ProofTableCheck(tables[table], file: file, claims: claims, keys: keys, isFirst: true, limit: limit)
      checks[part.root] = check
      let found = try check.run(part)
      if rows[table]?.add(found) == nil { rows[table] = found }
      parts[table, default: []].insert(part)
    } else if let tree = treePlaces[part.root] {
      entries[tree, default: [:]][part.page] = try ProofIndexCheck(
        trees[tree], file: file, claims: claims, limit: limit
      ).run(part)
    }
  }
}
