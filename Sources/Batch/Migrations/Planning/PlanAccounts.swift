import CoreDataModel
import CoreDataStore
import Streams

/// What a plan says of everything in the versions of its path, before a row is migrated.
package struct PlanAccounts {
  /// For each version but the last one, in the order of the path.
  package private(set) var accounts: [VersionAccount]
  /// Objects of the store by entity; empty if nothing is counted.
  private(set) var rows: [MigrationPlan.EntityRows] = []

  /// Looks at the steps; with `counts` reads the whole store. What later versions hold is said as far as inferred steps
  /// leave no doubt.
  package init(_ steps: [MigrationStep], reader: StoreReader, binding: StoreBinding, counts: Bool) throws {
    let stages = steps.flatMap { $0.passed + [$0] }
    let lines = stages.map { $0.lines() }
    accounts = lines.map(\.account)
    guard counts else { return }
    let tally = try ContentTally(
      reader, binding: binding, tables: binding.tables.indices, conversions: lines.first?.conversions ?? [])
    rows = binding.layout.entityNames.enumerated().map { index, name in
      MigrationPlan.EntityRows(entity: name, number: index + 1, rows: tally.rows.objects(index + 1))
    }
    guard !stages.isEmpty else { return }
    accounts[0] = try accounts[0].counted(tally, binding, to: stages[0].destination)
    for index in stages.indices.dropFirst() where stages[index - 1].isInferred {
      accounts[index] = accounts[index].following(accounts[index - 1], in: stages[index].source)
    }
  }
}

extension VersionAccount {
  /// The account with the counts that follow from those of the version before, where that step was inferred.
  fileprivate func following(_ before: VersionAccount, in model: ManagedObjectModel) -> VersionAccount {
    var (account, objects) = (self, [String: UInt64?]())
    let counts = CountedLines(before)
    let otherSides = linksOfOtherSides(before, counts, in: model)
    var shared = SharedLinks(model)
    for index in lines.indices where lines[index].holdsData {
      let line = lines[index]
      let sources =
        before.lines.filter { $0.kind == line.kind && $0.to.contains(line.path) }
        + otherSides[model.declared(line), default: []]
      let counting = counts.counting(sources)
      if line.kind == .relationship, let first = shared.first(of: line, at: index, from: counting) {
        account.lines[index].countedAs = first
        continue
      }
      account.lines[index].count = counts.total(of: counting)
      if line.kind == .entity { objects[line.entity] = account.lines[index].count }
      // A value that is required, or one that is new, comes from the model.
      if line.kind == .attribute, let attribute = model.attribute(line.name ?? "", of: line.entity),
        attribute.defaultValue != nil,
        sources.isEmpty || !attribute.isOptional
      {
        account.lines[index].count = objects[line.entity] ?? nil
      }
    }
    for index in shared.parted where account.lines[index].count != 0 { account.lines[index].count = nil }
    return account
  }

  /// By the relationship that links come to: the lines of the version before whose links come to its other side, where the
  /// line that counts them does not come to it itself.
  private func linksOfOtherSides(_ before: VersionAccount, _ counts: CountedLines, in model: ManagedObjectModel)
    -> [String: [AccountLine]]
  {
    let here = CountedLines(self)
    let counting = Dictionary(lines.lazy.filter(\.holdsData).map { ($0.path, model.declared($0)) }) { first, _ in first
    }
    let ends = Dictionary(
      lines.lazy.filter { $0.countedAs != nil }.map { ($0.path, here.counting($0).map(model.declared)) }
    ) { first, _ in first }
    var found: [String: [AccountLine]] = [:]
    for line in before.lines where line.kind == .relationship {
      guard let reached = counts.counting(line)?.to.compactMap({ counting[$0] }) else { continue }
      for end in Set(line.to.compactMap { ends[$0] ?? nil }).subtracting(reached) {
        found[end, default: []].append(line)
      }
    }
    return found
  }
}

extension ManagedObjectModel {
  /// A line's property with the entity that declares it; of another line its path.
  fileprivate func declared(_ line: AccountLine) -> String {
    line.name.map { declared($0, of: line.entity) } ?? line.path
  }
}

/// Links that lay together in the version before, and may lie apart now: one line counts them for all entities that inherit
/// a relationship, if the same becomes of all.
private struct SharedLinks {
  /// What lines must have alike.
  private struct Links: Hashable {
    let declared: String
    /// Nil where the links are kept.
    let fate: AccountLine.Fate?
    let by: String?
    let sources: Set<String>
  }

  private let model: ManagedObjectModel
  private var firsts: [Links: String] = [:]
  /// By the path of a line of the version before, the lines that have a part of its links each.
  private var parts: [String: [Int]] = [:]

  init(_ model: ManagedObjectModel) { self.model = model }

  /// Lines that have a part of the same links each: how many, is not known.
  var parted: [Int] { parts.values.filter { $0.count > 1 }.flatMap { $0 } }

  /// The path of an earlier line about the same links; nil if there is none, and this line counts for itself. `sources` are
  /// the lines of the version before that count them.
  mutating func first(of line: AccountLine, at index: Int, from sources: [AccountLine]?) -> String? {
    let isKept = [.carried, .renamed].contains(line.fate)
    let links = Links(
      declared: model.declared(line), fate: isKept ? nil : line.fate, by: isKept ? nil : line.by,
      sources: Set((sources ?? []).lazy.filter { $0.count != 0 }.map(\.path)))
    if !links.sources.isEmpty, line.narrowed == nil, mayLieTogether(line) {
      if let first = firsts[links] { return first }
      firsts[links] = line.path
    }
    for source in links.sources { parts[source, default: []].append(index) }
    return nil
  }

  /// Links in rows of a join table, or in keys of objects that do not know their owner's entity.
  private func mayLieTogether(_ line: AccountLine) -> Bool {
    guard let name = line.name, let relationship = model.relationship(name, of: line.entity) else { return false }
    return relationship.isToMany && model.otherEnd(of: relationship)?.isToMany != false
  }
}

/// The lines of a version that count for others: links are counted by one of their sides.
private struct CountedLines {
  /// By path.
  private let relationships: [String: AccountLine]
  /// Paths of lines of whose links some do not come to the next version: those of another entity.
  private let parted: Set<String>

  init(_ account: VersionAccount) {
    let lines = account.lines.lazy.filter { $0.kind == .relationship }
    let known = Dictionary(lines.map { ($0.path, $0) }) { first, _ in first }
    relationships = known
    parted = Set(
      lines.filter { $0.isGone && $0.name == known[$0.countedAs ?? ""]?.name }.compactMap(\.countedAs))
  }

  /// What lines count together for the next version; nil where one was not counted, or some of what it counts does not come
  /// there.
  func total(of lines: [AccountLine]?) -> UInt64? {
    lines?.reduce(UInt64?(0)) { sum, line in
      guard let sum, let count = line.count else { return nil }
      return count > 0 && (line.narrowed != nil || parted.contains(line.path)) ? nil : sum + count
    }
  }

  /// The lines that count for some lines, each once; nil where one has none.
  func counting(_ lines: [AccountLine]) -> [AccountLine]? {
    let found = lines.map(counting)
    var known: Set<String> = []
    return found.contains { $0 == nil } ? nil : found.compactMap { $0 }.filter { known.insert($0.path).inserted }
  }

  /// The line that counts for a line, which may be itself.
  func counting(_ line: AccountLine) -> AccountLine? {
    var (line, hops) = (line, 0)
    while let other = line.countedAs, hops < 3 {
      guard let next = relationships[other] else { return nil }
      (line, hops) = (next, hops + 1)
    }
    return line
  }
}
