import CoreDataStore
import Streams

/// A pass over one source table: what its rows need, found once.
///
/// Rows that need no object are migrated by the recipe of their entity's only mapping. What does not fit is left to
/// ``RowTransformer``'s other way, which gives the same bytes.
final class TablePass {
  /// How a mapping takes rows of its entity.
  struct Way {
    /// The mapping's position in the plan.
    var index: Int
    // The plan keeps mappings and recipes as long as there are passes.
    var mapping: Unmanaged<CompiledMapping>
    /// For rows that need no object; nil if all do.
    fileprivate var recipe: Unmanaged<RecordRecipe>?
    /// For rows whose rules need no object; nil if all do.
    fileprivate var rules: Unmanaged<RuleRecipe>?
    /// The table's number in the output.
    fileprivate var table: Int
    /// What is added to a source key.
    fileprivate var offset: Int64
  }

  let table: Int
  let entityPosition: Int
  private let locator: RecordLocator
  /// By Z_ENT: the ways of the entity's rows in this pass; nil if the table has no such entity.
  private let ways: UnsafeMutableBufferPointer<UnsafeMutableBufferPointer<Way>?>
  /// Rows that were migrated by recipe, by mapping.
  private let kept: UnsafeMutableBufferPointer<UInt64>
  private var ruleRecipes: [RuleRecipe] = []
  /// Counts what the table holds; nil if another pass does.
  let tally: TableTally?
  /// Counts what no mapping took: the same one, if there is one, else made for the first such row.
  private var untaken: TableTally?
  private unowned let plan: StepPlan
  /// By Z_ENT: whether this pass has the entity's first mapping.
  private let isFirst: [Bool]
  /// By Z_ENT: the entity's mappings in other passes of the table.
  private let others: [[CompiledMapping]]
  /// Z_ENT of entities not all of whose mappings carry everything: their rows are looked at, one by one.
  private let splitNumbers: Set<Int>
  /// Values of such rows that nobody carries, since the last count.
  private var lost: [String: UInt64] = [:]
  private let row: RecordDecoder

  /// Prepares a pass for some mappings of a table. `manager` must outlive it.
  init(_ plan: StepPlan, table: Int, mappings indexes: [Int], manager: StepObjects) throws {
    (self.table, self.plan) = (table, plan)
    (locator, row) = (manager.locator, manager.currentRow)
    tally = try plan.isFirstRead(.rows(table: table, mappings: indexes)) ? TableTally(plan, table: table) : nil
    untaken = tally
    (isFirst, others, splitNumbers) = Self.share(of: indexes, plan)
    entityPosition = plan.binding.tables[table].positions[1]
    ways = .allocate(capacity: plan.graph.byNumber.count)
    ways.initialize(repeating: nil)
    kept = .allocate(capacity: plan.mappings.count)
    kept.initialize(repeating: 0)
    for (number, entity) in plan.graph.byNumber.enumerated() where entity?.table == table {
      let used = plan.mappingsByEntity[number].filter(indexes.contains)
      let ways = UnsafeMutableBufferPointer<Way>.allocate(capacity: used.count)
      for (place, index) in used.enumerated() {
        let mapping = plan.mappings[index]
        let isAlone = used.count == 1 && !splitNumbers.contains(number)
        let recipe =
          isAlone && mapping.isPlain && mapping.filter == nil && !manager.lookups.wants(mapping.destination.name)
          ? mapping.recipe : nil
        var compiler = RuleRecipeCompiler(mapping: mapping, manager: manager)
        let rules = isAlone ? try compiler.compile() : nil
        ruleRecipes += [rules].compactMap { $0 }
        ways.initializeElement(
          at: place,
          to: Way(
            index: index, mapping: Unmanaged.passUnretained(mapping),
            recipe: recipe.map { Unmanaged.passUnretained($0) },
            rules: rules.map { Unmanaged.passUnretained($0) }, table: mapping.destination.table, offset: mapping.offset)
        )
      }
      self.ways[number] = ways
    }
  }

  /// By Z_ENT: whether some mappings have the entity's first one, and its mappings beside them. Then those whose rows are
  /// looked at.
  private static func share(of indexes: [Int], _ plan: StepPlan) -> ([Bool], [[CompiledMapping]], Set<Int>) {
    let used = plan.mappingsByEntity
    return (
      used.map { $0.first.map(indexes.contains) == true },
      used.map { $0.filter { !indexes.contains($0) }.map { plan.mappings[$0] } }, plan.splits?.numbers ?? []
    )
  }

  deinit {
    for way in ways { way?.deallocate() }
    ways.deallocate()
    kept.deallocate()
  }

  /// Looks at a page whose rows are migrated next.
  func foresee(_ page: RowPage) throws {
    for recipe in ruleRecipes { try recipe.foresee(page, entityPosition: entityPosition) }
  }

  /// Finds the columns of the row, and migrates it where it needs no object; else nothing is done but that.
  @inline(__always)
  func migrate(_ page: RowPage, row: Int, key: Int64, to output: RecordPage) throws -> (
    isLocated: Bool, isMigrated: Bool
  ) {
    guard locator.locate(page.record(row)) else { return (false, false) }
    guard let number = locator.integer(entityPosition), let ways = ways(number) else { return (true, false) }
    if let tally { try count(number, tally) }
    guard ways.count == 1, try migrate(row, key: key, way: ways[0], to: output) else { return (true, false) }
    kept[ways[0].index] += 1
    return (true, true)
  }

  @inline(__always)
  private func count(_ number: Int64, _ tally: TableTally) throws {
    tally.add(locator, number)
    guard tally.looksIntoValues else { return }
    locator.lend(to: row)
    try tally.look(row, number)
  }

  /// Counts the row that was decoded last, where its columns could not be located.
  func countDecoded() throws {
    guard let tally, let number = row.integer(entityPosition) else { return }
    tally.add(row, number)
    try tally.look(row, number)
  }

  /// Counts the decoded row as one that no mapping took, unless another pass takes it. Whether a policy there will is
  /// not known.
  func leave(_ key: Int64, isRejected: Bool, manager: StepObjects) throws {
    guard let number = row.integer(entityPosition), ways(number) != nil, isFirst[Int(number)] else { return }
    let isTaken =
      try !isRejected
      && others[Int(number)].contains { mapping in
        try mapping.isDecidedByFilter && manager.withSource(for: mapping, key: key) { try mapping.takes($0) }
      }
    if isTaken { return }
    let untaken = try untaken ?? TableTally(plan, table: table)
    self.untaken = untaken
    try untaken.leave(row, isRejected: isRejected)
  }

  /// Whether rows may have something that nobody carries.
  var looksForLost: Bool { !splitNumbers.isEmpty }

  /// Counts what of the decoded row nobody carries; `taken` are the mappings of this pass that took it.
  func countLost(_ key: Int64, taken: [Int], manager: StepObjects) throws {
    guard let number = row.integer(entityPosition).map({ Int($0) }), splitNumbers.contains(number), isFirst[number],
      let splits = plan.splits
    else { return }
    func takes(_ index: Int) throws -> Bool {
      if taken.contains(index) { return true }
      let mapping = plan.mappings[index]
      guard others[number].contains(where: { $0 === mapping }) else { return false }
      // Whether a policy in another pass takes it is not known.
      return try !mapping.isDecidedByFilter || manager.withSource(for: mapping, key: key) { try mapping.takes($0) }
    }
    guard try plan.mappingsByEntity[number].contains(where: takes) else { return }
    for path in try splits.lost(row, number: number, takes: takes) { lost[path, default: 0] += 1 }
  }

  @inline(__always)
  private func migrate(_ row: Int, key: Int64, way: Way, to output: RecordPage) throws -> Bool {
    if let recipe = way.recipe {
      return recipe._withUnsafeGuaranteedRef {
        $0.append(locator, to: output, table: way.table, rowid: key &+ way.offset)
      }
    }
    return try way.rules?._withUnsafeGuaranteedRef { try $0.migrate(key, row: row) } ?? false
  }

  /// The ways of rows of an entity, by Z_ENT; nil for an entity that the table does not hold.
  @inline(__always)
  func ways(_ number: Int64?) -> UnsafeMutableBufferPointer<Way>? {
    guard let number, number > 0, number < Int64(ways.count) else { return nil }
    return ways[Int(number)]
  }

  /// Adds what was migrated since the last call to the step's counts.
  func count(into state: inout StepState) {
    for index in kept.indices where kept[index] > 0 {
      state.counts[index].read += kept[index]
      state.counts[index].kept += kept[index]
      kept[index] = 0
    }
    untaken?.take(into: &state.tallies[0])
    guard !lost.isEmpty else { return }
    state.tallies[0].add(lost: lost)
    lost = [:]
  }
}

extension TableTally {
  /// Prepares for a table that a step reads.
  fileprivate convenience init(_ plan: StepPlan, table: Int) throws {
    try self.init(plan.binding, table: table, plan.conversions, goneTargets: plan.goneTargets)
  }
}
