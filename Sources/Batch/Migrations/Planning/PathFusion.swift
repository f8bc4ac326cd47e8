import CoreDataModel
import CoreDataStore
import MappingModels

/// Joins consecutive steps in one pass, wherever that gives the same store, to the byte, as one step after the other.
///
/// A pass has stages. Of steps whose values can be followed back, one stage is made (``MappingComposition``); the next
/// stage sees the rows of the version before, which are made on the way (``PassedStep``).
struct PathFusion {
  /// Versions between that a pass may see: each takes memory for rows.
  private static let mostPassed = 4

  /// The steps, some of them made of several.
  private(set) var steps: [MigrationStep] = []
  /// Why consecutive steps stay apart.
  private(set) var notes: [String] = []

  private let path: [MigrationStep]
  private let composed: ComposedPath
  /// All versions of the path.
  private let versions: [VersionLayout]
  /// The pass at hand: its stages, the last of which may still grow, and the steps that each is made of.
  private var stages: [(step: MigrationStep, steps: Range<Int>)] = []
  private var stretch: Stretch?
  /// Whether the step at hand has an account of its own: ``losesApart(_:)``.
  private var isApart = false
  /// A thing that the store has beyond its model: one mapping carries it by the store's version and the last one, but
  /// where a pass makes rows of versions between, nobody says what becomes of it there.
  private var stranger: String?

  /// Steps that become one pass.
  private struct Stretch {
    let first: Int
    var composition: MappingComposition
  }

  /// Prepares a path for a store. Custom stages stay steps of their own. Throws `badModel`.
  init(
    _ path: [MigrationStep], composed: ComposedPath, source: StoreBinding, schema: StoreSchema, isStaged: Bool
  ) throws {
    self.composed = composed
    (self.path, versions) = (path, [VersionLayout(source.layout)] + path.map { VersionLayout($0.destination) })
    guard path.count > 1 else {
      steps = path
      return
    }
    if let trigger = schema.rows.first(where: { $0.type == "trigger" }) {
      steps = path
      notes = [
        "each step takes a pass of its own, because the store has the trigger \(trigger.name), which every version may drop"
      ]
      return
    }
    stranger = Self.stranger(in: schema, source)
    for (index, step) in path.enumerated() {
      if isStaged, !step.isInferred {
        if index > 0 { note(step, "takes a pass of its own, because it is a custom stage") }
        closePass(before: index)
        steps.append(step)
      } else {
        try add(step, index)
      }
    }
    closePass(before: path.count)
  }

  private mutating func note(_ step: MigrationStep, _ text: String) {
    notes.append("\(step.source.name) to \(step.destination.name) \(text)")
  }

  private mutating func add(_ step: MigrationStep, _ index: Int) throws {
    let wasApart = isApart
    isApart = losesApart(step)
    if let stretch, !wasApart, !isApart, let longer = try composition(from: stretch.first, to: index),
      stretch.composition.goesOn(as: longer)
    {
      self.stretch?.composition = longer
      return
    }
    closeStretch(before: index)
    if let reason = try reasonToEnd(before: index) {
      note(step, "needs another pass, because \(reason)")
      closePass(before: index)
    }
    if let composition = try composition(from: index, to: index) {
      stretch = Stretch(first: index, composition: composition)
    } else {
      stages.append((step, index..<index + 1))
    }
  }

  /// Whether a step loses values that the account of several would not show as lost.
  private func losesApart(_ step: MigrationStep) -> Bool {
    step.isInferred && step.source.hasComposites && AccountLines(step).emptiesComposites
  }

  /// The composition of the steps from one to another, which follows the stretch at hand; nil if there is none.
  private func composition(from first: Int, to index: Int) throws -> MappingComposition? {
    guard first > 0 else { return composed.after(index + 1) }
    var composition = first == index ? nil : stretch?.composition
    if composition == nil { composition = try MappingComposition(versions[index]) }
    let mappings = path[index].mappingModels.flatMap(\.entityMappings)
    guard (try? composition?.append(mappings, to: versions[index + 1])) != nil else { return nil }
    return composition
  }

  /// Why the pass at hand cannot continue with a step after its last one; nil if it can.
  private func reasonToEnd(before index: Int) throws -> String? {
    guard let (last, range) = stages.last else { return nil }
    if let stranger { return "the store has \(stranger)" }
    let next = try path[index].isInferred ? passed(path[index], index..<index + 1) : nil
    if let obstacle = try passed(last, range).obstacle(before: next) {
      return "in \(last.source.name) to \(last.destination.name) \(obstacle)"
    }
    return stages.count > Self.mostPassed ? "the pass before it spans \(Self.mostPassed) versions already" : nil
  }

  private func passed(_ step: MigrationStep, _ range: Range<Int>) throws -> PassedStep {
    try PassedStep(
      step.mappingModels.flatMap(\.entityMappings), from: versions[range.lowerBound].layout(),
      to: versions[range.upperBound].layout())
  }

  private mutating func closeStretch(before end: Int) {
    guard let closed = stretch else { return }
    stretch = nil
    let range = closed.first..<end
    guard range.count > 1 else { return stages.append((path[closed.first], range)) }
    let (first, last) = (path[closed.first], path[end - 1])
    let mapped = Self.mapped(path[range])
    var model = MappingModel(
      name: mapped.isEmpty ? "inferred" : mapped.joined(separator: " and "),
      entityMappings: closed.composition.entityMappings())
    (model.sourceModelName, model.destinationModelName) = (first.source.name, last.destination.name)
    model.sourceHashes = first.mappingModels.reduce(into: [:]) { $0.merge($1.sourceHashes) { first, _ in first } }
    model.destinationHashes = last.mappingModels.reduce(into: [:]) {
      $0.merge($1.destinationHashes) { first, _ in first }
    }
    var step = MigrationStep(
      source: first.source, destination: last.destination, mappingModels: [model], isInferred: mapped.isEmpty,
      reason: Self.reason(path[range]))
    step.isHistory = path[range].allSatisfy(\.isHistory)
    step.isComposed = true
    stages.append((step, range))
  }

  private mutating func closePass(before end: Int) {
    closeStretch(before: end)
    guard let first = stages.first, let (last, _) = stages.last else { return }
    let joined = path[first.steps.lowerBound..<end]
    var whole = last
    if joined.count > 1 {
      whole = MigrationStep(
        source: last.source, destination: last.destination, mappingModels: last.mappingModels,
        isInferred: last.isInferred,
        reason: Self.reason(joined), passedVersions: joined.dropFirst().map(\.source.name),
        passed: stages.dropLast().map(\.step))
      (whole.isHistory, whole.isComposed) = (last.isHistory, last.isComposed)
    }
    steps.append(whole)
    stages = []
  }

  private static func mapped(_ steps: ArraySlice<MigrationStep>) -> [String] {
    steps.filter { !$0.isInferred }.flatMap(\.mappingModels).map(\.name)
  }

  private static func reason(_ steps: ArraySlice<MigrationStep>) -> String {
    let mapped = mapped(steps)
    guard !mapped.isEmpty else { return "\(steps.count) steps that can be inferred, in one pass" }
    let inference = steps.contains(where: \.isInferred) ? " and inference" : ""
    return "\(steps.count) steps in one pass, by \(mapped.joined(separator: ", "))\(inference)"
  }

  /// A table of other code, or a view.
  private static func stranger(in schema: StoreSchema, _ binding: StoreBinding) -> String? {
    var own = Set(StoreLayout.fixedTables.map { NameOrder.folded($0.name) })
    own.formUnion(binding.tables.map { NameOrder.folded($0.schema.name) })
    own.formUnion(binding.joins.map { NameOrder.folded($0.schema.name) })
    // SQLite's statistics are left out by every step.
    let table = schema.rows.first {
      $0.type == "table" && !own.contains(NameOrder.folded($0.name)) && !$0.name.hasPrefix("sqlite_stat")
    }
    guard let found = table ?? schema.rows.first(where: { $0.type == "view" }) else { return nil }
    return FrameworkTables.isHistory(NameOrder.folded(found.name))
      ? "persistent history (\(found.name)), which each step carries"
      : "the \(found.type) \(found.name), which no model knows"
  }
}
