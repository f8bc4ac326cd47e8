import ArgumentParser
import Batch

/// What of a store an export writes, and how values look.
struct ExportSelection: ParsableArguments {
  @Option(
    name: .long, parsing: .upToNextOption,
    help: ArgumentHelp(
      "Write only these attributes and relationships, separated by blanks or commas; columns, with --raw.",
      valueName: "attribute"))
  var columns: [String] = []
  @Option(
    name: .customLong("where"),
    help: ArgumentHelp(
      "Write only objects for which this holds, as in NSPredicate: pages > 100 AND title BEGINSWITH \"A\". Needs an entity.",
      valueName: "condition"))
  var condition: String?
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Write only objects with a date that is not before this one: 2026-11-01, or with a time. With --history the transaction's.",
      valueName: "time"))
  var since: ISODate?
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Show bytes as what they hold: plist, keyedarchiver, uuid, separated by commas. Bytes that cannot be read stay base64.",
      valueName: "format"),
    completion: .list(ExportDecoding.allCases.map(\.rawValue)))
  var decode: DecodingList?
  @Option(
    name: .long,
    help: ArgumentHelp(
      "How dates are written: iso, or seconds since 2001 exactly as the store has them.", valueName: "format"))
  var dates = ExportDates.iso

  /// The names of options that were used, for a command that takes none of them.
  var used: [String] {
    [
      ("--columns", !columns.isEmpty), ("--where", condition != nil), ("--decode", decode != nil),
      ("--dates", dates != .iso),
    ].filter(\.1).map(\.0)
  }

  func apply(to options: inout ExportOptions) {
    options.columns = columns.flatMap { $0.split(separator: ",").map(String.init) }
    (options.condition, options.since) = (condition, since?.seconds)
    (options.decodings, options.dates) = (decode?.forms ?? [], dates)
  }
}

/// A date of the command line in ISO 8601.
struct ISODate: ExpressibleByArgument {
  let seconds: Double

  init?(argument: String) {
    guard let seconds = ExportDate.seconds(argument) else { return nil }
    self.seconds = seconds
  }
}

/// Forms of bytes, separated by commas.
struct DecodingList: ExpressibleByArgument {
  let forms: Set<ExportDecoding>

  init?(argument: String) {
    let forms = argument.split(separator: ",", omittingEmptySubsequences: false).map {
      ExportDecoding(rawValue: String($0))
    }
    guard !forms.contains(nil) else { return nil }
    self.forms = Set(forms.compactMap { $0 })
  }
}

extension ExportDates: ExpressibleByArgument {}
