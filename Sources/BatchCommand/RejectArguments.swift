import ArgumentParser
import Batch

/// What becomes of objects that cannot be migrated.
struct RejectArguments: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Set objects aside that cannot be migrated, so many or so many percent (5%) of the source's rows at most; without it the first one ends the run.",
      valueName: "count"))
  var maxRejects: RejectCount?
  @Flag(name: .long, help: "Write values of rejected objects down, too.") var rejectValues = false

  var limit: RejectLimit? { maxRejects.map { RejectLimit($0.most, withValues: rejectValues) } }

  var arguments: [String] {
    guard let maxRejects else { return [] }
    return ["--max-rejects", maxRejects.text] + (rejectValues ? ["--reject-values"] : [])
  }

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
