import ArgumentParser
import Batch
import Foundation

struct MappingCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mapping", abstract: "Writes, translates and checks mapping files.",
    discussion: "A mapping file is a mapping model as YAML or JSON; docs/manual/mapping-files.md has the format.",
    subcommands: [MappingInitCommand.self, MappingConvertCommand.self, MappingCheckCommand.self])
}

struct MappingInitCommand: ModelCommand {
  static let configuration = CommandConfiguration(
    commandName: "init", abstract: "Prints a first draft of a mapping file.",
    discussion: """
      The draft maps what can be inferred from the two versions; comments say what is lost and what is to do. Where only you know \
      the value, or what code of the application does, it says undecided: 'mapping check' takes the file and lists those places, and \
      no migration begins until each is decided.
      """)

  @Argument(help: .sourceSide, completion: .side) var source: String
  @Argument(help: .destinationSide, completion: .side) var destination: String
  @OptionGroup var named: ModelArguments

  func run() throws {
    let library = try named.library()
    let (old, new) = (try ModelSide(source, library: library), try ModelSide(destination, library: library))
    guard old.model.versionHashes != new.model.versionHashes || !old.model.hasColumns(of: new.model) else {
      throw BatchError(
        .refused, "\(old.model.name) and \(new.model.name) have the same version hashes: there is no step to map",
        hint: "What differs is in no store: see \(ProgramName.command(["diff", source, destination] + named.arguments))"
      )
    }
    let own = [old, new].filter { $0.store != nil && library?.model(matching: $0.model.versionHashes) == nil }
    let stage = [library, new.library].lazy.compactMap { $0?.stage(from: old.model, to: new.model) }.first
    Console.writeOutput(
      MappingFileWriter.draft(from: old.model, to: new.model, byChecksum: Set(own.map(\.model.name)), stage: stage))
  }
}

struct MappingConvertCommand: ModelCommand {
  static let configuration = CommandConfiguration(
    commandName: "convert", abstract: "Prints an Xcode mapping model, compiled or not, as a mapping file.",
    discussion:
      "The file stands for the same mapping model. Policies stay names of classes, and a comment says which rules may stand for each: name the models to see more."
  )

  @Argument(
    help: ArgumentHelp(
      "An .xcmappingmodel, or a compiled one (.cdm); with --app also by its path in the application, as app shows it.",
      valueName: "mapping"),
    completion: .file(extensions: ["xcmappingmodel", "cdm"]))
  var path: String
  @OptionGroup var named: ModelArguments

  func run() throws {
    let path = try place()
    let models = try MappingModelReader.read(path: path)
    guard !MappingModelReader.isFile(path) else {
      throw BatchError(
        .badMapping, "this is a mapping file already",
        hint: "Check it with \(ProgramName.command(["mapping", "check", path] + named.arguments))",
        effect: .nothingWritten, path: path)
    }
    guard models.count == 1 else {
      throw BatchError(
        .badMapping, "the folder holds \(models.count) mapping models", hint: "Name one of them", path: path)
    }
    let inside = MappingModelReader.versions(in: path)
    let found = try named.library().flatMap { MappingFileCheck.versions(of: models[0], in: $0) }
    Console.writeOutput(
      try MappingFileWriter.conversion(
        of: models[0], source: found?.source ?? inside.source, destination: found?.destination ?? inside.destination))
  }

  /// Where it is. In an archive it has no path but that in the application.
  private func place() throws -> String {
    guard let app = named.app, !FileManager.default.fileExists(atPath: path) else { return path }
    return try Application(path: app).mapping(at: path)
  }
}

struct MappingCheckCommand: ModelCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Checks that mapping models can be read, and that they fit the models.",
    discussion: """
      With --models it finds all faults of models and mapping models for which a migration would be refused: unknown names, \
      unsupported expressions, types that do not fit, required attributes without a value. Mapping models that share a step are \
      checked together: name them all, or a pattern as 'Mappings/*.yaml'. The exit code is 20 if something is wrong.
      """)

  @Argument(help: .mappings, completion: .mappings) var paths: [String]
  @OptionGroup var named: ModelArguments

  func run() throws {
    let files = try paths.flatMap { try PathPattern.paths($0).flatMap(Self.read) }
    let mappings = files.map(\.model)
    let library = try named.library()
    var problems: [String] = []
    for (index, mapping) in mappings.enumerated() {
      let others = mappings[..<index] + mappings[(index + 1)...]
      let found = library.map {
        MappingFileCheck(mapping, beside: Array(others), library: $0, policies: Program.policies)
      }
      problems += (found?.problems ?? []).filter { !problems.contains($0) }
      let own = mapping.entityMappings.count
      let count = found?.entityMappings ?? own
      let inFile = count == own ? "" : " (\(Console.count(UInt64(own))) in the file)"
      let steps =
        found.map { $0.steps.isEmpty ? "fits no step" : $0.steps.joined(separator: ", ") } ?? "not compared with models"
      Console.print("\(mapping.name): \(count.counted("entity mapping"))\(inFile), \(steps)")
      Self.tell(mapping)
    }
    guard problems.isEmpty else {
      let path = paths.count == 1 ? paths[0] : nil
      // The path names it already.
      if path != nil, mappings.count == 1 { problems = problems.map { $0.withoutName(mappings[0].name) } }
      throw BatchError(
        .badMapping, MappingFiles(files).told(problems.joined(separator: "\n")),
        hint: Self.hint(files.map(\.file)) + partners(of: files, library), path: path)
    }
  }

  /// What is to be checked with them, because it makes the same step.
  private func partners(of files: [(model: MappingModel, file: String)], _ library: ModelLibrary?) -> String {
    let partners = library.map { MappingFiles(files).partners(in: $0) } ?? []
    guard !partners.isEmpty else { return "" }
    let words = ["mapping", "check"] + files.map(\.file) + partners + named.arguments
    return ", or check what makes the step together with it: \(ProgramName.command(words))"
  }

  private static func hint(_ paths: [String]) -> String {
    "Correct the mapping \(paths.allSatisfy(MappingModelReader.isFile) ? "file" : "model")"
  }

  private static func tell(_ mapping: MappingModel) {
    if let reason = mapping.undecidedStep {
      Console.print("  the step is to be decided before a store can be migrated:\n    \(reason)")
    }
    let undecided = mapping.undecided
    guard !undecided.isEmpty else { return }
    Console.print("  \(undecided.count.counted("property", "properties")) to decide before a store can be migrated:")
    for text in undecided { Console.print("    \(text)") }
  }

  /// What is wrong with a file is said by this command: it does not send to itself.
  private static func read(_ path: String) throws -> [(model: MappingModel, file: String)] {
    do { return try MappingModelReader.readFiles(path) } catch var error as BatchError
      where error.code == .badMapping && error.hint == nil
    {
      error.hint = hint([error.path ?? path])
      throw error
    }
  }
}
