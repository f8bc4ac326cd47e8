import MigrationJobs
import RunSupport
import Streams

/// Where the load of a store is, and what leads on from there: what its status says, a second load of the store, and a
/// load that has failed.
struct LoadLife {
  enum Phase: Equatable {
    /// A process is at work.
    case live
    /// It can be resumed.
    case interrupted
    /// Its last process ended with an error that would come again.
    case failed(String)
    /// Its store was written to since it began.
    case changed
  }

  let phase: Phase
  private let folder: LoadFolder

  /// Looks at a load that is there. `isOwn`: the caller has its lease.
  init(_ folder: LoadFolder, _ fileSystem: any FileSystem, isOwn: Bool = false) throws {
    self.folder = folder
    if !isOwn, case .live = try Lease.inspect(folder.job, fileSystem) {
      phase = .live
    } else if (try? folder.read().plan.hasChanged(fileSystem)) == true {
      phase = .changed
    } else {
      phase = folder.failure().map { .failed($0.reason) } ?? .interrupted
    }
  }

  /// What it is, in a sentence.
  var what: String {
    switch phase {
    case .live: "another process loads this store"
    case .interrupted: "an interrupted load of this store exists"
    case .failed(let reason): "the last load of this store ended with an error that would come again (\(reason))"
    case .changed: "the store was written to since its interrupted load began"
    }
  }

  /// What leads on, and the commands of it, the best one first.
  var wayOut: (text: String, next: [AdvisedCommand]) {
    let advice = LoadAdvice(folder)
    let (again, giveUp) = (AdvisedCommand(line: advice.beginningAgainLine), AdvisedCommand(line: advice.givingUpLine))
    switch phase {
    case .live:
      let look = ProgramName.command("status", folder.source)
      return ("\(look) shows how far it is", [look])
    case .interrupted:
      let resume = ProgramName.command("resume", folder.source)
      return ("Continue with \(resume), or give the load up with \(advice.givingUp)", [resume, giveUp])
    case .failed:
      return (
        "Continuing would end with the same error: correct what it names, then begin again: \(advice.beginningAgain)",
        [again]
      )
    case .changed: return ("Begin again: \(advice.beginningAgain)", [again])
    }
  }
}
