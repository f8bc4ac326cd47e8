import CoreDataModel
import CoreDataStore
import Foundation
import MappingModels
import RunSupport
import Streams

/// What a migration of a store would do: the path, its mapping models in the order in which they run, rows and bytes.
public struct MigrationPlan: Sendable {
  /// Rows of an entity in the source.
  public struct EntityRows: Sendable, Equatable {
    /// The entity.
    public var entity: String
    /// Its Z_ENT.
    public var number: Int
    /// Objects of exactly this entity.
    public var rows: UInt64
  }

  /// The store.
  public var source: String
  /// The version found by the store's hashes.
  public var sourceVersion: ManagedObjectModel
  /// The version to reach.
  public var targetVersion: ManagedObjectModel
  /// Which version follows which, by checksums; nil if the bundles or stages say it.
  package var successors: [String: String]?
  /// Steps; empty when nothing is to be done. The mapping models of a step stand in the order in which they run.
  public var steps: [MigrationStep]
  /// The independent parts of every step, with the proof.
  public var splits: [MappingSplit]
  /// Rows of the source by entity, in Z_ENT order.
  public var rows: [EntityRows]
  /// Everything in the versions of the path but the last one, and what becomes of it; counted where ``rows`` are.
  public var accounts: [VersionAccount] = []
  /// Bytes of the source's database, its log included.
  public var bytes: UInt64
  /// Bytes that the destination's file system must have free at the peak.
  public var diskNeeded: UInt64
  /// What a person should know before running it.
  public var notes: [String]
  /// The steps before some of them were made one.
  package var path: [MigrationStep] = []
  /// How stores that take the same steps look; nil where each is looked at by itself.
  package var looks: Memo<StepsLook.Key, StepsLook>?
  /// Where the tables of the source's version are; nil before they were looked for.
  package var binding: StoreBinding?
  /// The moment that the plan takes for now, in seconds since 2001.
  package var now: Double = 0
  /// Where inference past versions and version by version give other values; the notes say it, too.
  public var differences: [InferenceDifference] = []
  /// Seconds that counting rows took, which a run does not do.
  package var countingSeconds = 0.0
  /// Seconds that the rest of the plan took when it was made: a run in a new process takes them once more.
  package var planningSeconds = 0.0
  /// The database that a mapping file which leads to the target version names for the result.
  public var destination: LoadDestination?

  /// True when the store already has the target version.
  public var isUpToDate: Bool { steps.isEmpty }
}

/// Where a migration leads.
public enum MigrationTarget: Sendable, Equatable, Codable {
  /// The current version of the bundle that holds the source's version.
  case current
  /// The version of that name.
  case version(String)
  /// The source's own version: every row is written again, and all that the model does not know is kept.
  case identity
}

/// Makes plans. Read-only (trap 1).
public struct MigrationPlanner: Sendable {
  private(set) var library: ModelLibrary
  let mappings: [MappingModel]
  let policies: PolicyRegistry
  let order: VersionOrder
  let fuses: Bool
  private let parts: PartSelection
  let inference: InferencePath?
  let fromTables: Bool
  /// The version that made the tables, where they fit several.
  let first: String?
  private let now: Double
  /// Mapping models of an application that cannot be read.
  package var unread: UnreadMappings?

  /// Uses these models, mapping models and policies. `order` says which version follows which. With `fuses`, steps that
  /// can be inferred are made in one pass where the result is the same. `parts` says which parts of the steps are made.
  /// `inference` says whether consecutive inferred steps are made as they are, or as one past the versions between; nil
  /// for what loses no value that the other keeps. Stages are passed as they are. With `fromTables` a store's version is
  /// the one that its tables fit, where its metadata contradict them; of several it is the one named `first`, or the
  /// first that `order` lists. `now` is the moment of the migration, in seconds since 2001.
  public init(
    library: ModelLibrary, mappings: [MappingModel], policies: PolicyRegistry, order: VersionOrder = .names,
    fuses: Bool = true, parts: PartSelection = PartSelection(), inference: InferencePath? = nil,
    fromTables: Bool = false, first: String? = nil, now: Double = Date().timeIntervalSinceReferenceDate.rounded()
  ) {
    (self.library, self.mappings, self.policies, self.order) = (library, mappings, policies, order)
    (self.fuses, self.parts, self.inference) = (fuses, parts, inference)
    (self.fromTables, self.now) = (fromTables, now)
    if case .list(let names) = order { self.first = first ?? names.first } else { self.first = first }
  }

  /// Plans the migration of a store.
  ///
  /// `countsRows` may be false if nobody wants to know: counting reads the whole store. `checksValues` may be false
  /// where it was done before: whether an inferred step would leave required attributes without value is found by
  /// reading rows.
  ///
  /// - Throws: ``BatchError``: `noModel`, `noPath`, `badMapping`, `missingPolicy`, `refused`, `badStore`.
  public func plan(
    _ reader: StoreReader, target: MigrationTarget, countsRows: Bool = true, checksValues: Bool = true
  ) throws -> MigrationPlan {
    try BatchError.border {
      var planner = self
      planner.library = EvaluatedDefaults(store: reader.metadata.uuid, now: now).applied(to: library)
      let unknown = target == .identity || fromTables ? nil : library.unknownVersion(reader)
      do {
        var plan = try planner.planned(reader, target: target, countsRows: countsRows, checksValues: checksValues)
        plan.now = now
        plan.notes = (unknown.map { [$0 + "; the store's own model takes its place"] } ?? []) + plan.notes
        plan.notes += [StoreModel.doubt(reader, in: library)].compactMap { fromTables ? nil : $0 }
        if library.hasEvaluatedDefaults {
          plan.notes += EvaluatedDefaults.notes(
            plan.path, versions: library.versions, applied: planner.library.versions)
        }
        return plan
      } catch var error as BatchError where [.noPath, .badMapping].contains(error.code) && unknown != nil {
        error.message += "\n" + (unknown ?? "")
        if error.code == .badMapping, error.hint == nil { planner.advise(&error, from: reader, to: target) }
        throw error
      }
    }
  }

  private func planned(
    _ reader: StoreReader, target: MigrationTarget, countsRows: Bool, checksValues: Bool
  ) throws -> MigrationPlan {
    let (found, assumption) = try source(of: reader)
    let destination = try self.destination(target, from: found)
    // Rules of the caller are asked once.
    let successors = target == .identity ? nil : try order.successors(in: library)
    let key = target == .identity ? nil : pathKey(from: found, to: destination, successors)
    let chosen = try readPath(from: found, to: destination, target: target, successors: successors, key: key)
    let source = chosen.steps.first?.source ?? found  // Of several with the store's hashes.
    let renewal = chosen.steps.isEmpty ? try renewal(from: source, to: destination, of: reader, assumption) : nil
    var steps = renewal.map { [$0] } ?? chosen.steps
    markHistory(&steps, source: source, successors: successors)
    steps = try ordered(steps)
    let binding = try StoreBinding(reader, model: source)
    let prepared = try prepared(
      steps, renewal == nil ? key : nil, reader: reader, binding: binding, checksValues: checksValues)
    let values = try prepared.requirements?.check(reader, binding, in: library) ?? []
    let path = steps
    steps = try parts.applied(to: prepared.steps, policies: policies)
    try Self.requireLayouts(steps)
    try prepared.constraints?.check(reader, binding)
    let splits = try (parts.isAll ? prepared.splits : nil) ?? steps.map { try MappingSplit($0, policies: policies) }
    let begin = ContinuousClock.now
    let accounts = try PlanAccounts(steps, reader: reader, binding: binding, counts: countsRows)
    let counting = countsRows ? (ContinuousClock.now - begin) / .seconds(1) : 0
    let bytes = UInt64(reader.snapshot.pageCount) * UInt64(reader.snapshot.geometry.pageSize)
    let notes =
      try assumption + chosen.notes + values + prepared.notes
      + PartSelection.notes(steps, splits, policies: policies) + prepared.renamings
    return MigrationPlan(
      source: reader.path, sourceVersion: source, targetVersion: destination, successors: successors, steps: steps,
      splits: splits, rows: accounts.rows, accounts: accounts.accounts, bytes: bytes,
      // A step's input stays until the next step is done; a quarter more for what steps add, and for sorting.
      diskNeeded: steps.isEmpty ? 0 : bytes * UInt64(min(steps.count, 3)) * 5 / 4 + bytes / 4 + (8 << 20), notes: notes,
      path: path, looks: key == nil || renewal != nil || !parts.isAll ? nil : prepared.looks, binding: binding,
      differences: chosen.differences, countingSeconds: counting, destination: try namedDestination(for: destination))
  }

  /// The steps with their mapping models in order. Throws `missingPolicy` that names all policies which are not known.
  private func ordered(_ steps: [MigrationStep]) throws -> [MigrationStep] {
    // Inferred mappings have no policies.
    guard !steps.allSatisfy(\.isInferred) else { return steps }
    try policies.require(steps.map(\.mappingModels))
    return try steps.map { try MappingOrder(step: $0, policies: policies).ordered() }
  }

  /// A version that no store can have is found now, not when its turn comes. Throws `badModel`.
  private static func requireLayouts(_ steps: [MigrationStep]) throws {
    for step in steps.flatMap({ $0.passed + [$0] }) { _ = try VersionLayout(step.destination).layout() }
    // Nobody asks for others.
    PathFacts.end()
  }

  private func namedDestination(for target: ManagedObjectModel) throws -> LoadDestination? {
    let named = mappings.filter { $0.destination != nil && VersionGraph.leads($0, to: target) }
    if let other = named.first(where: { $0.destination != named[0].destination }) {
      throw BatchError(
        .badMapping, "the mapping models \(named[0].name) and \(other.name) name two destinations for \(target.name)",
        hint: "Leave one of the destinations out")
    }
    return named.first?.destination
  }

  /// What a person can do about the order if no path leads to the target; nil if that is not the trouble.
  package func orderAdvice(_ reader: StoreReader, target: MigrationTarget) -> OrderAdvice? {
    guard order.stages == nil, target != .identity, let (source, _) = try? source(of: reader),
      let destination = try? destination(target, from: source)
    else { return nil }
    let successors = try? order.successors(in: library)
    return OrderAdvice(
      from: source, to: destination, library: library, mappings: mappings, successors: successors, list: order.given)
  }

  func destination(_ target: MigrationTarget, from source: ManagedObjectModel) throws -> ManagedObjectModel {
    switch target {
    case .current: try current(from: source)
    case .version(let name): try library.target(named: name, from: source)
    case .identity: source
    }
  }

  private func current(from source: ManagedObjectModel) throws -> ManagedObjectModel {
    switch order {
    case .list(let names) where !names.isEmpty: try library.target(named: names.last)
    case .stages(let staged): try staged.target(in: library)
    case .names, .identifiers, .list, .successors, .rule: try library.target(named: nil, from: source)
    }
  }

  /// Marks steps that are not of the bundle's history: the first where the store's own model stands in for a version
  /// that is missing, and those that mapping models lead backward, as inference never does.
  private func markHistory(
    _ steps: inout [MigrationStep], source: ManagedObjectModel, successors: [String: String]?
  ) {
    let isKnown = library.model(matching: library.hashes(of: source)) != nil
    if !isKnown, steps.first?.isIdentity == false { steps[0].isHistory = false }
    guard order.stages == nil, steps.contains(where: { !$0.isInferred && !$0.isIdentity }) else { return }
    let graph = VersionGraph(library: library, successors: successors)
    for index in steps.indices where !steps[index].isInferred && !steps[index].isIdentity {
      if graph.precedes(library.key(of: steps[index].destination), library.key(of: steps[index].source)) {
        steps[index].isHistory = false
      }
    }
  }
}
