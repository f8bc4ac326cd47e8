import Foundation
import GRDB
import Streams
import Synchronization
import Testing

@testable import MigrationJobs
@testable import RunSupport
@testable import StoreSamples

/// A small library of version 1: two books by one author, one by another, one user. Removed when the test ends.
final class ArticleLibrary {
  let path: String
  let store: String
  let model: String
  /// The mapping file of the article about policies, and that of the one about rules.
  let mapping: String
  let rules: String

  init() throws {
    path = FileManager.default.temporaryDirectory.appendingPathComponent("godwit-article-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    (store, mapping) = (path + "/Library 1.sqlite", path + "/Library1_to_Library2.yaml")
    rules = path + "/Rules.yaml"
    model = ExampleLibrary.folder + "/Library.xcdatamodeld"
    try StoreSampler(model: try ExampleLibrary.version(1), rows: 1000, seed: 1)
      .write(to: store, fileSystem: LocalFileSystem(), progress: { _ in })
    let queue = try DatabaseQueue(path: store)
    defer { try? queue.close() }
    try queue.write { database in
      try database.execute(
        sql: """
          DELETE FROM ZUSER WHERE Z_PK > 1; UPDATE ZUSER SET Z_PK = 1; DELETE FROM ZBOOK WHERE Z_PK > 3; UPDATE ZBOOK SET ZUSER = 1;
          UPDATE ZBOOK SET ZAUTHORNAME = 'Jane Austen', ZTITLE = CASE Z_PK WHEN 1 THEN 'Emma' ELSE 'Persuasion' END;
          UPDATE ZBOOK SET ZAUTHORNAME = 'Mary Shelley', ZTITLE = 'Frankenstein' WHERE Z_PK = 3
          """)
    }
    for (article, file) in [("WritingAPolicy.md", mapping), ("DeclarativePolicies.md", rules)] {
      let block = try #require(try ArticleTests.blocks("yaml").first { $0.article == article })
      try block.text.write(toFile: file, atomically: true, encoding: .utf8)
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

@Suite("Articles of the documentation")
struct ArticleTests {
  private static func folder(_ module: String) -> String { "\(ExampleLibrary.root)/Sources/\(module)/\(module).docc" }

  private static func articles(_ module: String = "Batch") throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder(module)).sorted()
  }

  /// The blocks of code of all articles.
  static func blocks(_ language: String) throws -> [(article: String, text: String)] {
    try articles().flatMap { article in
      let text = try String(contentsOfFile: "\(folder("Batch"))/\(article)", encoding: .utf8)
      return text.components(separatedBy: "```\(language)\n").dropFirst()
        .compactMap { $0.components(separatedBy: "```").first }.map { (article, $0) }
    }
  }

  private static func lines(_ text: String) -> [String] {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
  }

  @Test("Their code is code that is compiled and run")
  func code() throws {
    let path = ExampleLibrary.root + "/Tests/BatchTests/Documentation/DocumentedCode.swift"
    let compiled = Self.lines(try String(contentsOfFile: path, encoding: .utf8))
    let blocks = try Self.blocks("swift")
    #expect(blocks.count == 8)
    for block in blocks {
      let wanted = Self.lines(block.text)
      let isThere = compiled.indices.contains { compiled[$0...].starts(with: wanted) }
      #expect(isThere, "\(block.article): \(wanted.first ?? "")")
    }
  }

  @Test(
    "Types and articles that they link to are there, and every article is linked to", arguments: ["Batch", "Streams"])
  func links(module: String) throws {
    let declared = try Self.declaredTypes(module)
    let articles = try Self.articles(module)
    var linked: Set<String> = ["\(module).md"]
    for article in articles {
      let text = try String(contentsOfFile: "\(Self.folder(module))/\(article)", encoding: .utf8)
      for name in text.matches(of: /``([A-Z][A-Za-z0-9]*)/).map(\.output.1) where name != module {
        #expect(declared.contains(String(name)), "\(article): \(name)")
      }
      for name in text.matches(of: /<doc:([A-Za-z]+)>/).map(\.output.1) {
        #expect(articles.contains("\(name).md"), "\(article): \(name)")
        linked.insert("\(name).md")
      }
    }
    #expect(linked == Set(articles))
  }

  /// Names of a library's public types.
  private static func declaredTypes(_ module: String) throws -> Set<String> {
    let folder = "\(ExampleLibrary.root)/Sources/\(module)/"
    let sources = FileManager.default.enumerator(atPath: folder)?.allObjects as? [String] ?? []
    let kinds: Set<String> = ["struct", "class", "enum", "protocol", "typealias"]
    var names: Set<String> = []
    for file in sources where file.hasSuffix(".swift") {
      let text = try String(contentsOfFile: folder + file, encoding: .utf8)
      for line in text.split(separator: "\n") where line.hasPrefix("public ") {
        let words = line.split { !$0.isLetter && !$0.isNumber }.map(String.init)
        guard let kind = words.firstIndex(where: kinds.contains), kind + 1 < words.count else { continue }
        names.insert(words[kind + 1])
      }
    }
    return names
  }

  @Test("The first migration, another by stages, and one by the policy do what they say")
  func run() async throws {
    let library = try ArticleLibrary()
    let staged = DocumentedCode(
      store: library.store, model: library.model, mappings: [ExampleLibrary.root + "/Examples/Mappings/Library"])
    let refused = await #expect(throws: BatchError.self) { try await staged.goOn() }
    #expect(refused?.code == .refused)
    let report = try await staged.chooseTheWay()
    #expect(report.targetVersion == "Library 3" && report.rows["Author"] == 2 && report.rows["File"] == 3)
    // Nothing is left to be done.
    #expect(try await staged.firstMigration().steps == 0)
  }

  @Test("The three lines migrate a store and show its progress, and the policy is found by its name")
  func threeLines() async throws {
    let folder = try MigrationFolder(MigrationModels.all)
    let store = try folder.sample("V1", rows: 500, seed: 1)
    let shown = Mutex<[Double]>([])
    let code = DocumentedCode(store: store, model: folder.models) { fraction, _ in
      shown.withLock { $0.append(fraction) }
    }
    #expect(try await code.firstMigration().targetVersion == "V3")
    #expect(shown.withLock { $0.last } == 1)
    let library = try ArticleLibrary()
    let handed = DocumentedCode(store: library.store, model: library.model)
    // The mapping file leads to version 2; from there on it is inferred.
    let report = try await handed.handOver(mapping: library.mapping)
    #expect(report.targetVersion == "Library 3" && report.rows["Author"] == 2 && report.rows["Book"] == 3)
    // The article about rules promises the same without the policy.
    let other = try ArticleLibrary()
    let ruled = try await DocumentedCode(store: other.store, model: other.model, mappings: [other.rules]).byRules()
    #expect(ruled.rows == report.rows)
  }
}
