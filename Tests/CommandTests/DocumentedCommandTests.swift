import Foundation
import GRDB
import Streams
import Testing

@testable import BatchCommand
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport
@testable import StoreSamples

@Suite("Commands in the documents")
struct DocumentedCommandTests {
  private struct Command {
    var document: String
    var program: String
    var arguments: [String]
    var line: String
  }

  private static let root = ExampleFolder.root

  private static func documents() throws -> [String] {
    let folders = ["docs", "docs/manual", "Sources/Batch/Batch.docc", "Sources/Streams/Streams.docc"]
    return try ["README.md"]
      + folders.flatMap { folder in
        try FileManager.default.contentsOfDirectory(atPath: "\(root)/\(folder)").sorted()
          .filter { $0.hasSuffix(".md") || $0 == "session.txt" }.map { "\(folder)/\($0)" }
      }
  }

  /// What blocks of shell commands and of sessions call.
  private static func commands(_ document: String) throws -> [Command] {
    let text = try String(contentsOfFile: "\(root)/\(document)", encoding: .utf8)
    let blocks =
      document.hasSuffix(".txt")
      ? [text]
      : ["```sh\n", "```console\n"].flatMap { fence in
        text.components(separatedBy: fence).dropFirst().compactMap { $0.components(separatedBy: "\n```").first }
      }
    return blocks.flatMap { $0.split(separator: "\n") }.compactMap { line in
      let command = line.hasPrefix("$ ") ? line.dropFirst(2) : line
      guard let program = ["godwit", "book-migration"].first(where: { command.hasPrefix($0 + " ") }) else { return nil }
      let words = ShellLine(String(command[..<end(of: command)])).whole ?? []
      return Command(document: document, program: program, arguments: Array(words.dropFirst()), line: String(command))
    }
  }

  /// Where a comment or a redirection begins, outside of quotation marks.
  private static func end(of command: Substring) -> Substring.Index {
    let found = ["  #", " # ", " > "].flatMap { command.ranges(of: $0).map(\.lowerBound) }
    return found.filter { place in command[..<place].count { $0 == "'" }.isMultiple(of: 2) }.min() ?? command.endIndex
  }

  /// Those whose commands are run, as far as the library of books is enough.
  private static let runDocuments = [
    "README.md", "docs/manual/application.md", "docs/manual/inspect-and-plan.md", "docs/manual/migrate.md",
    "docs/manual/mapping-files.md",
    "docs/manual/cookbook.md", "docs/manual/unattended.md", "docs/manual/many-stores.md", "docs/manual/postgres.md",
    "docs/manual/ordinary-tables.md",
    "docs/manual/forensics.md", "docs/manual/making-stores.md", "Sources/Batch/Batch.docc/TestingYourMigrations.md",
    "Sources/Batch/Batch.docc/DeclarativePolicies.md", "Sources/Batch/Batch.docc/Resuming.md",
  ]

  /// Is a command run? The models of other applications are not here, nor are servers of the documents' names.
  private static func isRun(_ command: Command) -> Bool {
    guard runDocuments.contains(command.document), !command.arguments.contains("--to-postgres") else { return false }
    guard let place = command.arguments.firstIndex(of: "--models") else { return true }
    return command.arguments[place + 1] == "Library.xcdatamodeld"
  }

  @Test("Every one that is not run is one that the program understands")
  func parsed() throws {
    var seen: Set<[String]> = []
    for command in try Self.documents().flatMap(Self.commands) where !Self.isRun(command) {
      guard seen.insert(command.arguments).inserted else { continue }
      #expect(throws: Never.self, "\(command.document): \(command.line)") {
        try GodwitCommand.parseAsRoot(command.arguments)
      }
    }
    #expect(seen.count > 10)
  }

  /// What ends otherwise than with 0 where no migration is under way, and what takes it: all of them are tested where
  /// one is.
  private static let otherCodes: [String: Int32] = ["ctl": 20, "resume": 20]

  @Test("Every one that needs nothing but a library of books is run, and does what it says", arguments: runDocuments)
  func run(document: String) throws {
    let folder = try CommandFolder()
    try Self.furnish(folder)
    try Self.furnishFleet(folder)
    try Self.furnishXML(folder)
    try Self.furnishLines(folder)
    let isWhole = document == "README.md" || document.hasPrefix("docs/manual/")
    let readme = Set(isWhole ? [] : try Self.commands("README.md").map(\.arguments))
    var count = 0
    // What has been run for the README looks the same in an article; in the manual later commands need it.
    for command in try Self.commands(document) where Self.isRun(command) && !readme.contains(command.arguments) {
      if let output = command.arguments.firstIndex(of: "--output").map({ command.arguments[$0 + 1] }) {
        try? FileManager.default.removeItem(atPath: folder.file(output))
      }
      if let external = command.arguments.firstIndex(of: "--external").map({ command.arguments[$0 + 1] }) {
        try FileManager.default.createDirectory(atPath: folder.file(external), withIntermediateDirectories: true)
      }
      let outcome = try folder.run(command.program, command.arguments, launcher: ["/usr/bin/env", "-C", folder.path])
      #expect(outcome.code == Self.otherCodes[command.arguments[0]] ?? 0, "\(document): \(command.line): \(outcome)")
      count += 1
    }
    #expect(count > 0 || document.hasSuffix("Resuming.md"))
  }

  /// A folder of stores and the plan that the documents make of it.
  private static func furnishFleet(_ folder: CommandFolder) throws {
    let stores = folder.file("stores")
    try FileManager.default.createDirectory(atPath: stores, withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: folder.file("First.sqlite"), toPath: stores + "/One.sqlite")
    let plan = try folder.run(
      "godwit",
      ["fleet", "plan", "--manifest", stores, "--models", folder.file("Library.xcdatamodeld"), "--tasks", "4"])
    try plan.output.write(toFile: folder.file("fleet.json"), atomically: true, encoding: .utf8)
  }

  /// The lines that the document shows for an import, which it calls new.jsonl.
  private static func furnishLines(_ folder: CommandFolder) throws {
    let text = try String(contentsOfFile: "\(root)/docs/manual/making-stores.md", encoding: .utf8)
    let block = text.components(separatedBy: "```json\n").dropFirst().first?.components(separatedBy: "```").first
    try #require(block).write(toFile: folder.file("new.jsonl"), atomically: true, encoding: .utf8)
  }

  /// The library as an XML store.
  private static func furnishXML(_ folder: CommandFolder) throws {
    let exported = try folder.run(
      "godwit", ["export", folder.file("First.sqlite"), "--to-many", "--dates", "seconds"])
    let writer = XMLStoreWriter(model: try ModelLibrary(paths: [ExampleFolder.models]).target(named: "Library 1"))
    try writer.text(writer.objects(exported.output)).write(
      toFile: folder.file("Library.xml"), atomically: true, encoding: .utf8)
  }

  /// Stores, models and mappings under the names that the documents use.
  private static func furnish(_ folder: CommandFolder) throws {
    let files = FileManager.default
    try files.createDirectory(atPath: folder.file("App"), withIntermediateDirectories: true)
    for (name, path) in [
      ("Library.xcdatamodeld", ExampleFolder.models), ("Mappings", ExampleFolder.mappings),
      ("App/Library.xcdatamodeld", ExampleFolder.models), ("App/Mappings", ExampleFolder.mappings),
      ("Library1_to_Library2.xcmappingmodel", ExampleFolder.mappings + "/Library1_to_Library2.xcmappingmodel"),
      ("Old.xcmappingmodel", ExampleFolder.mappings + "/Library1_to_Library2.xcmappingmodel"),
      ("Library1_to_Library2.yaml", root + "/Examples/Mappings/Library/Library1_to_Library2.yaml"),
      ("Library2_to_Library3.yaml", root + "/Examples/Mappings/Library/Library2_to_Library3.yaml"),
    ] { try files.copyItem(atPath: path, toPath: folder.file(name)) }
    let library = try ModelLibrary(paths: [ExampleFolder.models])
    for (name, version) in [
      ("Library.sqlite", "Library 1"), ("Library2.sqlite", "Library 2"), ("Old.sqlite", "Library 1"),
      ("First.sqlite", "Library 1"), ("Monday.sqlite", "Library 1"), ("Tuesday.sqlite", "Library 1"),
      ("History.sqlite", "Library 1"),
    ] {
      try StoreSampler(model: library.target(named: version), rows: 60, seed: 1)
        .write(to: folder.file(name), fileSystem: LocalFileSystem(), progress: { _ in })
    }
    let history = try DatabaseQueue(path: folder.file("History.sqlite"))
    try history.write { try $0.execute(sql: "CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, ZENTITY INTEGER)") }
    try history.close()
    let request = MigrationJob.Request(
      source: folder.file("Old.sqlite"), output: folder.file("New.sqlite"), models: [ExampleFolder.models])
    _ = try MigrationJob().migrate(request, monitor: RunMonitor())
    try "First.sqlite\n".write(toFile: folder.file("stores.txt"), atomically: true, encoding: .utf8)
  }
}
