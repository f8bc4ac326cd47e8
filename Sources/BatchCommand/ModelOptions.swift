import ArgumentParser
import Batch
import Foundation

struct ModelOptions: ParsableArguments {
  @OptionGroup var named: ModelArguments

  @Option(name: .long, parsing: .upToNextOption, help: .mappings, completion: .mappings) var mappings: [String] = []

  @Option(
    name: .long,
    help: ArgumentHelp("The version to migrate to. Default: the model's current version.", valueName: "version"),
    completion: .versions)
  var to: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The versions in order: A,B,C, or a file with one a line. Without --to the last one is the target.",
      valueName: "versions"),
    completion: .versionList)
  var versions: String?

  @Flag(name: .long, help: "Order the versions by their model identifiers, numbers that rise by one.")
  var byIdentifier = false

  @Option(
    name: .long, help: ArgumentHelp("A YAML or JSON file with the stages of the path.", valueName: "path"),
    completion: .documents
  )
  var stages: String?

  @Flag(
    name: .long,
    help:
      "Migrate the store to its own version: every row is written again, and all else is kept. No models are needed if the store carries its own."
  )
  var identity = false

  @Flag(name: .long, help: "Begin at the version that the store's tables fit, where its metadata contradict them.")
  var fromTables = false

  @Flag(
    name: .long, help: "Make each step in a pass of its own. Otherwise steps share a pass if the result is the same.")
  var noFuse = false

  @Option(
    name: .customLong("path"),
    help: ArgumentHelp(
      "How to make consecutive inferred steps: direct, past the versions between, or stepwise. Default: so that no value is lost that either way keeps.",
      valueName: "mode"))
  var inference: InferencePath?

  @Option(
    name: .customLong("validate"),
    help: ArgumentHelp(
      "Which rules of the model the new objects of mapped steps must keep: none, required (no value is missing), or all.",
      valueName: "mode"))
  var validation = ValidationMode.all

  @OptionGroup var consent: ConsentArguments

  var target: MigrationTarget { identity ? .identity : to.map { .version($0) } ?? .current }

  /// A migration with these models and mapping models; the rest has its defaults.
  func request(_ store: String, output: String? = nil) throws -> MigrationJob.Request {
    if !identity { try named.demand() }
    let sources = try named.sources(for: store, mappings: mappings)
    var request = MigrationJob.Request(
      source: store, output: output, models: sources.models, mappings: sources.mappings, target: target)
    (request.order, request.fuses) = (try order(), !noFuse)
    (request.consent, request.validation, request.inference) = (consent.consent, validation, inference)
    (request.fromTables, request.unread, request.replaced) = (fromTables, sources.unread, sources.replaced)
    return request
  }

  private func order() throws -> VersionOrder {
    if let stages { return .stages(try StagedMigration(path: stages)) }
    if let versions { return .list(try VersionList.names(versions)) }
    return byIdentifier ? .identifiers : .names
  }

  private var flags: [String] {
    [
      ("--by-identifier", byIdentifier), ("--identity", identity), ("--from-tables", fromTables), ("--no-fuse", noFuse),
    ].filter(\.1).map(\.0)
  }

  /// The options that ask for the same from any folder.
  var arguments: [String] {
    func option(_ name: String, _ values: [String]) -> [String] { values.isEmpty ? [] : [name] + values }
    func absolute(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }
    let list = versions.map { VersionList.isFile($0) ? absolute($0) : $0 }
    return named.arguments + option("--mappings", mappings.map(absolute))
      + option("--to", to.map { [$0] } ?? []) + option("--versions", list.map { [$0] } ?? [])
      + option("--stages", stages.map { [absolute($0)] } ?? [])
      + flags
      + option("--path", inference.map { [$0.rawValue] } ?? [])
      + (validation == .all ? [] : ["--validate", validation.rawValue]) + consent.arguments + named.swift.arguments
  }

  func validate() throws {
    guard [versions != nil, byIdentifier, stages != nil, identity].count(where: { $0 }) < 2 else {
      throw ValidationError("--versions, --by-identifier, --stages and --identity exclude each other")
    }
    guard inference == nil || (stages == nil && !identity) else {
      throw ValidationError("--path goes neither with --stages, which say what is passed, nor with --identity")
    }
    guard !identity || !fromTables else {
      throw ValidationError(
        "--identity keeps the metadata, and --from-tables does not believe them: name a version with --to")
    }
    guard !identity || to == nil else { throw ValidationError("--identity and --to exclude each other") }
  }
}

struct ConsentArguments: ParsableArguments {
  @Option(
    name: .long, parsing: .upToNextOption,
    help: ArgumentHelp(
      "Entities, or properties as Book.title, that may be lost although the model's versions do not drop them.",
      valueName: "entity"),
    completion: .droppable)
  var drop: [String] = []

  @Flag(name: .long, help: "Accept every loss.") var acceptLoss = false

  var consent: LossConsent { LossConsent(all: acceptLoss, dropped: Set(drop)) }

  var arguments: [String] { (drop.isEmpty ? [] : ["--drop"] + drop) + (acceptLoss ? ["--accept-loss"] : []) }
}

struct PartArguments: ParsableArguments {
  @Option(
    name: .long, parsing: .upToNextOption,
    help: ArgumentHelp(
      "Make only these parts of the steps that have them: mapping models, entity mappings, or STEP.PART as in plan. Needs --output.",
      valueName: "part"),
    completion: .parts)
  var only: [String] = []

  @Option(
    name: .long, parsing: .upToNextOption,
    help: ArgumentHelp("Make all parts except these, named in the same way. Needs --output.", valueName: "part"),
    completion: .parts)
  var skip: [String] = []

  var selection: PartSelection { PartSelection(only: only, skip: skip) }

  var arguments: [String] { (only.isEmpty ? [] : ["--only"] + only) + (skip.isEmpty ? [] : ["--skip"] + skip) }

  func validate() throws {
    guard only.isEmpty || skip.isEmpty else { throw ValidationError("--only and --skip exclude each other") }
  }
}

struct ExtrasArguments: ParsableArguments {
  @Option(name: .long, help: .history)
  var history = ExtrasOptions.History.keep

  @Flag(name: .long, help: "Migrate a store that is mirrored with CloudKit, and keep its records.")
  var allowCloudkit = false

  var options: ExtrasOptions {
    var options = ExtrasOptions()
    (options.history, options.allowsCloudKit) = (history, allowCloudkit)
    return options
  }

  /// Without what is so by default.
  var arguments: [String] { (history == .keep ? [] : ["--history", history.rawValue]) + more }

  /// All of them, as plans of fleets have had them from the beginning.
  var allArguments: [String] { ["--history", history.rawValue] + more }

  private var more: [String] { allowCloudkit ? ["--allow-cloudkit"] : [] }
}

extension ExtrasOptions.History: ExpressibleByArgument {}

extension ValidationMode: ExpressibleByArgument {}

extension InferencePath: ExpressibleByArgument {
  /// What help lists.
  public static var allValueStrings: [String] { [InferencePath.direct, .stepwise].map(\.rawValue) }

  /// What completion lists.
  public static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
}

/// When checkpoints are due: a time (500ms, 2s, 1min) or a size.
struct CheckpointInterval: ExpressibleByArgument {
  let interval: RunMonitor.Interval

  init(interval: RunMonitor.Interval) { self.interval = interval }

  /// As help shows it: 1s, or 64M.
  var defaultValueDescription: String {
    switch interval {
    case .seconds(let seconds): TimeSpan(seconds: seconds).defaultValueDescription
    case .bytes(let bytes): ByteCount(bytes: bytes).defaultValueDescription
    }
  }

  /// As an argument again.
  var text: String {
    switch interval {
    case .seconds(let seconds): "\(max(1, Int((seconds * 1000).rounded())))ms"
    case .bytes(let bytes): "\(bytes)"
    }
  }

  init?(argument: String) {
    let digits = argument.prefix { $0.isNumber || $0 == "." }
    let units: [String: Double] = ["ms": 0.001, "s": 1, "min": 60]
    if let factor = units[argument.dropFirst(digits.count).lowercased()], let number = Double(digits), number > 0,
      number < 1e9
    {
      interval = .seconds(number * factor)
    } else if let size = ByteCount(argument: argument), size.bytes > 0 {
      interval = .bytes(size.bytes)
    } else {
      return nil
    }
  }
}
