import ArgumentParser
import Batch

/// What becomes of objects that cannot be migrated.
struct RejectArguments: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Reject objects that cannot be migrated: at most this many, or this share (5%) of the source's rows. Without it the first one ends the run.",
      valueName: "count"))
  var maxRejects: RejectCount?
  @Flag(name: .long, help: "Write the values of rejected objects to the list, too.") var rejectValues = false

  var limit: RejectLimit? { maxRejects.map { RejectLimit($0.most, withValues: rejectValues) } }

  var arguments: [String] { limit?.arguments ?? [] }

  func validate() throws {
    if rejectValues, maxRejects == nil { throw ValidationError("--reject-values needs --max-rejects") }
  }
}

/// 100 or 0.5%.
struct RejectCount: ExpressibleByArgument {
  let most: RejectLimit.Most
  /// As it was written.
  let text: String

  init?(argument: String) {
    text = argument
    if argument.hasSuffix("%") {
      guard let percent = Double(argument.dropLast()), (0...100).contains(percent) else { return nil }
      most = .percent(percent)
    } else {
      guard let count = UInt64(argument) else { return nil }
      most = .count(count)
    }
  }
}
