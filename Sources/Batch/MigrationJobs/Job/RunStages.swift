import CoreDataModel
import Migrations
import RunSupport

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
