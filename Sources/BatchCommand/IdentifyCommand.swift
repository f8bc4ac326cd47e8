import ArgumentParser
import Batch
import Streams

struct IdentifyCommand: StoreCommand, ModelCommand {
  static let configuration = CommandConfiguration(
    commandName: "identify", abstract: "Finds the model version of a store. Never writes.",
    discussion: """
      The version is found by its hashes. If none fits, the nearest version is shown, and what differs: entities by their \
      hashes, and in them the properties for which the store has no column, or a column of another type. If the store \
      carries its model, the edits are listed that make it the nearest version. The exit code is 0 if a version fits, and 20 \
      if none does, as with plan and migrate. With --by-tables the versions are shown whose tables the store has, whatever its \
      metadata say; the code is 20 if there is none.
      """)

  @Argument(help: .store, completion: .store) var store: String
  @OptionGroup var named: ModelArguments
  @Flag(name: .long, help: "Compare the tables, not the version hashes in the metadata.") var byTables = false
  @Flag(name: .long, help: .json) var json = false

  var changed: String? { nil }
  var place: String? { store }

  func run() throws {
    try named.demand()
    guard let library = try named.library() else { return }
    let reader = try SourceStore.open(store, LocalFileSystem(), locking: .shared)
    defer { reader.close() }
    Console.tellRecovery(reader)
    if byTables { return try identifyByTables(reader, library) }
    let found = StoreIdentification(reader, in: library)
    Console.print(json ? try JSONOutput.document(found) : Self.text(found))
    if found.versions.isEmpty { throw ExitCode(ExitCodes.refused) }
  }

  private struct ByTables: Encodable {
    var path: String
    /// What the metadata say; missing if they name no version that is known.
    var claimed: String?
    /// What the tables fit.
    var versions: [String]
    /// Whole commands that plan a migration from each of them; empty if the metadata say the same.
    var next: [AdvisedCommand] = []

    private enum Key: String, CodingKey { case path, claimed, versions, next }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(path, forKey: .path)
      try container.encodeIfPresent(claimed, forKey: .claimed)
      try container.encode(versions, forKey: .versions)
      try container.encode(next.map(\.line), forKey: .next)
    }
  }

  private func identifyByTables(_ reader: StoreReader, _ library: ModelLibrary) throws {
    let fit = TableFit(reader, in: library)
    var found = ByTables(path: reader.path, claimed: fit.claimedName, versions: fit.names)
    if !fit.isConsistent { found.next = plans(from: fit, reader, library) }
    Console.print(json ? try JSONOutput.document(found) : Self.text(found))
    if found.versions.isEmpty { throw ExitCode(ExitCodes.refused) }
  }

  /// Where several versions fit, each command lists the one that it begins at first.
  private func plans(from fit: TableFit, _ reader: StoreReader, _ library: ModelLibrary) -> [AdvisedCommand] {
    let planner = MigrationPlanner(library: library, mappings: [], policies: Program.policies, fromTables: true)
    let orders =
      fit.versions.count == 1
      ? [[]] : planner.tableOrders(reader, target: .current).map { ["--versions", $0.joined(separator: ",")] }
    return orders.map {
      ProgramName.command(["plan", store, "--from-tables"] + named.arguments + named.swift.arguments + $0)
    }
  }

  private static func text(_ found: ByTables) -> String {
    var lines = found.versions.map { "\(found.path): the tables are those of \($0)" }
    if lines.isEmpty { lines.append("\(found.path): the tables are those of no version") }
    lines.append("  the metadata say \(found.claimed ?? "a version that is not known")")
    if found.next.count == 1 {
      lines.append("  to migrate from there, look at the plan first: \(found.next[0].line)")
    } else if !found.next.isEmpty {
      lines.append("  to migrate from the version that made them, which comes first in --versions, look at the plan:")
      lines += found.next.map { "    \($0.line)" }
    }
    return lines.joined(separator: "\n")
  }

  private static func text(_ found: StoreIdentification) -> String {
    var lines = found.versions.map { "\(found.path): version \($0.name) of \($0.path)" }
    if lines.isEmpty {
      lines.append("\(found.path): no version fits")
      lines.append("  checksum  \(found.versionChecksum)")
      if let nearest = found.nearest { lines.append("  nearest   \(nearest.name) of \(nearest.path)") }
    }
    if !found.edits.isEmpty {
      lines.append("  likeliest edit\(found.edits.count == 1 ? "" : "s") since the store was written:")
      lines += found.edits.map { "    \($0)" }
    }
    lines += found.differences.flatMap(text)
    return (lines + found.unknownColumns.map { "  the version does not know the column \($0)" }).joined(separator: "\n")
  }

  private static func text(_ difference: StoreIdentification.Difference) -> [String] {
    let what =
      switch difference.kind {
      case .hash: "another version hash"
      case .tables: "the hash fits, but the tables do not: a -wal file may be lost"
      case .onlyInStore: "only in the store"
      case .onlyInVersion: "only in the version"
      }
    var lines = ["  \(difference.entity): \(what)"]
    if !difference.missing.isEmpty {
      lines.append("    the store has no place for \(difference.missing.joined(separator: ", "))")
    }
    return lines + difference.retyped.map { "    \($0)" }
  }
}
