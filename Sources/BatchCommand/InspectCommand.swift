import ArgumentParser
import Batch
import Foundation
import Streams

struct InspectCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect", abstract: "Says what a store is: version, entities, rows, log, traps. Never writes.")

  @Argument(help: "The store.") var store: String
  @Option(name: .long, parsing: .upToNextOption, help: "Models to find the store's version in.") var models: [String] = []
  @Flag(
    name: .long, help: "Count the rows of a store over 64 MiB, too; without it a sample of its pages tells how many there are.")
  var count = false
  @Flag(name: .long, help: "Print JSON.") var json = false

  var changed: String? { nil }

  func run() throws {
    let library = models.isEmpty ? nil : try ModelLibrary(paths: models)
    let found = try StoreInspection(path: store, models: library, fileSystem: LocalFileSystem(), counts: count)
    if json { return Console.print(try JSONOutput.text(found)) }
    Console.print(Self.text(found))
  }

  private static func text(_ found: StoreInspection) -> String {
    var lines = ["\(found.path)"]
    lines.append("  version      \(version(found))")
    lines.append("  identifiers  \(found.versionIdentifiers.joined(separator: ", "))")
    lines.append("  UUID         \(found.uuid)")
    lines.append("  framework    \(found.frameworkVersion.map(String.init) ?? "unknown")")
    lines.append("  model cache  \(found.modelCache)")
    if !found.applicationKeys.isEmpty { lines.append("  metadata     \(found.applicationKeys.joined(separator: ", "))") }
    let size = UInt64(found.pages) * UInt64(found.pageSize)
    lines.append(
      "  database     \(Console.size(size)) in pages of \(found.pageSize), auto_vacuum \(found.autoVacuum), \(found.encoding)")
    lines.append("  journal      \(found.journalMode), \(found.walFrames) pages in the -wal file")
    lines.append("  entities     number, rows, version hash")
    lines += found.entities.map(entity)
    if !found.tables.isEmpty { lines.append("  other tables") }
    lines += found.tables.map(table)
    lines.append("  indexes      \(found.indexes)")
    if !found.triggers.isEmpty { lines.append("  triggers     \(found.triggers.joined(separator: ", "))") }
    if let data = found.externalData {
      lines.append("  external     \(data.references) values in files, \(data.inline) in their rows")
    }
    lines += found.problems.map { "  problem: \($0)" }
    return (lines + found.traps.map { "  look out: \($0)" }).joined(separator: "\n")
  }

  private static func version(_ found: StoreInspection) -> String {
    switch (found.version, found.modelSource) {
    case (let version?, _): version
    case (nil, .cached): found.versionProblem ?? "the one that the store carries itself"
    case (nil, _): found.versionProblem ?? "unknown (give --models)"
    }
  }

  private static func entity(_ entity: StoreInspection.Entity) -> String {
    let rows =
      entity.isAbstract == true ? "abstract" : entity.rows.map { Console.count($0, isEstimate: entity.isEstimate) } ?? "no table"
    return "    \(entity.name): \(entity.number), \(rows), \(entity.versionHash?.prefix(16) ?? "no hash")"
  }

  private static func table(_ table: StoreInspection.Table) -> String {
    let rows = table.rows.map { ", \(Console.count($0, isEstimate: table.isEstimate)) rows" } ?? ""
    return "    \(table.name): \(table.relationship.map { "links of \($0)" } ?? table.kind.rawValue)\(rows)"
  }
}

struct PlanCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "plan", abstract: "Says how a store would be migrated. Writes nothing but the file of --graph.")

  @Argument(help: "The store.") var store: String
  @OptionGroup var models: ModelOptions
  @OptionGroup var extras: ExtrasArguments
  @OptionGroup var parts: PartArguments
  @Option(name: .long, help: "Where the result would go.") var output: String?
  @Flag(name: .long, help: "Exit with 3 when nothing is to be done.") var check = false
  @Option(name: .long, help: "Draw the parts and what they wait for: a file that ends in .svg, or in .dot for graphviz.")
  var graph: String?
  @Flag(name: .long, help: "Print JSON.") var json = false

  var changed: String? { nil }

  func run() throws {
    var request = try models.request(store, output: output)
    request.extras = extras.options
    request.parts = parts.selection
    let plan = try MigrationJob(policies: GodwitCommand.policies).plan(request)
    if let graph { try draw(plan, graph) }
    Console.print(json ? try PlanText(plan).json() : PlanText(plan).text)
    if check, plan.isUpToDate { throw ExitCode(ExitCodes.nothingToDo) }
  }

  func validate() throws {
    guard graph.map({ $0.hasSuffix(".svg") || $0.hasSuffix(".dot") }) ?? true else {
      throw ValidationError("--graph takes a file that ends in .svg or .dot")
    }
  }

  private func draw(_ plan: MigrationPlan, _ path: String) throws {
    let drawing = SplitDrawing(plan)
    let text = path.hasSuffix(".dot") ? drawing.dot : try drawing.svg
    do { try text.write(toFile: path, atomically: false, encoding: .utf8) } catch {
      throw BatchError(
        .failed, "the drawing cannot be written", hint: "Name a file in a folder that is there", path: path, cause: error)
    }
  }
}

/// A plan as people and scripts read it.
struct PlanText: Codable {
  struct Step: Codable {
    var from: String
    var to: String
    var passedVersions: [String]
    var inferred: Bool
    var reason: String
    var mappingModels: [Part]
    var split: MappingSplit
  }
  struct Part: Codable {
    var name: String
    var entityMappings: [String]
    var policies: [String]
  }

  var format = 1
  var store: String
  var version: String
  var target: String
  var steps: [Step]
  var rows: [String: UInt64]
  var totalRows: UInt64
  var bytes: UInt64
  var diskNeeded: UInt64
  var notes: [String]

  init(_ plan: MigrationPlan) {
    store = plan.source
    version = plan.sourceVersion.name
    target = plan.targetVersion.name
    steps = zip(plan.steps, plan.splits).map { step, split in
      Step(
        from: step.origin.name, to: step.destination.name, passedVersions: step.passedVersions,
        inferred: (step.passed + [step]).allSatisfy(\.isInferred),
        reason: step.reason,
        mappingModels: step.mappingModels.map { model in
          Part(
            name: model.name, entityMappings: model.entityMappings.map(\.name),
            policies: Set(model.entityMappings.compactMap(\.policyClassName)).sorted())
        }, split: split)
    }
    rows = Dictionary(plan.rows.map { ($0.entity, $0.rows) }, uniquingKeysWith: { first, _ in first })
    totalRows = plan.rows.reduce(0) { $0 + $1.rows }
    bytes = plan.bytes
    diskNeeded = plan.diskNeeded
    notes = plan.notes
  }

  func json() throws -> String { try JSONOutput.text(self) }

  /// A line a part, and what the proof of their independence rests on.
  private static func lines(_ split: MappingSplit) -> [String] {
    var lines = split.parts.map { part in
      let writes = part.writes.isEmpty ? "nothing" : part.writes.joined(separator: ", ")
      let reads = part.reads.map { "; reads \($0.entity) of part \($0.part)" }.joined()
      let waits = part.waitsFor.isEmpty ? "" : "; waits for \(part.waitsFor.map(String.init).joined(separator: ", "))"
      let skipped = part.isSkipped ? "; skipped" : ""
      return "  part \(part.number): \(part.entityMappings.joined(separator: ", ")); writes \(writes)\(reads)\(waits)\(skipped)"
    }
    if split.parts.count > 1 {
      lines.append("  proof: no table is written by two parts, and what is read of another part is finished")
    }
    if !split.arithmetic.isEmpty {
      lines.append("  proof: keys move by arithmetic, and need no order: \(split.arithmetic.joined(separator: ", "))")
    }
    return lines + split.assumptions.map { "  taken for granted: \($0)" } + split.dependencies.map { "  look out: \($0)" }
  }

  var text: String {
    guard !steps.isEmpty else { return "\(store): at version \(version), nothing to do" }
    var lines = ["\(store): version \(version) to \(target)"]
    for (index, step) in steps.enumerated() {
      lines.append("step \(index + 1): \(step.from) to \(step.to), \(step.inferred ? "inferred" : "mapped") (\(step.reason))")
      for part in step.mappingModels {
        let policies = part.policies.isEmpty ? "" : "; policies: \(part.policies.joined(separator: ", "))"
        lines.append("  \(part.name): \(part.entityMappings.joined(separator: ", "))\(policies)")
      }
      if !step.inferred { lines += Self.lines(step.split) }
    }
    lines.append("rows: \(Console.count(totalRows)), \(Console.size(bytes))")
    for entity in rows.keys.sorted() { lines.append("  \(entity): \(Console.count(rows[entity] ?? 0))") }
    lines.append("disk needed: \(Console.size(diskNeeded))")
    return (lines + notes.map { "note: \($0)" }).joined(separator: "\n")
  }
}
