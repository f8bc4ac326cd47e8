import Foundation
import Testing

/// What the program makes of real stores, beside what Core Data made of them.
@Suite(
  "Real stores before and after Core Data's own migration",
  .enabled(if: ExampleCorpus.isPresent, "set GODWIT_CORPUS to the corpus"))
struct CorpusPairsTests {
  @Test("Every pair is equal but for the differences that docs/evidence.md explains, in kind and number")
  func everyPair() throws {
    let folder = try CommandFolder()
    let text = try String(contentsOfFile: ExampleFolder.root + "/docs/evidence.md", encoding: .utf8)
    let expected = try #require(text.components(separatedBy: "```text\n").last?.components(separatedBy: "```").first)
    let script = [
      "/usr/bin/env", "GODWIT_CORPUS=\(ExampleCorpus.root)", "python3", ExampleFolder.root + "/scripts/corpus-pairs",
    ]
    // The launcher's own argument is the program: the script takes it as it stands.
    let outcome = try folder.run("godwit", [], launcher: script + ["--godwit"])
    #expect(outcome.error == "" && outcome.code == 0)
    #expect(outcome.output == expected)
  }
}
