import ArgumentParser
import Batch
import Streams

struct SampleCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sample",
    abstract: "Creates a store of any model, filled with objects. The same seed gives the same store.",
    discussion: """
      Entries in the model's user info shape the data. Of an entity, godwit.sample.share is its share of the objects. Of an \
      attribute, godwit.sample.distinct is the number of different values, and godwit.sample.prefix is the text that they begin \
      with. godwit.sample.null = never means that no value is NULL. godwit.sample.edges = never means that no value is at the \
      limits of its type, as one in 64 is otherwise.
      """)

  @Argument(help: .models, completion: .models) var model: String
  @Option(
    name: .long, help: ArgumentHelp("The version. Default: the model's current version.", valueName: "version"),
    completion: .versions)
  var version: String?
  @OptionGroup var swift: SwiftOptions
  @Option(name: .long, help: ArgumentHelp("The number of objects.", valueName: "count")) var rows: UInt64
  @Option(name: .long, help: ArgumentHelp("The seed; another one gives other data.", valueName: "number")) var seed:
    UInt64 = 1
  @Flag(name: .long, help: "Put all objects into the store's -wal file.") var wal = false
  @Option(
    name: .long, help: ArgumentHelp("The store to create; it must not exist.", valueName: "path"), completion: .store)
  var output: String
  @Flag(name: .long, help: .quiet) var quiet = false

  func run() throws {
    try OutputPath("--output", output).checkCompanion()
    let model = try ModelLibrary(paths: [model]).target(named: version)
    let display = ProgressDisplay(quiet ? .none : ProgressMode.auto.resolved(json: false))
    defer { display.end() }
    try StoreSampler(model: model, rows: rows, seed: seed, intoLog: wal).write(
      to: output, fileSystem: LocalFileSystem()
    ) {
      fraction in
      display.show(
        MigrationProgress(fraction: fraction, rows: UInt64(fraction * Double(rows)), seconds: display.seconds))
    }
  }
}
