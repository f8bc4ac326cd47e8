import ArgumentParser
import Batch
import Foundation

/// What a fleet's plan may say of how its stores are migrated: nothing that starts programs or belongs to one machine.
struct FleetMigrationOptions: ParsableArguments {
  @OptionGroup var models: ModelOptions
  @OptionGroup var extras: ExtrasArguments
  @OptionGroup var rejects: RejectArguments
  @Option(name: .long, help: .indexBuilder) var indexBuilder: IndexBuilding?
  @Option(name: .long, help: .keepBackups) var keepBackups: BackupLimit?
  @Option(name: .long, help: .verify) var verify: VerificationMode?
  @Option(name: .long, help: .checkpointEvery) var checkpointEvery: String?

  /// The words that ask for the same from any folder.
  var words: [String] {
    func option(_ name: String, _ value: String?) -> [String] { value.map { [name, $0] } ?? [] }
    return models.arguments + extras.allArguments + option("--max-rejects", rejects.maxRejects?.text)
      + (rejects.rejectValues ? ["--reject-values"] : []) + option("--index-builder", indexBuilder?.rawValue)
      + option("--keep-backups", keepBackups?.text) + option("--verify", verify?.rawValue)
      + option("--checkpoint-every", checkpointEvery)
  }

  /// All files that they name.
  var paths: [String] {
    (models.named.models + models.mappings
      + [models.stages, models.versions.flatMap { VersionList.isFile($0) ? $0 : nil }].compactMap(\.self))
      .map { URL(fileURLWithPath: $0).standardizedFileURL.path }
  }

  /// The same without an application: what is in it for all stores. Throws `refused` for an archive, because its tasks
  /// would not find what was unpacked here.
  func resolved() throws -> FleetMigrationOptions {
    guard let app = models.named.app else { return self }
    guard PackageFolders.isFolder(app) else {
      throw BatchError(
        .refused, "the tasks of a fleet need models in a folder that all of them reach",
        hint: "Unpack the archive there, and name the folder with --app", effect: .nothingWritten, path: app)
    }
    var options = self
    let sources = try models.named.sources(for: nil, mappings: models.mappings)
    if let refusal = try sources.unread?.refusal(in: ModelLibrary(paths: sources.models)) { throw refusal }
    (options.models.named.models, options.models.mappings) = (sources.models, sources.mappings)
    (options.models.named.app, options.models.named.bundle) = (nil, nil)
    return options
  }

  /// Those of a plan. Throws `refused` if the plan has others, or if the files that they name changed since it was
  /// made.
  init(of plan: FleetPlan, path: String) throws {
    guard let options = try? Self.parse(plan.options), options.words == plan.options else {
      throw BatchError(
        .refused, "the plan has options that no plan of a fleet has", hint: "Make it with fleet plan",
        effect: .nothingWritten,
        path: path)
    }
    guard try FleetInputs.digest(options.paths) == plan.models else {
      throw BatchError(
        .refused, "models or mappings were changed since the plan was made",
        hint: "Put them back, or make another plan", effect: .nothingWritten, path: path)
    }
    self = options
  }

  init() {}

  func validate() throws {
    guard checkpointEvery.map({ CheckpointInterval(argument: $0) != nil }) ?? true else {
      throw ValidationError("--checkpoint-every takes a time as 1s or a size as 64M")
    }
  }
}

extension BackupLimit {
  /// As it is written.
  var text: String {
    switch self {
    case .count(let number): "\(number)"
    case .days(let number): "\(number)d"
    }
  }
}

/// A plan with the folder of its state, as commands name them.
struct FleetArguments: ParsableArguments {
  @Option(
    name: .long, help: ArgumentHelp("The plan that `fleet plan` printed.", valueName: "path"), completion: .file())
  var plan: String
  @Option(
    name: .long,
    help: ArgumentHelp(
      "The folder of the fleet's state, on storage that all tasks share. Default: beside the plan.", valueName: "path"),
    completion: .directory)
  var state: String?

  /// Reads the plan. Nothing is written.
  func open() throws -> (plan: FleetPlan, state: FleetState) {
    let found = try FleetPlan(path: planPath)
    return (found, FleetState(found, planPath: planPath, directory: state.map(Self.absolute)))
  }

  var planPath: String { Self.absolute(plan) }

  static func absolute(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }
}
