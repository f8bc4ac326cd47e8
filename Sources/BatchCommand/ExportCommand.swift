import ArgumentParser
import Batch
import Streams

struct ExportCommand: ModelCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Writes a store's objects as JSON lines or CSV. Never writes to the store.",
    discussion: """
      An object is {"entity", "key", "uri", "attributes", "relationships"}. Its key is Z_PK, and its URI is that of its \
      NSManagedObjectID. If you name an entity, only objects of that entity and its sub-entities are written. Objects are written \
      table by table, in the order of their keys.

      Dates are ISO 8601 in UTC with microseconds; outside the years 0 to 9999 they are seconds since 2001. UUIDs are text, \
      Booleans true and false, bytes base64. A value in a file beside the store is {"bytes", "externalFile"}. Numbers are as exact \
      as in the store; NaN and Infinity are texts. A value that does not have the type of its attribute is written as it is \
      stored. A to-one relationship is {"entity", "key"}. A to-many relationship, with --to-many, is a list of keys; they are \
      sorted in temporary files (TMPDIR).

      CSV has the columns @entity, @key, @uri, attributes, relationships. NULL is empty, and an empty text is "". A to-one \
      relationship is a key; if it may lead to a sub-entity, a second column name@entity follows. Keys of a to-many relationship \
      are separated by blanks.
      """)

  @Argument(help: .store, completion: .store) var store: String
  @Argument(help: "The entity. Default: all; CSV needs one.", completion: .entities) var entity: String?
  @Option(name: .long, help: ArgumentHelp("The format: jsonl or csv.", valueName: "format")) var format = ExportFormat
    .jsonLines
  @OptionGroup var named: ModelArguments
  var place: String? { store }
  @Option(
    name: .long,
    help: ArgumentHelp("The file to write; it must not exist. Default: standard output.", valueName: "path"),
    completion: .file())
  var output: String?
  @Option(name: .long, help: ArgumentHelp("Write at most this many objects.", valueName: "count")) var limit: UInt64?
  @Flag(name: .long, help: "Write to-many relationships, too.") var toMany = false
  @Option(name: .long, help: .memory) var memory = ByteCount.standardMemory
  @Flag(name: .long, help: .quiet) var quiet = false

  func validate() throws {
    if format == .csv, entity == nil {
      throw ValidationError("CSV has one header: name an entity, or use --format jsonl")
    }
  }

  func run() throws {
    if let output {
      // One that is there is refused later, whatever it is.
      for path in [output, output + ".part"] where try path != output || LocalFileSystem().status(path) == nil {
        try OutputPath("--output", path).check([store])
      }
    }
    let library = try named.library()
    let files = LocalFileSystem()
    let reader = try StoreExport.open(store, files)
    defer { reader.close() }
    Console.tellRecovery(reader)
    var options = StoreExport.Options(format: format, entity: entity)
    options.includesToMany = toMany
    options.limit = limit
    options.memory = MemoryBudget(total: Int(clamping: memory.bytes))
    let export = try StoreExport(
      reader, model: try StoreModel.find(of: reader, in: library), options: options, fileSystem: files)
    guard let output else { return warn(try export.run(to: Self.print)) }
    let display = ProgressDisplay(quiet ? .none : ProgressMode.auto.resolved(json: false))
    defer { display.end() }
    let summary = try ExportFile(path: output, fileSystem: files).write { sink in
      try export.run(to: sink) { rows, fraction in
        display.show(MigrationProgress(fraction: fraction, rows: rows, seconds: display.seconds))
      }
    }
    display.end()
    warn(summary)
    if !quiet { Console.print(Self.text(summary, output, seconds: display.seconds)) }
  }

  private func warn(_ summary: StoreExport.Summary) {
    guard summary.repairedTexts > 0 else { return }
    Console.error("note: \(summary.repairedTexts) texts were not UTF-8; they contain replacement characters")
  }

  private static func text(_ summary: StoreExport.Summary, _ output: String, seconds: Double) -> String {
    let total = summary.rows.values.reduce(0, +)
    let rate = seconds > 0 ? UInt64(Double(total) / seconds) : 0
    let lines = summary.rows.keys.sorted().map { "  \($0): \(Console.count(summary.rows[$0] ?? 0))" }
    return (["\(output): \(Console.count(total)) objects, \(Console.count(rate)) a second"] + lines).joined(
      separator: "\n")
  }

  private static func print(_ bytes: UnsafeRawBufferPointer) throws {
    // The end of the process says why.
    guard Output.write(bytes) == 0 else { throw ExitCode(1) }
  }
}

extension ExportFormat: ExpressibleByArgument {}

/// The file of an export: it gets its name when it is whole.
struct ExportFile {
  let path: String
  let fileSystem: any FileSystem

  func write(_ body: (@escaping (UnsafeRawBufferPointer) throws -> Void) throws -> StoreExport.Summary) throws
    -> StoreExport.Summary
  {
    guard try fileSystem.statusOfName(path) == nil else {
      throw BatchError(
        .refused, "the output exists already", hint: "Choose another path, or remove it first", path: path)
    }
    let temporary = path + ".part"
    let file = try fileSystem.open(temporary, .create)
    defer { file.close() }
    do {
      var end: UInt64 = 0
      let summary = try body { bytes in
        try file.write(bytes, at: end)
        end += UInt64(bytes.count)
      }
      try file.sync()
      try fileSystem.rename(temporary, to: path)
      try fileSystem.syncDirectory(FilePaths.directory(of: path))
      return summary
    } catch {
      try? fileSystem.remove(temporary)
      let full = BatchError(wrapping: error)
      guard full.code == BatchError.Code(.diskFull) else { throw error }
      // Its own exit code would promise that the export can be resumed.
      throw BatchError(
        .failed, "there is no space for the export", hint: "Make room, and export again", path: path, cause: full)
    }
  }
}
