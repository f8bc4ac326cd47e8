import ArgumentParser
import Batch

/// A command on a store; `changed` is the path that it changes, nil when it only looks. `json`: its output is for
/// programs. `onlyReads`: nobody has to be told that it wrote nothing.
protocol StoreCommand: ParsableCommand {
  var changed: String? { get }
  var json: Bool { get }
  var onlyReads: Bool { get }
}

extension StoreCommand {
  var json: Bool { false }
  var onlyReads: Bool { changed == nil }
}

/// How a command fails: what happened, what is left behind and what leads on, for a person and for a program.
enum Failure {
  /// The error with advice, if nobody has any, and with its effect: a person must not have to guess.
  static func told(_ error: any Error, by command: (any StoreCommand)?) -> BatchError {
    var told = BatchError(wrapping: error)
    told.hint = told.hint ?? Advice.hint(for: told)
    guard let command else { return told }
    guard let path = command.changed else {
      told.effect = told.effect ?? .nothingWritten
      return told
    }
    return MigrationJob(policies: Program.policies).settled(told, at: path)
  }

  /// What a person reads of it.
  static func text(_ told: BatchError, by command: (any StoreCommand)?) -> String {
    var shown = told
    if command?.onlyReads == true, shown.effect == .nothingWritten { shown.effect = nil }
    return "\(Program.name): \(shown)"
  }
}

/// What `--json` prints of a failure.
struct FailureDocument: Codable {
  struct Body: Codable {
    var code: String
    var exitCode: Int32
    var message: String
    var hint: String?
    var effect: String?
    var next: [String]
    var path: String?
    var entity: String?
    var key: Int64?
  }
  var format = 1
  var error: Body

  init(_ error: BatchError) {
    self.error = Body(
      code: error.code.description, exitCode: error.exitCode, message: error.message, hint: error.hint,
      effect: error.effect?.description, next: error.next, path: error.path, entity: error.entity, key: error.key)
  }
}
