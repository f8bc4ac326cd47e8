import ArgumentParser
import Batch
import Streams

struct ExportCommand: ModelCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Writes a store's objects as JSON lines, CSV or Parquet. Never writes to the store.",
    discussion: """
      An object is {"entity", "key", "uri", "attributes", "relationships"}. Its key is Z_PK, and its URI is that of its \
      NSManagedObjectID. If you name an entity, only objects of that entity and its sub-entities are written. Objects are written \
      table by table, in the order of their keys. If --output is a folder, each root entity gets a file of its own.

      Dates are ISO 8601 in UTC with microseconds; outside the years 0 to 9999 they are seconds since 2001. UUIDs are text, \
      Booleans true and false, bytes base64. A value in a file beside the store is {"bytes", "externalFile"}. Numbers are as exact \
      as in the store; NaN and Infinity are texts. A value that does not have the type of its attribute is written as it is \
      stored. A to-one relationship is {"entity", "key"}. A to-many relationship, with --to-many, is a list of keys; they are \
      sorted in temporary files (TMPDIR).

      CSV has the columns @entity, @key, @uri, attributes, relationships. NULL is empty, and an empty text is "". A to-one \
      relationship is a key; if it may lead to a sub-entity, a second column name@entity follows. Keys of a to-many relationship \
      are separated by blanks. A value in a file beside the store is external:UUID, the file's name. A name that is an attribute \
      in one sub-entity and a relationship in another, or has several types, has one column.

      Parquet has the same columns with types: dates are TIMESTAMP in microseconds, UUIDs UUID, decimals text. A value beside the \
      store is NULL, and a column name@file has its file. A name with several types is text, as in CSV. What does not have its \
      column's type is NULL, and is counted.

      --raw needs no model: an object is {"entity", "key", "uri", "columns"}, with the names and values of columns, and a row of \
      a join table is {"link", "ends", "columns"}. What is a guess is said on standard error.

      --history writes persistent history instead of objects: one line for each insertion, change and deletion, with the time, \
      author and context of its transaction, and what a deleted object left behind.

      Of an XML store an SQLite store is made in TMPDIR first; it needs --models, for the names.
      """)

  /// The formats; `text` is for histories.
  enum Format: String, ExpressibleByArgument, CaseIterable {
    case jsonl, csv, parquet, text

    /// That of objects.
    var objects: ExportFormat? {
      switch self {
      case .jsonl: .jsonLines
      case .csv: .csv
      case .parquet: .parquet
      case .text: nil
      }
    }
  }

  @Argument(help: .store, completion: .store) var store: String
  @Argument(
    help: "The entity; with --raw also a table. Default: all; CSV and Parquet in one file need one.",
    completion: .entities)
  var entity: String?
  @Option(
    name: .long,
    help: ArgumentHelp(
      "The format: jsonl, csv or parquet; with --history jsonl, csv, or text, which is its default. Default: jsonl.",
      valueName: "format"))
  var format: Format?
  @OptionGroup var named: ModelArguments
  var place: String? { store }
  @Flag(name: .long, help: "Use no model: entities by Z_PRIMARYKEY, values by the declared types of columns.")
  var raw = false
  @Flag(name: .long, help: "Write persistent history: who inserted, changed and deleted which objects, and when.")
  var history = false
  @OptionGroup var selection: ExportSelection
  @Option(
    name: .long,
    help: ArgumentHelp(
      "The file to write, which must not exist; or a folder, empty or with / at its end. Default: standard output.",
      valueName: "path"),
    completion: .file())
  var output: String?
  @Option(name: .long, help: ArgumentHelp("Write at most this many objects.", valueName: "count")) var limit: UInt64?
  @Flag(name: .long, help: "Write to-many relationships, too.") var toMany = false
  @OptionGroup var evidence: HashArgument
  @Option(name: .long, help: .memory, transform: ByteCount.memory) var memory = ByteCount.standardMemory
  @Flag(name: .long, help: .quiet) var quiet = false

  func validate() throws {
    guard !raw || !history else { throw ValidationError("--raw and --history exclude each other") }
    if history {
      if let option = selection.used.first ?? (toMany ? "--to-many" : nil) {
        throw ValidationError("\(option) does not go with --history")
      }
      guard format != .parquet else { throw ValidationError("--format parquet does not go with --history") }
      return
    }
    guard format != .text else { throw ValidationError("--format text is for --history") }
    guard !raw || !toMany else {
      throw ValidationError("--to-many needs a model: with --raw, links are rows of their own")
    }
    guard entity != nil || selection.condition == nil else {
      throw ValidationError("--where asks about the objects of one entity: name it")
    }
    guard format ?? .jsonl == .jsonl || entity != nil || ExportOutput(output).isFolder else {
      throw ValidationError(
        "a file of \(format == .csv ? "CSV" : "Parquet") has the columns of one entity: name one, write to a folder, "
          + "or use --format jsonl")
    }
  }

  func run() throws {
    let target = ExportOutput(output)
    if history, target.isFolder { throw ValidationError("--history is written to one file") }
    try target.check([store])
    let library = try named.library()
    try evidence.reading([store]) {
      guard let xml = try XMLSource(store) else { return try export(store, library, to: target) }
      if raw { throw xml.refuse("--raw", "tables") }
      if history { throw xml.refuse("--history", "persistent history") }
      try xml.reading(library, memory: memory, quiet: quiet) { try export($0, library, to: target) }
    }
  }

  private func export(_ store: String, _ library: ModelLibrary?, to target: ExportOutput) throws {
    let reader = try StoreExport.open(store, LocalFileSystem())
    defer { reader.close() }
    Console.tellRecovery(reader)
    let display = ProgressDisplay(quiet || output == nil ? .none : ProgressMode.auto.resolved(json: false))
    defer { display.end() }
    let summary = try write(reader, library, to: target, display: display)
    display.end()
    tell(summary, target, seconds: display.seconds)
  }

  private func write(
    _ reader: StoreReader, _ library: ModelLibrary?, to target: ExportOutput, display: ProgressDisplay
  ) throws -> ExportSummary {
    func progress(_ rows: UInt64, _ fraction: Double) {
      display.show(MigrationProgress(fraction: fraction, rows: rows, seconds: display.seconds))
    }
    let budget = MemoryBudget(total: Int(clamping: memory.bytes))
    if history { return try HistoryRun(reader, library, command: self, memory: budget).write(to: target) }
    var options = ExportOptions(format: format?.objects ?? .jsonLines, entity: entity)
    selection.apply(to: &options)
    (options.includesToMany, options.limit, options.memory) = (toMany, limit, budget)
    let suffix = ".\(options.format.rawValue)"
    if raw { return try target.write(RawExport(reader, options: options), suffix: suffix, progress: progress) }
    let model = try model(of: reader, library)
    try refuseEntityAmongColumns(model)
    let export = try StoreExport(reader, model: model, options: options, fileSystem: LocalFileSystem())
    return try target.write(export, suffix: suffix, progress: progress)
  }

  /// Without a model the tables can be read all the same.
  private func model(of reader: StoreReader, _ library: ModelLibrary?) throws -> ManagedObjectModel {
    do { return try StoreModel.find(of: reader, in: library) } catch var error as BatchError {
      guard error.code == .noModel, library == nil else { throw error }
      error.hint =
        "Give --models with the version that wrote the store, or read its tables without one: "
        + "\(ProgramName.command(["export", "--raw", store]))"
      throw error
    }
  }

  /// `--columns` takes all names up to the next option.
  private func refuseEntityAmongColumns(_ model: ManagedObjectModel) throws {
    guard entity == nil, let name = selection.columns.first(where: { model.entity($0) != nil }) else { return }
    var line = CommandLineWords.line.filter { $0 != name }
    line.insert(name, at: line.firstIndex(of: store).map { $0 + 1 } ?? line.endIndex)
    throw ValidationError(
      "\(name) is an entity, and --columns took it for a property. Name it before: \(ProgramName.command(line))")
  }

  private func tell(_ summary: ExportSummary, _ target: ExportOutput, seconds: Double) {
    if summary.repairedTexts > 0 {
      Console.error(
        "note: \(summary.repairedTexts.counted("text was", "texts were")) not UTF-8, and "
          + "\(summary.repairedTexts.verb("has", "have")) replacement characters")
    }
    if summary.unreadBytes > 0 {
      Console.error(
        "note: \(summary.unreadBytes.counted("value looks like a property list", "values look like property lists")) and cannot "
          + "be read within the limits; \(summary.unreadBytes.verb("it is", "they are")) base64"
      )
    }
    if !quiet { for note in summary.notes { Console.error("note: \(note)") } }
    guard let path = target.path, !quiet else { return }
    Console.print("\(path): \(text(summary, seconds: seconds))")
  }

  private func text(_ summary: ExportSummary, seconds: Double) -> String {
    let parts = [(summary.rows, history ? "change" : "object"), (summary.links, "link"), (summary.otherRows, "row")]
    let totals = parts.map { rows, what in (rows.values.reduce(0, +), what) }
    let total = totals.reduce(0) { $0 + $1.0 }
    let told = totals.filter { $0.0 > 0 }.map { $0.0.counted($0.1) }
    let what = told.isEmpty ? total.counted(parts[0].1) : told.joined(separator: " and ")
    let rate = seconds > 0 ? UInt64(Double(total) / seconds) : 0
    let lines = parts.flatMap { rows, _ in rows.keys.sorted().map { "  \($0): \(Console.count(rows[$0] ?? 0))" } }
    return (["\(what), \(Console.count(rate)) a second"] + lines).joined(separator: "\n")
  }
}

/// A history under way.
private struct HistoryRun {
  let export: HistoryExport

  /// A model only names properties, so a store without one is read, too.
  init(_ reader: StoreReader, _ library: ModelLibrary?, command: ExportCommand, memory: MemoryBudget) throws {
    let model =
      library == nil ? try? StoreModel.find(of: reader, in: nil) : try StoreModel.find(of: reader, in: library)
    var options = HistoryExport.Options(format: .text)
    switch command.format {
    case .jsonl: options.format = .jsonLines
    case .csv: options.format = .csv
    case .text, .parquet, nil: options.format = .text
    }
    (options.entity, options.since) = (command.entity, command.selection.since?.seconds)
    (options.limit, options.memory) = (command.limit, memory)
    export = try HistoryExport(reader, model: model, options: options)
  }

  func write(to target: ExportOutput) throws -> ExportSummary { try target.write { try export.run(to: $0) } }
}
