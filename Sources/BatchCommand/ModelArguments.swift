import ArgumentParser
import Batch
import Foundation
import Streams

/// Where the models of a command come from: files that it names, or an application that has them.
struct ModelArguments: ParsableArguments {
  @Option(name: .long, parsing: .upToNextOption, help: .models, completion: .models) var models: [String] = []
  @Option(name: .long, help: .app, completion: .application) var app: String?
  @Option(
    name: .long,
    help: .bundle,
    completion: .bundles)
  var bundle: String?
  @OptionGroup var swift: SwiftOptions
  @Option(
    name: .long,
    help: ArgumentHelp(
      "The file with the options of the project. Default: godwit.yaml beside the store, or in the current folder.",
      valueName: "path"),
    completion: .documents)
  var config: String?
  @Flag(name: .customLong("ignore-config"), help: "Look for no godwit.yaml.") var ignoresConfig = false

  var isEmpty: Bool { models.isEmpty && app == nil }

  func validate() throws {
    guard models.isEmpty || app == nil else { throw ValidationError("--models and --app exclude each other") }
    guard config == nil || !ignoresConfig else {
      throw ValidationError("--config and --ignore-config exclude each other")
    }
  }

  /// Throws the parser's error if a model of an application is named and no application. Not before the file
  /// `godwit.yaml` has said which one.
  private func demandApplication() throws {
    guard bundle == nil || app != nil else { throw ValidationError("--bundle belongs to --app") }
  }

  /// Throws the parser's error if neither models nor an application are named. Not before the parser has said that an
  /// option such as --model is not known.
  func demand() throws {
    try demandApplication()
    guard isEmpty else { return }
    let file = ProjectFile.seen.map { ". The file \($0) has neither models nor app" } ?? ""
    throw ValidationError("Missing expected argument '--models <model> ...', or '--app <path>'\(file)")
  }

  /// All versions of the models that are named; nil if none is.
  func library() throws -> ModelLibrary? {
    try demandApplication()
    guard let app else { return models.isEmpty ? nil : try ModelLibrary(paths: models) }
    let application = try Application(path: app)
    let found = try application.models(named: bundle, command: CommandLineWords.naming)
    return ModelLibrary(bundles: found.map(\.bundle))
  }

  /// What of it is for one store, by the store's version hashes; without a store what is there.
  /// The mapping models that are named besides stand in for the application's.
  func sources(for store: String?, mappings: [String] = []) throws -> ModelSources {
    try demandApplication()
    Program.know(models: arguments)
    guard let app else { return ModelSources(models: models, mappings: mappings) }
    let named = try mappings.flatMap { try MappingModelReader.read(path: $0) }
    let hashes = try store.map(StoreHashes.read)
    let application = try Application(path: app)
    Program.know(
      application.policies.map { ($0.name, .init(place: $0.place, path: $0.path, obstacle: $0.obstacle)) })
    var question = ApplicationQuestion(
      store: store, hashes: hashes, bundle: bundle, mappings: named, command: CommandLineWords.naming)
    question.own = { store.flatMap(StoreHashes.model) }
    var choice = try application.choice(question)
    Console.note(choice.note)
    if !application.isInPlace {
      Program.know(places: Dictionary(application.mappings.map { ($0.path, $0.place) }) { first, _ in first })
    }
    choice.unread.advice = application.wayOut(models: choice.models, mappings: choice.mappings)
    return ModelSources(
      models: choice.models, mappings: choice.mappings + mappings, unread: choice.unread, replaced: choice.replaced)
  }

  /// The options that ask for the same from any folder.
  var arguments: [String] {
    func absolute(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }
    return (models.isEmpty ? [] : ["--models"] + models.map(absolute)) + (app.map { ["--app", absolute($0)] } ?? [])
      + (bundle.map { ["--bundle", $0] } ?? [])
  }
}

/// Paths of the models and mapping models of one migration.
struct ModelSources {
  var models: [String]
  var mappings: [String]
  /// Mapping models of an application that cannot be read.
  var unread: UnreadMappings?
  /// Mapping models of it for which those that were named stand in.
  var replaced: [String] = []
}
