import Synchronization

/// Reads a finished database from end to end with a decoder of its own: every page has one owner, every tree is in
/// order, and of every table and index there is a digest of what it really holds.
///
/// The work comes in jobs that any threads may run at the same time; then ``finish()`` puts the pieces together.
public final class Proof: Sendable {
  /// A piece of work.
  public struct Job: Sendable {
    /// The table or index.
    public let name: String
    /// Its share of the work, in pages.
    public let weight: Double
    fileprivate let work: Work
  }

  fileprivate enum Work: Sendable {
    case rows(table: Int, piece: Int, parts: [ProofTableWalk.Part])
    case entries(tree: Int)
    case rtree(Int)
  }

  /// What belongs to one thread at a time.
  private final class Hand: @unchecked Sendable {
    // Sendable: handed out to one thread at a time, under the lock.
    let claims: ProofClaims
    let keys: ProofKeys
    init(_ claims: ProofClaims, _ keys: ProofKeys) { (self.claims, self.keys) = (claims, keys) }
  }

  private struct State {
    var idle: [Hand] = []
    var hands: [Hand] = []
    var rows: [[Int: ProofRows]]
    var entries: [Int: ProofEntries] = [:]
    var rtrees: [Int: ProofRTreeFindings] = [:]
    var damage: [(name: String, error: StreamsError)] = []
    var damagedTables: Set<Int> = []
  }

  /// Leaves below one of the lowest inner pages, about.
  private static let leavesOfPart = 300
  private let file: ProofFile
  private let tables: [ProofTable]
  private let trees: [ProofIndex]
  private let rtrees: [ProofRTree]
  private let largestKeys: [Int64]
  private let limit: Int
  private let window: Range<Int64>
  /// Whether this is the pass that looks at everything, and not only at a window of keys.
  private let isFirst: Bool
  private let state: Mutex<State>
  private let early: Early?

  // Sendable: nobody changes it any longer.
  private struct Early: @unchecked Sendable { let proof: EarlyProof }

  /// Prepares a proof.
  ///
  /// - Parameters:
  ///   - file: the file, opened for the proof.
  ///   - tables: tables with rowids, the schema's own (root 1) among them. Their indexes are looked at with them.
  ///   - trees: trees beside those, of records without rowids.
  ///   - largestKeys: the largest key of each set of keys that tables name.
  ///   - window: the keys that are looked at in this pass; the pass that begins at 0 looks at all else, too.
  ///   - limit: the longest record that is put together in memory.
  ///   - early: what was looked at while the file was written. It is used if it looked for the very same, and never
  ///     changed any longer.
  ///   - rtrees: R-trees; the tables that keep them are among the tables.
  public init(
    _ file: ProofFile, tables: [ProofTable], trees: [ProofIndex], largestKeys: [Int64], window: Range<Int64>,
    limit: Int,
    early: EarlyProof? = nil, rtrees: [ProofRTree] = []
  ) {
    (self.file, self.tables, self.largestKeys, self.rtrees) = (file, tables, largestKeys, rtrees)
    (self.window, self.limit, isFirst) = (window, limit, window.lowerBound == 0)
    self.trees = isFirst ? tables.flatMap(\.indexes) + trees : []
    let all = tables.flatMap(\.indexes) + trees
    self.early = early.flatMap {
      $0.tables == tables && $0.trees == all && $0.window == window ? Early(proof: $0) : nil
    }
    var state = State(rows: Array(repeating: [:], count: tables.count))
    if let early = self.early?.proof {
      for (table, rows) in early.rows { state.rows[table][-1] = rows }
      state.hands = [Hand(early.claims, early.keys)]
    }
    self.state = Mutex(state)
  }

  /// The number of keys that windows can have when all sets together, on two threads and an early one, may take so many
  /// bytes.
  public static func window(bytes: Int, sets: Int) -> Int64 {
    max(1 << 16, Int64(bytes) * 8 / Int64(6 * max(1, sets))) & ~63
  }

  /// All jobs, in no order; ``Job/weight`` says which are the largest.
  ///
  /// - Throws: ``StreamsError``.
  public func jobs() throws -> [Job] {
    let hand = take()
    defer { give(hand) }
    let pages = ProofPages(file)
    var jobs = trees.indices.map { Job(name: trees[$0].name, weight: weight($0, pages), work: .entries(tree: $0)) }
    for table in tables.indices where isFirst || !tables[table].references.isEmpty || tables[table].kindColumn != nil {
      try noting(tables[table].name, table: table) { jobs += try split(table, hand) }
    }
    if isFirst { jobs += rtrees.indices.map { Job(name: rtrees[$0].name, weight: 64, work: .rtree($0)) } }
    return jobs
  }

  /// Pages of an index that were not looked at while the file was written, about. What is wrong with them, its job finds.
  private func weight(_ tree: Int, _ pages: ProofPages) -> Double {
    guard let shape = try? ProofTableWalk.shape(pages, trees[tree].root, inner: .indexInterior) else { return 1 }
    guard let parts = early?.proof.entries[tree]?.count, shape.depth > 0 else { return shape.leaves }
    let all = shape.depth > 1 ? shape.leaves / Double(Self.leavesOfPart) : 1
    return shape.leaves * max(0, 1 - Double(parts) / max(1, all)) + Double(parts)
  }

  private func split(_ table: Int, _ hand: Hand) throws -> [Job] {
    let depth = try ProofTableWalk.depth(ProofPages(file), tables[table].root, inner: .tableInterior)
    var parts = [ProofTableWalk.Part(page: tables[table].root, parent: 0, depth: depth)]
    let walk = ProofTableWalk(file, claims: hand.claims, pages: ProofPages(file), parts: [])
    if let seen = early?.proof.parts[table] {
      while parts[0].depth > 1 { parts = try parts.flatMap(walk.split) }
      parts = try unseen(parts, seen: seen, table: table, walk: walk)
    }
    while parts.count < 24, let first = parts.first, first.depth > 0 { parts = try parts.flatMap(walk.split) }
    let piece = parts.count / 24 + 1
    return stride(from: 0, to: parts.count, by: piece).map { start in
      let some = Array(parts[start..<min(start + piece, parts.count)])
      return Job(
        name: tables[table].name, weight: Double(some.count * (some[0].depth > 0 ? Self.leavesOfPart : 1)),
        work: .rows(table: table, piece: start, parts: some))
    }
  }

  /// The parts that were not looked at while the file was written. The others' pages are claimed.
  private func unseen(
    _ parts: [ProofTableWalk.Part], seen: Set<ProofPart>, table: Int, walk: ProofTableWalk
  ) throws -> [ProofTableWalk.Part] {
    var lost = seen
    let rest = try parts.filter { part in
      let own = ProofPart(root: tables[table].root, page: part.page, lower: part.lower, upper: part.upper)
      guard part.depth == 1, lost.remove(own) != nil else { return true }
      try walk.claim(part)
      return false
    }
    guard let first = lost.first else { return rest }
    throw file.damage(
      "the page was written as a part of \(tables[table].name), and does not belong to it", page: first.page)
  }

  /// Does a job. Damage is a finding.
  ///
  /// - Throws: ``StreamsError`` when the disk fails.
  public func run(_ job: Job) throws {
    let hand = take()
    defer { give(hand) }
    switch job.work {
    case .rows(let table, let piece, let parts):
      try noting(job.name, table: table) {
        let check = ProofTableCheck(
          tables[table], file: file, claims: hand.claims, keys: hand.keys, isFirst: isFirst, limit: limit)
        let rows = try check.run(parts)
        state.withLock { $0.rows[table][piece] = rows }
      }
    case .entries(let tree):
      try noting(job.name, table: nil) {
        let entries = try ProofIndexCheck(
          trees[tree], file: file, claims: hand.claims, limit: limit, early: early?.proof.entries[tree] ?? [:]
        ).run()
        state.withLock { $0.entries[tree] = entries }
      }
    case .rtree(let tree):
      try noting(job.name, table: nil) {
        let found = try ProofRTreeCheck(rtrees[tree], file: file).run()
        state.withLock { $0.rtrees[tree] = found }
      }
    }
  }

  private func noting(_ name: String, table: Int?, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as StreamsError where error.code == .damagedDatabase {
      state.withLock { state in
        state.damage.append((name, error))
        if let table { state.damagedTables.insert(table) }
      }
    }
  }

  private func take() -> Hand {
    state.withLock { state in
      if let hand = state.idle.popLast() { return hand }
      let hand = Hand(ProofClaims(file), ProofKeys(sets: largestKeys.count, window: window))
      // The first one is of this file, whose length is known; an early one's is not.
      state.hands.insert(hand, at: 0)
      return hand
    }
  }

  private func give(_ hand: Hand) { state.withLock { $0.idle.append(hand) } }

  private func checkLargestRoot() throws {
    let largest = (tables.map(\.root) + trees.map(\.root)).max() ?? 1
    guard !file.hasPointerMap || file.largestRoot == largest else {
      throw file.damage("the header says that page \(file.largestRoot) is the last root, and \(largest) is", page: 1)
    }
  }

  /// Puts together what the jobs found, when all are done.
  ///
  /// - Throws: ``StreamsError`` when the disk fails.
  public func finish() throws -> Findings {
    try noting("the file", table: nil) {
      let hands = state.withLock { $0.hands }
      guard let first = hands.first else { return }
      for hand in hands.dropFirst() {
        first.keys.add(hand.keys)
        try first.claims.add(hand.claims)
      }
      guard isFirst, state.withLock({ $0.damage.isEmpty }) else { return }
      try first.claims.finish()
      try checkLargestRoot()
    }
    return state.withLock { state in
      var findings = Findings()
      for table in tables.indices {
        let pieces = state.rows[table].sorted { $0.key < $1.key }.map(\.value)
        guard !state.damagedTables.contains(table) else {
          findings.rows.append(nil)
          continue
        }
        findings.rows.append(pieces.dropFirst().reduce(into: pieces.first) { $0?.add($1) })
      }
      findings.entries = trees.indices.map { state.entries[$0] }
      findings.rtrees = rtrees.indices.map { state.rtrees[$0] }
      findings.damage = state.damage
      if state.damagedTables.isEmpty, let keys = state.hands.first?.keys {
        findings.dangling = largestKeys.indices.filter { keys.hasDangling($0, largest: largestKeys[$0]) }
      }
      return findings
    }
  }
}
