import Batch
import Foundation

/// How the last attempt at a store of a list ended, where no run on the disk says it: it was refused, failed before its
/// first row, was not begun, or needed nothing.
struct KeptResult: Codable, Equatable {
  private static let longestText = 4096
  private static let longestLine = 32 << 10
  private static let thisProcess = LeaseOwner.current(epoch: 0)

  var format = 1
  /// Whole paths.
  var store: String
  var target: String
  /// When it ended, ISO 8601, UTC.
  var time: String
  var exitCode: Int32
  var state: String
  var error: String?
  var hint: String?
  var effect: String?
  var next: [String]?
  /// The process that works on the list, of a store that it has not begun.
  var owner: LeaseOwner?
  /// The list's command: its program, its verb, what was typed behind it, and the folder that it ran in.
  var program: String?
  var verb: String
  var line: [String]
  var folder: String

  init(_ result: ListResult, of entry: Manifest.Entry, by words: ListWords, at time: Date = Date()) {
    (store, target) = (Manifest.whole(entry.store), Manifest.whole(entry.target))
    (exitCode, state, self.time) = (result.exitCode, result.state, time.ISO8601Format())
    func short(_ text: String?) -> String? { text.map { String($0.prefix(Self.longestText)) } }
    (error, hint, effect) = (short(result.error), short(result.hint), result.effect)
    next = result.next?.filter { $0.utf8.count <= Self.longestText }
    owner = result.state == ListState.notBegun ? Self.thisProcess : nil
    (program, verb, folder) = (ProgramName.current, words.verb[0], FileManager.default.currentDirectoryPath)
    line = words.line.reduce(0) { $0 + $1.utf8.count } <= Self.longestLine ? words.line : []
  }

  /// Nil if the command was too long to keep.
  var words: ListWords? { line.isEmpty ? nil : ListWords(verb: verb, line: [verb] + line) }

  var tone: ListState.Tone {
    switch exitCode {
    case 0: .done
    case ExitCodes.stopped: .waiting
    default: .failed
    }
  }

  /// Whether the list is at work, and will come to the store.
  var isWaiting: Bool { owner.map { $0.isOnThisMachine && $0.isRunning } ?? false }

  var date: Date { (try? Date(time, strategy: .iso8601)) ?? .distantPast }
}

extension KeptResult {
  /// Whether it says more of the store than what the disk shows: no run has come since.
  func isLast(beside shown: ListResult) -> Bool {
    let job = MigrationJob(policies: Program.policies)
    switch shown.tone {
    case .nothing: return true
    // A run knows more of itself than that nothing was to be done after it.
    case _ where tone == .done: return false
    case .done:
      let started = (try? job.report(target))?.started.flatMap { try? Date($0, strategy: .iso8601) }
      // What had not begun has run since, even if it began in the same second.
      return started.map { state == ListState.notBegun ? $0 < date : $0 <= date } ?? true
    // A run that waits, or that has failed, says itself how it stands, and a missing store is missing.
    case .failed: return exitCode == shown.exitCode && secondsSinceSign.map(isSince) != false
    case .running, .waiting: return false
    }
  }

  /// Whether it says why a run that has no process is not done: that one has not worked since. Who was busy with it then
  /// is no reason any longer.
  var explainsRun: Bool { error != nil && exitCode != ExitCodes.leaseHeld && secondsSinceSign.map(isSince) == true }

  /// Since a run to the same path has worked; nil if there is none.
  private var secondsSinceSign: Double? {
    (try? StoreLook.status(MigrationJob(policies: Program.policies), target))?.secondsSinceSign
  }

  private func isSince(_ seconds: Double) -> Bool {
    Date().addingTimeInterval(-seconds) <= date.addingTimeInterval(2)
  }
}
