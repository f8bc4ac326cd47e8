import Foundation
import Testing

@Suite(
  "Ordinary tables of many models",
  .enabled(if: ExampleCorpus.isPresent, "set GODWIT_CORPUS to the corpus"))
struct PlainCorpusTests {
  /// Paths of a kind in the corpus.
  private static func paths(_ kind: String) throws -> [String] {
    let index = try String(contentsOfFile: ExampleCorpus.root + "/INDEX.tsv", encoding: .utf8)
    var found: [String] = []
    for line in index.split(separator: "\n") {
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      if fields[0] == kind { found.append(ExampleCorpus.root + "/" + fields[1]) }
    }
    return found
  }

  /// A copy of a store with all that is beside it: nothing is written into the corpus.
  private func copy(_ store: String, _ folder: CommandFolder) throws -> String {
    let place = folder.newPath("store")
    let (name, parent) = ((store as NSString).lastPathComponent, (store as NSString).deletingLastPathComponent)
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    let stem = (name as NSString).deletingPathExtension
    for other in try FileManager.default.contentsOfDirectory(atPath: parent)
    where other.hasPrefix(name) || other.hasPrefix(".\(stem)_") {
      try FileManager.default.copyItem(atPath: parent + "/" + other, toPath: place + "/" + other)
    }
    return place + "/" + name
  }

  @Test("Real stores that carry their model: every value is in the tables, with either form of dates")
  func stores() throws {
    let folder = try CommandFolder()
    var (loaded, rows) = (0, 0)
    for original in try Self.paths("store") {
      let store = try copy(original, folder)
      for dates in ["iso", "unix"] {
        let output = folder.newPath("plain.sqlite")
        let outcome = try folder.run(
          "godwit",
          ["migrate", store, "--identity", "--to-sqlite", "plain", "--output", output, "--dates", dates]
            + ["--names", "core-data"])
        // Others need their models, or are refused as any migration of them.
        guard outcome.code != 20 else { continue }
        #expect(outcome.code == 0, "\(original): \(outcome)")
        guard outcome.code == 0 else { continue }
        _ = try PlainFile(path: output).check()
        do { rows += try PlainStoreComparison(file: output, store: store).run() } catch {
          Issue.record("\(original): \(error)")
        }
        loaded += 1
      }
    }
    #expect(loaded >= 60 && rows > 1000, "\(loaded) loads, \(rows) rows")
  }

  @Test("Made-up stores of every bundle: every value is in the tables, under names in snake case and the store's own")
  func bundles() throws {
    let folder = try CommandFolder()
    var loaded = 0
    for bundle in try Self.paths("model-bundle") {
      let store = folder.newPath("sample.sqlite")
      let made = try folder.run("godwit", ["sample", bundle, "--rows", "300", "--output", store])
      guard made.code == 0 else { continue }
      for (words, isOwn) in [(["--names", "core-data"], true), (["--inheritance", "class"], false)] {
        let output = folder.newPath("plain.sqlite")
        let outcome = try folder.run(
          "godwit",
          ["migrate", store, "--models", bundle, "--identity", "--to-sqlite", "plain", "--output", output] + words)
        #expect(outcome.code == 0, "\(bundle): \(outcome)")
        guard outcome.code == 0 else { continue }
        _ = try PlainFile(path: output).check()
        if isOwn {
          do { _ = try PlainStoreComparison(file: output, store: store).run() } catch {
            Issue.record("\(bundle): \(error)")
          }
        }
        loaded += 1
      }
    }
    #expect(loaded >= 100, "\(loaded)")
  }
}
