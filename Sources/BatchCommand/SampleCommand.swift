import ArgumentParser
import Batch
import Streams

struct SampleCommand: ModelCommand {
  static let configuration = CommandConfiguration(
    commandName: "sample",
    abstract: "Creates a store of made-up objects for any model, or one of some objects of a store.",
    discussion: """
      With --rows, objects are made up for a model. The same seed gives the same store. Entries in the model's user info shape \
      the data. Of an entity, godwit.sample.share is its share of the objects. Of an attribute, godwit.sample.distinct is the \
      number of different values, and godwit.sample.prefix is the text that they begin with. godwit.sample.null = never means \
      that no value is NULL. godwit.sample.edges = never means that no value is at the limits of its type, as one in 64 is \
      otherwise.

      With --limit, objects of a store are taken, as an excerpt to try a migration on: in the order of their keys the first ones \
      of each root entity with its sub-entities, or those of an entity that is named, and all objects that to-one relationships \
      of these lead to. Links of to-many relationships are taken where both ends are. Keys, values, order, metadata and the \
      files of external data are those of the store, which is never written to. Persistent history, tables of CloudKit and of \
      others are left out.
      """)

  @Argument(
    help: ArgumentHelp("A model, as --models takes it; with --limit a store.", valueName: "model"), completion: .models)
  var model: String
  @Argument(help: "With --limit: take objects of this entity and its sub-entities.", completion: .entities)
  var entity: String?
  @Option(
    name: .long, help: ArgumentHelp("The version. Default: the model's current version.", valueName: "version"),
    completion: .versions)
  var version: String?
  @Option(name: .long, help: ArgumentHelp("Make up this many objects.", valueName: "count")) var rows: UInt64?
  @Option(
    name: .long,
    help: ArgumentHelp("With --rows: the seed; another one gives other data. Default: 1.", valueName: "number"))
  var seed: UInt64?
  @Flag(name: .long, help: "With --rows: put all objects into the store's -wal file.") var wal = false
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Take this many objects of each root entity of a store, or of the entity; those that they lead to come along.",
      valueName: "count"))
  var limit: UInt64?
  @Option(
    name: .customLong("where"),
    help: ArgumentHelp(
      "With --limit: take only objects for which this holds, as in NSPredicate: pages > 100 AND title BEGINSWITH \"A\". Needs an entity.",
      valueName: "condition"))
  var condition: String?
  @OptionGroup var named: ModelArguments
  @Option(
    name: .long, help: ArgumentHelp("The store to create; it must not exist.", valueName: "path"), completion: .store)
  var output: String
  @Option(name: .long, help: .memory, transform: ByteCount.memory) var memory = ByteCount.standardMemory
  @Flag(name: .long, help: .quiet) var quiet = false

  var place: String? { model }
  // A model that is named needs no other.
  var readsProject: Bool { limit != nil }

  func validate() throws {
    guard rows == nil || limit == nil else {
      throw ValidationError("--rows makes up objects of a model, and --limit takes those of a store: use one of them")
    }
    guard rows != nil || limit != nil else {
      throw ValidationError(
        "Missing expected argument '--rows <count>', which makes up objects of a model, or '--limit <count>', which takes those of a store"
      )
    }
    if let stray = strayOption {
      throw ValidationError(
        rows == nil
          ? "\(stray) goes with --rows, for a model; --limit takes an entity, --where, --models and --app"
          : "\(stray) goes with --limit, for a store; --rows takes --version, --seed and --wal")
    }
    guard condition == nil || entity != nil else {
      throw ValidationError("--where asks about the objects of one entity: name it")
    }
  }

  /// What was given and belongs to the other form.
  private var strayOption: String? {
    let options =
      rows == nil
      ? [("--version", version != nil), ("--seed", seed != nil), ("--wal", wal)]
      : [
        ("an entity", entity != nil), ("--where", condition != nil), ("--models", !named.models.isEmpty),
        ("--app", named.app != nil), ("--bundle", named.bundle != nil), ("--config", named.config != nil),
        ("--ignore-config", named.ignoresConfig),
      ]
    return options.first(where: \.1)?.0
  }

  func run() throws {
    try OutputPath("--output", output).checkCompanion()
    if let limit { return try takeObjects(limit) }
    let model = try ModelLibrary(paths: [model]).target(named: version)
    let display = ProgressDisplay(quiet ? .none : ProgressMode.auto.resolved(json: false))
    defer { display.end() }
    let rows = rows ?? 0
    try StoreSampler(model: model, rows: rows, seed: seed ?? 1, intoLog: wal).write(
      to: output, fileSystem: LocalFileSystem(), budget: budget
    ) {
      fraction in
      display.show(
        MigrationProgress(fraction: fraction, rows: UInt64(fraction * Double(rows)), seconds: display.seconds))
    }
  }

  /// Whether the argument can be no store.
  private var isModel: Bool {
    get throws {
      if ModelFormats.format(of: model) != nil || model.hasSuffix(".mom") { return true }
      return try LocalFileSystem().status(model)?.isDirectory == true
    }
  }

  private var budget: MemoryBudget { MemoryBudget(total: Int(clamping: memory.bytes)) }

  // MARK: Objects of a store

  private func takeObjects(_ limit: UInt64) throws {
    guard try !isModel else {
      throw ValidationError("--limit takes objects of a store, and \(model) is a model: --rows makes up objects of it")
    }
    try OutputPath("--output", output).check([model])
    let library = try named.library()
    guard let xml = try XMLSource(model) else { return try takeObjects(limit, of: model, library) }
    try xml.reading(library, memory: memory, quiet: quiet) { try takeObjects(limit, of: $0, library) }
  }

  private func takeObjects(_ limit: UInt64, of store: String, _ library: ModelLibrary?) throws {
    let reader = try StoreExport.open(store, LocalFileSystem())
    defer { reader.close() }
    Console.tellRecovery(reader)
    var options = StoreExcerpt.Options(limit: limit)
    (options.entity, options.condition, options.memory) = (entity, condition, budget)
    let excerpt = try StoreExcerpt(
      reader, model: StoreModel.find(of: reader, in: library), options: options, fileSystem: LocalFileSystem())
    let display = ProgressDisplay(quiet ? .none : ProgressMode.auto.resolved(json: false))
    defer { display.end() }
    let summary = try excerpt.write(to: output) { rows, fraction in
      display.show(MigrationProgress(fraction: fraction, rows: rows, seconds: display.seconds))
    }
    display.end()
    if !quiet { Console.print(ExcerptText(summary).text(of: output, from: model)) }
  }
}
