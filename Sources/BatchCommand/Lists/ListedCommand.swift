import ArgumentParser
import Batch

/// A command on a store that takes a list of stores, too: it is run for each of them.
protocol ListedCommand: StoreCommand, SendableMetatype {
  /// Nil with a list.
  var store: String? { get set }
  var list: ListArguments { get }

  /// What is under a store's own path in this command: the output, where the list names one, or the source.
  static var takesOutput: Bool { get }

  /// The state that a store's outcome stands for.
  static func state(of outcome: StoreOutcome) -> ListState

  /// What a list ends with.
  static func code(of results: [ListResult]) -> Int32
}

extension ListedCommand {
  static var takesOutput: Bool { true }

  static func code(of results: [ListResult]) -> Int32 {
    ExitCodes.worst(results.filter { $0.tone != .nothing }.map(\.exitCode))
  }
}

/// What a command on one store of a list ended with.
struct StoreOutcome {
  var code: Int32
  /// What it printed with `--json`; nil if it failed.
  var document: JSONValue?
  var failure: FailureDocument.Body?
  /// What it said on standard error.
  var said: String
}

/// What is said of a store in a list.
struct ListState: Equatable {
  /// From what needs a look to what does not.
  enum Tone: Int, Sendable, CaseIterable { case failed, waiting, running, done, nothing }

  /// What is said of a store that has its version, and of one that nobody has migrated.
  static let unchanged = "needed nothing"
  /// Of a store that has its version already nothing is written to the output that the list names.
  static let withoutOutput = "no output was made"
  static let noneIsKnown = "no migration is known"
  static let notBegun = "not begun"
  static let waiting = "waiting"
  /// What is said of one whose run can be resumed, whatever ended its process.
  static let interrupted = ReportWords.name(.interrupted)
  static let cleaned = "cleaned"
  static let wouldBeCleaned = "would be cleaned"
  static let nothingToRemove = "nothing to remove"

  var name: String
  var tone: Tone
  var detail: String?
  /// What a person reads below its name.
  var lines: [String] = []
  /// What a list counts as its exit code; nil for that of the command.
  var code: Int32?

  /// Whether a state says that the store was left alone.
  static func isUnchanged(_ state: String) -> Bool { [unchanged, withoutOutput].contains(state) }

  /// How a command that failed ended.
  init(failed outcome: StoreOutcome) {
    // What the parser refuses is in no document.
    let isUsage = outcome.code == BatchError.Code.noSuchFile.exitCode && outcome.failure == nil
    self.init(
      isUsage ? "wrong usage" : ExitCodes.name(outcome.code), outcome.code == ExitCodes.stopped ? .waiting : .failed)
  }

  /// Of a run that can be resumed.
  static func interrupted(after outcome: RunReport.Outcome) -> ListState {
    ListState(interrupted, .waiting, detail: ReportWords.end(outcome), code: ExitCodes.stopped)
  }

  init(_ name: String, _ tone: Tone, detail: String? = nil, lines: [String] = [], code: Int32? = nil) {
    (self.name, self.tone, self.detail, self.lines, self.code) = (name, tone, detail, lines, code)
  }
}
