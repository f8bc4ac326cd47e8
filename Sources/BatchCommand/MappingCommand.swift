import ArgumentParser
import Batch
import Foundation

struct MappingCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mapping", abstract: "Writes, translates and checks mapping files.",
    discussion: "A mapping file is a mapping model as YAML or JSON; docs/manual/mapping-files.md has the format.",
    subcommands: [MappingInitCommand.self, MappingConvertCommand.self, MappingCheckCommand.self])
}

struct MappingInitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init", abstract: "Prints a first draft of a mapping file.",
    discussion: "The draft maps what can be inferred from the two versions. Comments mark what you have to decide.")

  @Argument(help: .sourceSide, completion: .side) var source: String
  @Argument(help: .destinationSide, completion: .side) var destination: String
  @Option(name: .long, parsing: .upToNextOption, help: .models, completion: .models) var models: [String] = []
  @OptionGroup var swift: SwiftOptions

  func run() throws {
    let library = models.isEmpty ? nil : try ModelLibrary(paths: models)
    let (old, new) = (try ModelSide(source, library: library), try ModelSide(destination, library: library))
    let own = [old, new].filter { $0.store != nil && library?.model(matching: $0.model.versionHashes) == nil }
    Console.writeOutput(
      MappingFileWriter.draft(from: old.model, to: new.model, byChecksum: Set(own.map(\.model.name))))
  }
}

struct MappingConvertCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "convert", abstract: "Prints an Xcode mapping model, compiled or not, as a mapping file.",
    discussion:
      "The file stands for the same mapping model. Policies stay names of classes: register them in Swift, or replace them by rules."
  )

  @Argument(
    help: ArgumentHelp("An .xcmappingmodel, or a compiled one (.cdm).", valueName: "mapping"),
    completion: .file(extensions: ["xcmappingmodel", "cdm"]))
  var path: String

  func run() throws {
    let models = try MappingModelReader.read(path: path)
    guard models.count == 1 else {
      throw BatchError(
        .badMapping, "the folder holds \(models.count) mapping models", hint: "Name one of them", path: path)
    }
    Console.writeOutput(try MappingFileWriter.text(models[0]))
  }
}

struct MappingCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Checks that mapping models can be read, and that they fit the models.",
    discussion: """
      With --models it finds all faults of models and mapping models for which a migration would be refused: unknown names, \
      unsupported expressions, types that do not fit, required attributes without a value. Mapping models that share a step are \
      checked together: name them all. The exit code is 20 if something is wrong.
      """)

  @Argument(help: .mappings, completion: .mappings) var paths: [String]
  @Option(name: .long, parsing: .upToNextOption, help: .models, completion: .models) var models: [String] = []
  @OptionGroup var swift: SwiftOptions

  func run() throws {
    let mappings = try paths.flatMap { try Self.read($0) }
    let library = models.isEmpty ? nil : try ModelLibrary(paths: models)
    var problems: [String] = []
    for (index, mapping) in mappings.enumerated() {
      let others = mappings[..<index] + mappings[(index + 1)...]
      let found = library.map {
        MappingFileCheck(mapping, beside: Array(others), library: $0, policies: Program.policies)
      }
      problems += (found?.problems ?? []).filter { !problems.contains($0) }
      let count = mapping.entityMappings.count
      let steps =
        found.map { $0.steps.isEmpty ? "fits no step" : $0.steps.joined(separator: ", ") } ?? "not compared with models"
      Console.print("\(mapping.name): \(count) entity \(count == 1 ? "mapping" : "mappings"), \(steps)")
    }
    guard problems.isEmpty else {
      let path = paths.count == 1 ? paths[0] : nil
      throw BatchError(.badMapping, problems.joined(separator: "\n"), hint: Self.hint, path: path)
    }
  }

  private static let hint = "Correct the mapping model"

  /// What is wrong with a file is said by this command: it does not send to itself.
  private static func read(_ path: String) throws -> [MappingModel] {
    do { return try MappingModelReader.read(path: path) } catch var error as BatchError
      where error.code == .badMapping && error.hint == nil
    {
      error.hint = hint
      throw error
    }
  }
}
