import ArgumentParser
import Batch
import Streams

struct VerifyCommand: StoreCommand, ModelCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Verifies a store: pages, rows, indexes, keys, metadata. Never writes to it.",
    discussion: """
      Without --against it reads this store alone. With --against it runs the same migration again, from the source into a file beside \
      the store, compares all tables row by row, and removes the file; give the models, mapping models and policies of that \
      migration. Objects that cannot be migrated are left out of both, and counted: so a store that was made with --max-rejects is \
      compared, too. The exit code is 12 if something is wrong. A store with changes in a -wal file is read with them, on a private \
      copy in the temporary directory (TMPDIR).
      """)

  @Argument(help: .store, completion: .store) var store: String
  @OptionGroup var named: ModelArguments
  @Option(
    name: .long,
    help: ArgumentHelp(
      "How to verify: fast, by a second decoder; full, also for all that integrity_check finds; sqlite, by SQLite, too.",
      valueName: "mode"))
  var verify = Mode.fast
  @Option(
    name: .long, help: ArgumentHelp("The store that this one was made from.", valueName: "store"), completion: .store)
  var against: String?
  @Option(name: .long, parsing: .upToNextOption, help: .mappings, completion: .mappings) var mappings: [String] = []
  @OptionGroup var evidence: HashArgument
  @Flag(name: .long, help: .json) var json = false

  /// How a store is verified that is already there.
  enum Mode: String, ExpressibleByArgument, CaseIterable { case fast, full, sqlite }

  var changed: String? { nil }
  var place: String? { store }
  var takesMappings: Bool { against != nil }

  func validate() throws {
    guard against != nil || mappings.isEmpty else { throw ValidationError("--mappings belongs to --against") }
  }

  func run() throws {
    guard against == nil || !named.isEmpty else { throw ValidationError("--against needs --models or --app") }
    let (report, comparison) = try evidence.reading([store]) {
      let model = try model()
      let settled = try SettledStore(store)
      defer { settled.close() }
      return try verified(settled, model)
    }
    Console.print(
      json ? try JSONOutput.document(Result(report: report, comparison: comparison)) : text(report, comparison))
    guard report.violations.isEmpty, comparison?.differences.isEmpty ?? true else { throw ExitCode(ExitCodes.mismatch) }
  }

  private func verified(
    _ settled: SettledStore, _ model: ManagedObjectModel
  ) throws -> (VerificationReport, StoreComparison?) {
    let display = ProgressDisplay(json ? .none : ProgressMode.auto.resolved(json: false))
    defer { display.end() }
    return try settled.naming {
      // What --against does besides takes most of the time.
      let share = against == nil ? 1 : 0.2
      let report = try StoreVerifier(path: settled.path, model: model).verify(
        mode: VerificationMode(verify), external: ExternalDataPlaces(store: store, source: against)
      ) { display.show(share * $0, "verification: \($1)") }
      return (
        report.named(store, note: settled.note),
        try against.map { source in
          try compare(source, settled: settled, model: model) { display.show(share + (1 - share) * $0, $1) }
        }
      )
    }
  }

  private struct Result: Encodable {
    var report: VerificationReport
    var comparison: StoreComparison?
  }

  private func model() throws -> ManagedObjectModel {
    let reader = try SourceStore.open(store, LocalFileSystem(), locking: .shared)
    defer { reader.close() }
    return try StoreModel.find(of: reader, in: named.library())
  }

  private func compare(
    _ source: String, settled: SettledStore, model: ManagedObjectModel,
    progress: @escaping @Sendable (Double, String) -> Void
  ) throws -> StoreComparison {
    let sources = try named.sources(for: source, mappings: mappings)
    var request = MigrationJob.Request(
      source: source, models: sources.models, mappings: sources.mappings, target: .version(model.name))
    request.unread = sources.unread
    return try MigrationJob(policies: Program.policies).compare(
      settled.path, of: model, with: request,
      monitor: RunMonitor(interval: request.interval) {
        progress(0.7 * $0.fraction, "the same migration: \($0.activity)")
      }
    ) { progress(0.7 + 0.3 * $0, "comparison: \($1)") }
  }

  /// The command that makes missing indexes.
  private var repair: String {
    ProgramName.command(["migrate", store, "--identity"] + named.arguments + named.swift.arguments).line
  }

  private func verdict(_ report: VerificationReport) -> String {
    let (rows, tables) = (report.tables.reduce(0) { $0 + $1.rows }, report.tables.count)
    let read = "\(rows.counted("row")) in \(tables.counted("table"))"
    guard report.violations.isEmpty else { return tables == 0 ? "not sound" : "not sound; \(read) could be read" }
    let checked =
      switch verify {
      case .full: ", and all that integrity_check looks at"
      case .sqlite: ", and SQLite's integrity_check finds nothing wrong"
      case .fast: ""
      }
    return "sound: \(read); every page, index and key was checked\(checked)"
  }

  private func text(_ report: VerificationReport, _ comparison: StoreComparison?) -> String {
    var lines = ["\(store): \(verdict(report))"]
    lines += report.entities.map { "  \($0.name): \(Console.count($0.rows))" }
    lines += (report.unreadEntities ?? []).map { "  \($0): not read" }
    if let external = report.external, external.references > 0 {
      // Without a source there is nothing to share files or compare them with.
      lines.append("  files outside the store: \(against == nil ? external.references.grouped : external.text)")
    }
    if let note = report.note { lines.append("note: \(note)") }
    lines += report.violations.map { "wrong: \($0.description)" } + report.warnings.map { "note: \($0.description)" }
    if report.tables.isEmpty, report.violations.contains(where: { $0.kind == .schema }) {
      lines.append("to read its tables as they are: \(ProgramName.command("export", "--raw", store).line)")
    }
    if report.warnings.contains(where: { $0.kind == .missingIndex }) {
      lines.append("to make what is missing: \(repair)")
    }
    for difference in comparison?.differences ?? [] {
      let first = [difference.entity ?? difference.table, difference.key.map { "\($0)" }].compactMap { $0 }.joined(
        separator: " ")
      let what = [first, difference.relationship].compactMap { $0 }.joined(separator: ", ")
      lines.append("differs: \(what), and \(Console.count(difference.rows - 1)) more rows of \(difference.table)")
    }
    for rejected in comparison?.rejected ?? [] {
      let (objects, them) = (rejected.count.counted("object"), rejected.count.verb("it", "them"))
      lines.append(
        "rejected: \(objects) of \(rejected.entity) cannot be migrated from \(rejected.version): no result has \(them)")
    }
    lines += comparison.map(equality) ?? []
    return lines.joined(separator: "\n")
  }

  /// More rows than the entities have: every table is compared.
  private func equality(_ comparison: StoreComparison) -> [String] {
    guard comparison.differences.isEmpty else { return [] }
    let (rows, tables) = (comparison.rows, comparison.tables.counted("table"))
    return [
      "\(rows.counted("row")) \(rows.verb("is", "are")) equal to those that the migration gives: "
        + "in all \(tables), with those of Core Data itself, as Z_METADATA"
    ]
  }
}

extension VerificationMode {
  fileprivate init(_ mode: VerifyCommand.Mode) {
    self =
      switch mode {
      case .fast: .fast
      case .full: .full
      case .sqlite: .sqlite
      }
  }
}
