import Foundation
import RunSupport
import Streams

// What others do on the way of a run.
extension MigrationRun {
  /// Calls the hook of a phase. The work of a phase that it ends is durable, as far as there are checkpoints.
  func reach(_ phase: RunPhase) throws {
    do { try monitor.hooks.reached(phase) } catch let error as BatchError { throw error } catch {
      let resume = ProgramName.command("resume", plan.destination)
      throw BatchError(
        .stopped, "the hook of the phase \(phase.rawValue) ended the run", hint: "Go on with \(resume)",
        next: [resume.line], path: plan.destination, cause: error)
    }
  }

  /// Waits as long as somebody holds the cut-over. The source stays under the run's lock, so that others cannot write
  /// to it; where it could only be locked for reading, a change ends the run.
  func holdCutOver(_ log: JobLog) throws {
    guard try plan.holder(fileSystem) != nil else { return try reach(.beforeCutOver) }
    try log.append("the new store is ready; the cut-over is held")
    monitor.update { $0.begin(RunPhase.waiting) }
    try monitor.waiting {
      while try plan.holder(fileSystem) != nil {
        try monitor.throwIfStopRequested()
        try lease.throwIfReplaced()
        if let modified = try fileSystem.status(plan.source)?.modified, !plan.isSourceTime(modified) {
          try recheckSource()
        }
        Thread.sleep(forTimeInterval: 0.2)
      }
      // A pause that came while it was held holds it on.
      try monitor.throwIfStopRequested()
    }
    try log.append("the cut-over is no longer held")
    try reach(.beforeCutOver)
  }
}
