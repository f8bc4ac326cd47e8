import CoreDataModel
import MappingModels
import RunSupport

/// Chooses how consecutive inferred steps are made: version by version, by inference from the first version to the
/// last, or by one step that takes of both what keeps the store's values.
struct RunInference {
  /// The path, with the steps that were chosen.
  private(set) var steps: [MigrationStep]
  /// Where the ways differ.
  private(set) var differences: [InferenceDifference] = []
  /// Why both ways could not be combined.
  private(set) var notes: [String]

  private let way: InferencePath?

  /// A path that leaves nothing to choose.
  init(steps: [MigrationStep], notes: [String] = []) { (self.steps, self.notes, way) = (steps, notes, nil) }

  /// Looks at a path. Without a way that a person chose, nothing is lost that one of them keeps. Throws `refused` if
  /// inference is to be direct and cannot be.
  init(_ path: [MigrationStep], way: InferencePath?) throws {
    (steps, notes, self.way) = ([], [], way)
    var run: [MigrationStep] = []
    for step in path {
      if step.isInferred, !step.isIdentity {
        run.append(step)
      } else {
        try close(&run)
        steps.append(step)
      }
    }
    try close(&run)
  }

  private mutating func close(_ run: inout [MigrationStep]) throws {
    defer { run = [] }
    guard run.count > 1 else { return steps += run }
    let model: MappingModel
    do { model = try Self.direct(run) } catch var error as BatchError {
      guard way == .direct else { return steps += run }
      error.hint = "Infer version by version, without --path direct, or supply a mapping model"
      error.effect = .nothingWritten
      throw error
    }
    let choice = Self.choice(run, model)
    let best = way ?? choice.bestWay
    if best == nil, let combined = choice.combined {
      var both = model
      both.entityMappings = choice.entityMappings(combined)
      steps.append(
        step(run, model: both, reason: "inferred directly or version by version, whichever keeps the values"))
      return tell(choice, taken: combined, way: .stepwise)
    }
    let taken = best ?? choice.betterWay
    steps += taken == .direct ? [step(run, model: model, reason: "inferred directly, past the versions between")] : run
    tell(choice, taken: choice.entities(taken), way: taken)
    if best == nil, taken == .stepwise {
      notes.append("\(choice.first.name) to \(choice.last.name): no single step can keep all that the two ways keep")
    }
  }

  private static func direct(_ run: [MigrationStep]) throws -> MappingModel {
    let (first, last) = (run[0], run[run.count - 1])
    return try MappingModel.inferred(
      from: first.source, to: last.destination, sourceHashes: first.mappingModels[0].sourceHashes,
      destinationHashes: last.mappingModels[0].destinationHashes)
  }

  private static func choice(_ run: [MigrationStep], _ model: MappingModel) -> InferenceChoice {
    let start = InferredTrail(run[0].source)
    var (direct, stepwise) = (start, start)
    direct.append(model, to: run[run.count - 1].destination)
    for step in run { stepwise.append(step.mappingModels[0], to: step.destination) }
    return InferenceChoice(direct: direct, stepwise: stepwise)
  }

  private func step(_ run: [MigrationStep], model: MappingModel, reason: String) -> MigrationStep {
    MigrationStep(
      source: run[0].source, destination: run[run.count - 1].destination, mappingModels: [model], isInferred: true,
      reason: reason
    )
  }

  private mutating func tell(_ choice: InferenceChoice, taken: InferenceChoice.Entities, way: InferencePath) {
    let found = InferenceDifference.all(choice, taken: taken, otherwise: way)
    differences += found
    notes += found.map(\.text)
  }
}
