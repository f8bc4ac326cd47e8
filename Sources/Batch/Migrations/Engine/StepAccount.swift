import CoreDataModel
import CoreDataStore
import MappingModels
import RunSupport

/// What became of the rows of one step (I12): every object that was read is written, or left out by a rule that has a
/// name.
public struct StepAccount: Sendable, Codable, Equatable {
  /// The objects of one entity mapping.
  public struct Objects: Sendable, Codable, Equatable {
    /// The entity mapping.
    public var mapping: String
    /// Its source entity.
    public var source: String
    /// Its destination entity.
    public var destination: String
    /// Source objects that it was given.
    public var read: UInt64
    /// Of them, those whose object is written.
    public var written: UInt64
    /// Of them, those that ``rule`` left out.
    public var leftOut: UInt64
    /// Of them, those that could not be migrated, see ``RejectLimit``.
    public var rejected: UInt64 = 0
    /// Who leaves out objects: a filter, a policy, or a choice of parts; nil if nobody does.
    public var rule: String?
    /// Of those that were left out, how many each removal of a mapping file removed, if it has several.
    public var removed: [Removed]?
  }

  /// Objects that one removal of a mapping file removed.
  public struct Removed: Sendable, Codable, Equatable {
    /// Why, or which ones where nobody said why.
    public var reason: String
    /// How many.
    public var count: UInt64
  }

  /// The references or links of one relationship.
  public struct Links: Sendable, Codable, Equatable {
    /// `Entity.relationship`, of the destination.
    public var relationship: String
    /// Links that the source has; 0 of references in the rows of an entity, which are not counted.
    public var read: UInt64 = 0
    /// Links that policies, rules and expressions made; with those that were read they are what is written, left out,
    /// repeated or cleared.
    public var made: UInt64 = 0
    /// Links in the new store; 0 of references.
    public var written: UInt64 = 0
    /// Links that were left out with one of their objects, by a filter.
    public var leftOut: UInt64 = 0
    /// Links that were made although they were there already; they are there once.
    public var repeated: UInt64 = 0
    /// References that became NULL because their object was left out or rejected, and links that were left out because a
    /// policy left out the object, or it was rejected.
    public var cleared: UInt64
    /// Whether the model asks for an object there, and some have none now; nil if it does not, or all have one.
    public var isMissed: Bool?
  }

  /// Version before the step.
  public var source: String
  /// Version after it.
  public var destination: String
  /// In the order of the plan; where steps share a pass, those of the last one first.
  public var objects: [Objects]
  /// Where steps share a pass, how many of ``objects`` are of each of them, the last one first; nil for one step.
  public var passes: [Int]?
  /// Source objects that no entity mapping names.
  public var unmapped: UInt64
  /// Objects that policies and rules created in addition, by the root entity of their table.
  public var made: [String: UInt64] = [:]
  /// Of relationships with a table of their own, and of those with cleared references.
  public var links: [Links]
  /// Everything in the version before, and in those between, and what became of it.
  public var versions: [VersionAccount] = []
}

extension StepAccount {
  /// What the first step of a pass was given.
  package var firstObjects: ArraySlice<Objects> { objects.suffix(passes?.last ?? objects.count) }
  /// What the last step of a pass wrote.
  package var lastObjects: ArraySlice<Objects> { objects.prefix(passes?.first ?? objects.count) }

  /// The account of a step whose tables are complete. Reads what of the source nobody has read.
  package init(_ state: StepState, _ plan: StepPlan) throws {
    (source, destination) = (plan.step.origin.name, plan.step.destination.name)
    let counted = try VersionCount(plan, state)
    (versions, unmapped) = (counted.accounts, state.unmapped &+ counted.unread)
    let removals = try RemovalCount(plan, state).counts
    objects = zip(plan.allMappings, state.counts).enumerated().map { index, pair in
      let (mapping, counts) = pair
      let rejected = state.rejects.mappings.indices.contains(index) ? state.rejects.mappings[index] : 0
      return Objects(
        mapping: mapping.mapping.name, source: mapping.source.name, destination: mapping.destination.name,
        read: counts.read, written: counts.kept, leftOut: counts.dropped &- rejected, rejected: rejected,
        rule: Self.rule(mapping.mapping), removed: removals[index].map { Self.removed(mapping.mapping, $0) })
    }
    if plan.passed != nil { passes = plan.mappingsOfPasses }
    links = Self.links(state, plan)
    for (table, layout) in plan.layout.entityTables.enumerated() {
      let count = state.nextKeys[table] &- plan.keys.firstNewKeys[table]
      if count > 0 { made[layout.rootEntity] = UInt64(count) }
    }
  }

  private static func links(_ state: StepState, _ plan: StepPlan) -> [Links] {
    var links = plan.layout.joinTables.enumerated().map { index, join in
      let counts = state.links.indices.contains(index) ? state.links[index] : StepState.Counts()
      let name = join.relationship.description
      let table = plan.layout.entityTables.count + index
      let all = UInt64(clamping: state.nextKeys[table] &- plan.keys.firstNewKeys[table])
      return Links(
        relationship: name, read: counts.read, made: all &- counts.kept, written: state.tableRows[table],
        leftOut: counts.dropped, repeated: state.repeated[name] ?? 0, cleared: state.lost[name] ?? 0)
    }
    let known = Set(links.map(\.relationship))
    links += state.lost.filter { !known.contains($0.key) }.sorted { $0.key < $1.key }.map {
      Links(relationship: $0.key, cleared: $0.value)
    }
    let model = plan.layout.model
    for index in links.indices
    where links[index].cleared > 0 && model.relationship(at: links[index].relationship)?.isOptional == false {
      links[index].isMissed = true
    }
    return links
  }

  private static func removed(_ mapping: EntityMapping, _ counts: [UInt64]) -> [Removed] {
    zip(mapping.removals, counts).map { Removed(reason: $0.reason ?? $0.predicate, count: $1) }
  }

  private static func rule(_ mapping: EntityMapping) -> String? {
    if mapping.isSkipped { return "\(mapping.name), which was skipped" }
    if mapping.isFilteredByRemovals, mapping.policyClassName == nil || mapping.rules != nil {
      return mapping.removalReason.map { "remove: \($0)" } ?? "remove in \(mapping.name)"
    }
    let rules = [mapping.filterPredicate.map { _ in "the filter of \(mapping.name)" }, mapping.policyClassName]
      .compactMap { $0 }
    return rules.isEmpty ? nil : rules.joined(separator: " or ")
  }

  /// What did not arrive, and why.
  package var notes: [String] {
    var notes = sources.filter { $0.leftOut > 0 }.flatMap { objects in
      let shares = objects.removed?.map { ($0.count, "remove: \($0.reason)") }
      return (shares ?? [(objects.leftOut, objects.rule ?? objects.mapping)]).filter { $0.0 > 0 }.map { count, rule in
        "\(count.grouped) of \(objects.read.counted("object")) of \(objects.source) "
          + "\(count.verb("was", "were")) left out by \(rule)"
      }
    }
    for object in objects where object.rejected > 0 {
      let (count, read) = (object.rejected, object.read)
      notes.append(
        "\(count.grouped) of \(read.counted("object")) of \(object.source) \(count.verb("was", "were")) rejected")
    }
    let also = objects.contains { $0.rejected > 0 } ? " or rejected" : ""
    func others(_ link: Links, _ count: UInt64) -> String {
      let lines = versions.last?.lines.filter { $0.to.contains(link.relationship) } ?? []
      let isUnfit = lines.contains { ($0.unfit ?? 0) > 0 }
      return isUnfit ? ", or \(count.verb("does", "do")) not belong there any more" : ""
    }
    for link in links where link.leftOut > 0 {
      notes.append(
        "\(link.leftOut.grouped) of \(link.read.counted("link")) of \(link.relationship) "
          + "\(link.leftOut.verb("was left out with its object", "were left out with their objects"))"
          + others(link, link.leftOut)
      )
    }
    for link in links where link.cleared > 0 {
      notes.append(
        "\(link.cleared.counted("reference")) of \(link.relationship) \(link.cleared.verb("was cleared: its object was", "were cleared: their objects were")) left out\(also)"
          + others(link, link.cleared) + link.missing
      )
    }
    return notes + versions.flatMap(\.notes)
  }

  /// The sums in words.
  public var summary: String {
    func sum(_ numbers: [UInt64]) -> UInt64 { numbers.reduce(0, &+) }
    func all(_ count: (Objects) -> UInt64) -> UInt64 { sum(sources.map(count)) }
    var parts = [
      "\((all(\.read) &+ unmapped).counted("object")) read", "\(all(\.written).grouped) written",
      "\((all(\.leftOut) &+ unmapped).grouped) left out", "\(all(\.rejected).grouped) rejected",
    ]
    if !made.isEmpty { parts.append("\(sum(Array(made.values)).grouped) created") }
    if !links.isEmpty {
      let (written, leftOut) = (sum(links.map(\.written)), sum(links.map(\.leftOut)))
      parts.append("\(written.counted("link")) written, \(leftOut.grouped) left out")
      let cleared = links.reduce(0) { $0 &+ $1.cleared }
      if cleared > 0 { parts.append("\(cleared.grouped) cleared") }
    }
    return "\(source) to \(destination): \(parts.joined(separator: ", "))"
  }
}

extension StepAccount.Links {
  fileprivate var missing: String {
    isMissed == true ? ". The model requires one: Core Data refuses to save such objects until they have it" : ""
  }
}
