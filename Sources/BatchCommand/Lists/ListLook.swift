import Batch
import Foundation

extension ListRun {
  /// What a command that looks at results, or clears up, does not see by itself.
  func look(_ entry: Manifest.Entry, _ result: inout ListResult) {
    switch words.verb[0] {
    case "report":
      result.showImport(entry)
      fallthrough
    case "status":
      result.distinguishStore(entry)
      guard let found = kept.find(entry) else { return }
      if found.isWaiting, [.nothing, .waiting].contains(result.tone) {
        result.waitForTurn()
      } else if found.isLast(beside: result) {
        result.take(found)
      } else if result.tone == .waiting || result.tone == .failed {
        result.goOn(by: found)
      }
    case "rollback": result.tellWhyNothingIsBack(entry, kept.find(entry))
    case "clean":
      guard let found = kept.find(entry) else { return }
      let isDry = words.line.contains("--dry-run")
      guard isDry || (try? kept.forget(found.target)) != nil, result.state == ListState.nothingToRemove else { return }
      result.state = isDry ? ListState.wouldBeCleaned : ListState.cleaned
      (result.tone, result.detail) = (.done, "what \(isDry ? "is" : "was") known of its last attempt")
    default: return
    }
  }
}

extension ListResult {
  /// Where no store was replaced, none can be put back: that is no failure.
  fileprivate mutating func tellWhyNothingIsBack(_ entry: Manifest.Entry, _ kept: KeptResult?) {
    guard exitCode == BatchError.Code.refused.exitCode,
      let found = MigrationJob(policies: Program.policies).withoutBackup(entry.target)
    else { return }
    switch found {
    case .rolledBack: state = StandingDocument.rolledBack
    case _ where kept.map({ ListState.isUnchanged($0.state) }) == true:
      (state, detail) = (ListState.unchanged, "nothing to roll back")
    case .beside: (state, detail) = ("nothing was replaced", "the result is a file of its own")
    case .unfinished(let run):
      let what = run == .failed ? "its migration failed before" : "its migration is not finished"
      (state, detail) = ("nothing was replaced", what)
    case .gone: return
    case .unknown where (try? MigrationJob().importStatus(entry.target)) ?? nil != nil:
      (state, detail) = ("nothing was replaced", "an import that is not finished makes it")
    case .unknown:
      state = ListState.noneIsKnown
      return distinguishStore(entry)
    }
    (exitCode, tone, error, hint, effect, next) = (0, .nothing, nil, nil, nil, nil)
  }

  /// The list is at work, and will come to it.
  fileprivate mutating func waitForTurn() {
    (exitCode, state, tone, detail) = (ExitCodes.leaseHeld, ListState.waiting, .running, nil)
    (error, hint, effect, next) = (nil, nil, nil, nil)
  }

  /// An import has no report, and stands all the same.
  fileprivate mutating func showImport(_ entry: Manifest.Entry) {
    guard state == ListState.noneIsKnown,
      (try? MigrationJob(policies: Program.policies).importStatus(entry.target)) ?? nil != nil,
      let status = try? StoreLook.seen(MigrationJob(policies: Program.policies), entry.target)
    else { return }
    let isRunning = status.state == .running
    (state, tone) = (status.state.rawValue, isRunning ? .running : .waiting)
    exitCode = isRunning ? ExitCodes.leaseHeld : ExitCodes.stopped
    detail = status.problems.first
    if let code = status.resumeRefusal { (exitCode, state, tone) = (code, ExitCodes.name(code), .failed) }
    (error, hint, effect, next) = (nil, nil, nil, status.advice.flatMap { Self.advised([$0]) })
  }

  /// The status is asked of the output: that one may be missing where the store is there.
  fileprivate mutating func distinguishStore(_ entry: Manifest.Entry) {
    let none = ListState.noneIsKnown
    guard exitCode == BatchError.Code.noSuchFile.exitCode || state == none else { return }
    guard !FileManager.default.fileExists(atPath: entry.store) else {
      (exitCode, state, tone) = (ExitCodes.nothingToDo, none, .nothing)
      (error, hint, effect, next) = (nil, nil, nil, nil)
      return
    }
    let missing = NearName.noSuchFile(entry.store)
    (exitCode, state, tone) = (missing.exitCode, ExitCodes.name(missing.exitCode), .failed)
    (error, hint) = (missing.message, missing.hint)
  }
}
