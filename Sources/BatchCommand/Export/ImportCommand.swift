import ArgumentParser
import Batch
import Foundation
import Streams
import Synchronization

struct ImportCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Creates a store of a model from JSON lines or CSV: the inverse of export.",
    discussion: """
      Files are what export writes: a file that ends with .csv is CSV, any other one JSON lines; a folder stands for its .csv, \
      .jsonl and .ndjson files. An object that does not name its entity has that of its file's name. Attributes that a line leaves out get the \
      model's defaults. An object without a key gets one above all that are given.

      A relationship leads to an object by its key (7), by {"entity", "key"}, by its URI, or by the value of a unique attribute: \
      {"isbn": "123"}, or in CSV a column book.isbn. A to-many is a list, in CSV separated by blanks. One side of a relationship is \
      enough; if both are there, they must agree.

      The store has all indexes and is verified before it gets its name. The same files give the same bytes. A wrong line ends the \
      import with its number, unless --max-rejects lets it be left out.

      An import that is stopped or killed goes on from its last checkpoint with resume, or with the same command, and gives the same bytes.
      """)

  @Argument(help: .models, completion: .models) var model: String
  @Argument(
    help: ArgumentHelp("Files with objects, or folders of them.", valueName: "path"),
    completion: .file(extensions: ["jsonl", "csv"]))
  var inputs: [String]
  @Option(
    name: .long, help: ArgumentHelp("The version. Default: the model's current version.", valueName: "version"),
    completion: .versions)
  var version: String?
  @OptionGroup var swift: SwiftOptions
  @Option(
    name: .long, help: ArgumentHelp("The store to create; it must not exist.", valueName: "path"), completion: .store)
  var output: String
  @Option(
    name: .customLong("validate"),
    help: ArgumentHelp(
      "Which rules of the model objects must keep: none, required (no value is missing), or all.", valueName: "mode"))
  var validation = ValidationMode.required
  @Option(
    name: .long, parsing: .upToNextOption,
    help: ArgumentHelp(
      "Attributes by whose values relationships may name objects, as User.userId. Those that the model keeps unique need not be named.",
      valueName: "attribute"))
  var unique: [String] = []
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Leave at most this many wrong lines out, or this share (5%) of all lines, which is judged when all are read.",
      valueName: "count"))
  var maxRejects: RejectCount?
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Write file, line and reason of each line that is left out to this file, which must not exist, as CSV.",
      valueName: "path"),
    completion: .file(extensions: ["csv"]))
  var rejects: String?
  @Flag(
    name: .long,
    help: "Keep links that lead to no object, as a damaged store has them; the summary counts them.")
  var allowDangling = false
  @Option(
    name: .long,
    help: ArgumentHelp(
      "The folder with the files of external data, which are copied beside the store.", valueName: "path"),
    completion: .directory)
  var external: String?
  @Option(
    name: .long,
    help: ArgumentHelp(
      "The store's UUID. Default: that of the first object's URI, or one that follows from the files.",
      valueName: "value"))
  var uuid: String?
  @Option(name: .long, help: .memory, transform: ByteCount.memory) var memory = ByteCount.standardMemory
  @Option(name: .long, help: .checkpointEvery)
  var checkpointEvery = CheckpointInterval(interval: StoreImport.standardInterval)
  @Flag(name: .long, help: .quiet) var quiet = false

  var changed: String? { nil }
  var onlyReads: Bool { false }

  func validate() throws {
    guard rejects == nil || mostRejects != .count(0) else { throw ValidationError("--rejects needs --max-rejects") }
    if let uuid, ExportUUID.bytes(uuid) == nil { throw ValidationError("--uuid is no UUID") }
  }

  private var mostRejects: RejectLimit.Most { maxRejects?.most ?? .count(0) }

  func run() throws {
    let version = try target
    let monitor = RunMonitor(interval: checkpointEvery.interval, work: "import")
    let first = Mutex<MigrationProgress?>(nil)
    let display = ProgressDisplay(quiet ? .none : ProgressMode.auto.resolved(json: false)) {
      var progress = monitor.progressNow
      // A resumed import begins where the other process was.
      let start = first.withLock { first in
        if first == nil, progress.fraction > 0 { first = progress }
        return first
      }
      progress.secondsLeft = start.flatMap { Self.secondsLeft(of: progress, since: $0) }
      return progress
    }
    defer { display.end() }
    let signals = StopSignals(monitor, of: output)
    let summary = try StoreImport(model: version, options: options).run(
      inputs, to: output, fileSystem: LocalFileSystem(), monitor: monitor
    ) { Console.error("left out: \($0.path): line \($0.line): \($0.reason)") }
    withExtendedLifetime(signals) {}
    display.end()
    let text = ImportSummaryText(
      summary: summary, output: output, hasExternal: external != nil, seconds: display.seconds)
    if !quiet { Console.print(text.text) }
    if summary.rejects > 0 { throw ExitCode(ExitCodes.rejects) }
  }

  /// The model of the store, if nothing is wrong with the paths to write.
  private var target: ManagedObjectModel {
    get throws {
      try OutputPath("--output", output).checkCompanion()
      try checkRejects()
      return try ModelLibrary(paths: [model]).target(named: version)
    }
  }

  /// Why this command would not go on with the interrupted import into a path; nil if it would.
  func refusal(_ job: MigrationJob, to path: String) throws -> BatchError? {
    try job.importRefusal(inputs, options: options, to: path) { try target }
  }

  private static func secondsLeft(of progress: MigrationProgress, since start: MigrationProgress) -> Double? {
    let done = progress.fraction - start.fraction
    return done > 0.01 ? (progress.seconds - start.seconds) / done * (1 - progress.fraction) : nil
  }

  private var options: StoreImport.Options {
    var options = StoreImport.Options()
    (options.validation, options.mostRejects, options.unique) = (validation, mostRejects, unique)
    options.allowsDangling = allowDangling
    (options.external, options.uuid, options.rejects) = (external, uuid?.uppercased(), rejects)
    (options.memory, options.arguments) = (MemoryBudget(total: Int(clamping: memory.bytes)), arguments)
    return options
  }

  /// The words that ask for the same from any folder.
  private var arguments: [String] {
    func whole(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }
    func option(_ name: String, _ value: String?) -> [String] { value.map { [name, $0] } ?? [] }
    let changed = checkpointEvery.interval != StoreImport.standardInterval
    return ["import", whole(model)] + inputs.map(whole) + ["--output", whole(output)] + option("--version", version)
      + option("--validate", validation == .required ? nil : validation.rawValue)
      + (unique.isEmpty ? [] : ["--unique"] + unique) + option("--max-rejects", maxRejects?.text)
      + option("--rejects", rejects.map(whole))
      + (allowDangling ? ["--allow-dangling"] : []) + option("--external", external.map(whole)) + option("--uuid", uuid)
      + option("--memory", memory.bytes == ByteCount.standardMemory.bytes ? nil : "\(memory.bytes)")
      + option("--checkpoint-every", changed ? checkpointEvery.text : nil) + swift.arguments
  }

  /// Refuses a list that would be a store, or that the same import would read the next time.
  private func checkRejects() throws {
    guard let rejects else { return }
    try OutputPath("--rejects", rejects).check([output])
    let folder = try LocalFileSystem().status(FilePaths.directory(of: rejects))
    for input in inputs {
      guard let status = try LocalFileSystem().status(input), let folder,
        (status.device, status.inode) == (folder.device, folder.inode)
      else { continue }
      throw BatchError(
        .refused, "--rejects would stand among the files to import, in the folder \(input)",
        hint: "Choose a path in another folder", effect: .nothingWritten, path: rejects)
    }
  }
}
