import Foundation
import Testing

@testable import SwiftDataModels

@Suite("What check prints for programs")
struct LockFormatTests {
  private let folder: CommandFolder

  init() throws { folder = try CommandFolder() }

  /// The example's models with a lock, and then an edit in the first version.
  private func models() throws -> String {
    let models = folder.file("Library, one.xcdatamodeld")
    try FileManager.default.copyItem(atPath: ExampleFolder.models, toPath: models)
    let done = try folder.run("godwit", ["lock", models])
    try #require(done.code == 0, "\(done)")
    let contents = models + "/Library 1.xcdatamodel/contents"
    let text = try String(contentsOfFile: contents, encoding: .utf8)
    let line = try #require(text.split(separator: "\n").first { $0.contains("name=\"pages\"") })
    let other = line.replacing("Integer 32", with: "Integer 64")
    try text.replacing(line, with: other).write(toFile: contents, atomically: true, encoding: .utf8)
    return models
  }

  private func line(_ models: String) throws -> Int {
    let text = try String(contentsOfFile: models + "/Library 1.xcdatamodel/contents", encoding: .utf8)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    return try #require(lines.firstIndex { $0.contains("name=\"pages\"") }) + 1
  }

  @Test("Versions of Xcode's are locked, too; a change is found at its line, with what to do in Xcode")
  func bundle() throws {
    let models = try models()
    let found = try folder.run("godwit", ["check", models])
    #expect(found.code == 4, "\(found)")
    let place = try "\(models)/Library 1.xcdatamodel/contents:\(line(models)): error: version Library 1: Book.pages "
    #expect(found.output.contains(place) && found.output.contains("(in Xcode: Editor > Add Model Version)"), "\(found)")
    #expect(found.output.contains("step Library 1 to Library 2: "))
  }

  @Test("JSON has the findings with rule, level, version, entity, property, file, line and commands, and the steps")
  func json() throws {
    let models = try models()
    let line = try line(models)
    for words in [["--json"], ["--format", "json"]] {
      let found = try folder.run("godwit", ["check", models] + words)
      let document = try #require(JSONSerialization.jsonObject(with: Data(found.output.utf8)) as? [String: Any])
      #expect(found.code == 4 && document["format"] as? Int == 1)
      #expect(document["locked"] as? [String] == ["Library 1", "Library 2", "Library 3"])
      let finding = try #require((document["findings"] as? [[String: Any]])?.first)
      #expect(finding["rule"] as? String == "locked-version-changed" && finding["level"] as? String == "error")
      #expect(finding["version"] as? String == "Library 1" && finding["entity"] as? String == "Book")
      #expect(finding["property"] as? String == "pages" && finding["line"] as? Int == line)
      #expect((finding["next"] as? [String])?.first?.hasPrefix("godwit lock ") == true)
      #expect((document["steps"] as? [[String: Any]])?.map { $0["to"] as? String } == ["Library 2", "Library 3"])
    }
    let refused = try folder.run("godwit", ["check", models, "--json", "--format", "sarif"])
    #expect(refused.code == 64)
  }

  @Test("SARIF has version 2.1.0, a rule for each result, and paths from the current folder, percent-encoded")
  func sarif() throws {
    let models = try models()
    let line = try line(models)
    let found = try folder.run(
      "godwit", ["Library, one.xcdatamodeld", "--format", "sarif"],
      launcher: ["/bin/sh", "-c", "cd '\(folder.path)' && exec \"$0\" check \"$@\""])
    #expect(found.code == 4, "\(found)")
    let log = try #require(JSONSerialization.jsonObject(with: Data(found.output.utf8)) as? [String: Any])
    #expect(log["version"] as? String == "2.1.0" && log["$schema"] != nil)
    let run = try #require((log["runs"] as? [[String: Any]])?.first)
    let driver = try #require((run["tool"] as? [String: Any])?["driver"] as? [String: Any])
    let rules = (driver["rules"] as? [[String: Any]])?.compactMap { $0["id"] as? String } ?? []
    let result = try #require((run["results"] as? [[String: Any]])?.first)
    #expect(rules.contains(result["ruleId"] as? String ?? "") && result["level"] as? String == "error")
    let location = (result["locations"] as? [[String: Any]])?.first?["physicalLocation"] as? [String: Any]
    #expect(
      (location?["artifactLocation"] as? [String: Any])?["uri"] as? String
        == "Library,%20one.xcdatamodeld/Library%201.xcdatamodel/contents")
    #expect((location?["region"] as? [String: Any])?["startLine"] as? Int == line)
  }

  @Test("Each result of SARIF has a place, as GitHub demands: the lock's where no source is left")
  func places() throws {
    let models = try models()
    try FileManager.default.removeItem(atPath: models + "/Library 1.xcdatamodel")
    let found = try folder.run("godwit", ["check", models, "--format", "sarif"])
    let log = try #require(JSONSerialization.jsonObject(with: Data(found.output.utf8)) as? [String: Any])
    let results = try #require((log["runs"] as? [[String: Any]])?.first?["results"] as? [[String: Any]])
    #expect(found.code == 4 && results.first?["ruleId"] as? String == "locked-version-missing")
    for result in results {
      let location = (result["locations"] as? [[String: Any]])?.first?["physicalLocation"] as? [String: Any]
      let uri = (location?["artifactLocation"] as? [String: Any])?["uri"] as? String
      #expect(uri?.hasSuffix("schema.lock") == true && (location?["region"] as? [String: Int])?["startLine"] == 1)
    }
  }

  @Test("Annotations of GitHub are lines that it reads: commas and colons of paths are escaped")
  func github() throws {
    let models = try models()
    let found = try folder.run("godwit", ["check", models, "--format", "github"])
    let first = try #require(found.output.split(separator: "\n").first)
    let path = models.replacing(",", with: "%2C").replacing(":", with: "%3A")
    #expect(
      first.hasPrefix("::error file=\(path)/Library 1.xcdatamodel/contents,line=\(try line(models)),title="), "\(first)"
    )
    #expect(first.contains("::version Library 1: Book.pages ") && found.code == 4)
  }
}
