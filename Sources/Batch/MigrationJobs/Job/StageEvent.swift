import CoreDataModel
import Migrations
import RunSupport

/// What the handler of a ``MigrationJob`` gets of a custom stage of a ``StagedMigration``, as NSCustomMigrationStage tells its
/// `willMigrateHandler` and `didMigrateHandler`.
///
/// The store is finished, but before the last step it has no indexes, and after it, nothing is verified yet. It is there to be read: a
/// handler that changes it ends the run. What has to be changed belongs into a policy. A handler may be called again for the same stage
/// when a run is resumed.
public struct StageEvent: Sendable {
  /// When a handler is called.
  public enum Moment: String, Sendable {
    /// Before the first object of the stage is migrated.
    case willMigrate
    /// After the last one.
    case didMigrate
  }

  /// When it is called.
  public var moment: Moment
  /// The version before the stage.
  public var source: ManagedObjectModel
  /// The version after the stage.
  public var destination: ManagedObjectModel
  /// The path of the store: before the stage its input, which at first is the source itself; after the stage its result.
  public var store: String
}

/// Is called before and after every custom stage. An error that it throws ends the run, which can be resumed.
public typealias StageHandler = @Sendable (StageEvent) throws -> Void

extension MigrationRun {
  /// Calls the handler of a custom stage. A run does not continue with a store that it changed.
  func tell(_ moment: StageEvent.Moment, _ step: MigrationStep, store: String) throws {
    guard let stageHandler, plan.stages != nil, !step.isInferred else { return }
    let stage = "\(step.source.name) to \(step.destination.name)"
    let before = try fileSystem.status(store)
    let resume = ProgramName.command("resume", plan.destination)
    let giveUp = ProgramName.command("clean", "--all", plan.destination)
    do {
      try stageHandler(StageEvent(moment: moment, source: step.source, destination: step.destination, store: store))
    } catch let error as BatchError { throw error } catch {
      throw BatchError(
        .policyFailed, "the \(moment) handler of the stage \(stage) failed",
        hint: "Mend its cause, then go on with \(resume)", next: [resume.line], path: store, cause: error)
    }
    guard try fileSystem.status(store) == before else {
      throw BatchError(
        .policyFailed, "the \(moment) handler of the stage \(stage) changed the store",
        hint: "Change objects in a policy, and give this run up with \(giveUp)", next: [giveUp.line], path: store)
    }
  }
}
