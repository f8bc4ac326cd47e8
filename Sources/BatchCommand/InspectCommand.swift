import ArgumentParser
import Batch
import Foundation
import Streams

struct InspectCommand: StoreCommand, ModelCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect", abstract: "Shows what a store holds: version, entities, rows, log, warnings. Never writes.")

  @Argument(help: .store, completion: .store) var store: String
  @OptionGroup var named: ModelArguments
  @Flag(
    name: .long, help: "Count the rows of a store over 64 MiB, too, instead of estimating them from a sample of pages.")
  var count = false
  @OptionGroup var evidence: HashArgument
  @Flag(name: .long, help: .json) var json = false

  var changed: String? { nil }
  var place: String? { store }

  func run() throws {
    let library = try named.library()
    guard try !XMLStore.isOne(store) else {
      let found = try evidence.reading([store]) { try XMLStore(store).inspect(models: library) }
      return Console.print(try json ? JSONOutput.document(found) : found.text)
    }
    let found = try evidence.reading([store]) {
      try StoreInspection(path: store, models: library, fileSystem: LocalFileSystem(), counts: count)
    }
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
    if !found.applicationKeys.isEmpty {
      lines.append("  metadata     \(found.applicationKeys.joined(separator: ", "))")
    }
    let size = UInt64(found.pages) * UInt64(found.pageSize)
    lines.append(
      "  database     \(Console.size(size)) in pages of \(found.pageSize), auto_vacuum \(found.autoVacuum), \(found.encoding)"
    )
    lines.append("  journal      \(found.journalMode), \(found.walFrames.counted("page")) in the -wal file")
    lines.append("  entities     number, rows, version hash")
    lines += found.entities.map(entity)
    if !found.tables.isEmpty { lines.append("  other tables") }
    lines += found.tables.map(table)
    if let raw = found.rawTables, !raw.isEmpty {
      lines.append(
        "  columns      by declared types; dates and links are guesses, keys and Booleans are integers like others")
      lines += raw.map(columns)
    }
    lines.append("  indexes      \(found.indexes)")
    if !found.triggers.isEmpty { lines.append("  triggers     \(found.triggers.joined(separator: ", "))") }
    if let data = found.externalData {
      lines.append("  external     \(data.references.counted("value")) in files, \(data.inline.grouped) in rows")
    }
    lines += found.problems.map { "  problem: \($0)" }
    return (lines + found.traps.map { "  warning: \($0)" }).joined(separator: "\n")
  }

  private static func version(_ found: StoreInspection) -> String {
    switch (found.version, found.modelSource) {
    case (let version?, _): version
    case (nil, .cached): found.versionProblem ?? "unknown; the store's own model is used"
    case (nil, _): found.versionProblem ?? "unknown (give --models)"
    }
  }

  private static func entity(_ entity: StoreInspection.Entity) -> String {
    let rows =
      entity.isAbstract == true
      ? "abstract" : entity.rows.map { Console.count($0, isEstimate: entity.isEstimate) } ?? "no table"
    return "    \(entity.name): \(entity.number), \(rows), \(entity.versionHash?.prefix(16) ?? "no hash")"
  }

  private static func columns(_ table: StoreInspection.RawTable) -> String {
    let links = table.links.map { ", links \($0.map { $0 ?? "an unknown entity" }.joined(separator: " and "))" }
    let columns = table.columns.map { column in
      let type = column.guess == "date" ? "\(column.type) (date)" : column.type
      return type.isEmpty ? column.name : "\(column.name) \(type)"
    }
    let list = columns.isEmpty ? "" : ": \(columns.joined(separator: ", "))"
    return "    \(table.name)\(table.entity.map { " of \($0)" } ?? links ?? "")\(list)"
  }

  private static func table(_ table: StoreInspection.Table) -> String {
    let rows = table.rows.map { ", \(Console.count($0, isEstimate: table.isEstimate)) \($0.verb("row", "rows"))" } ?? ""
    return "    \(table.name): \(table.relationship.map { "links of \($0)" } ?? table.kind.rawValue)\(rows)"
  }
}
