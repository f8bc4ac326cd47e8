import Foundation
import Testing

@testable import BatchCommand
@testable import MigrationJobs
@testable import RunSupport

@Suite("Progress on standard error")
struct ProgressDisplayTests {
  private static func progress() -> MigrationProgress {
    var progress = MigrationProgress(fraction: 0.42, rows: 9_000_000, seconds: 60)
    (progress.rowsPerSecond, progress.bytesPerSecond, progress.secondsLeft) = (1_234_567, 120_300_000, 190)
    (progress.step, progress.steps) = (2, 3)
    (progress.activity, progress.mappingModels) = ("AuthorToAuthor, BookToBook", ["Library2_to_Library3"])
    return progress
  }

  @Test(
    "A bar fits the terminal's width with its last column free, and says the most important first",
    arguments: [20, 60, 80, 200])
  func bar(width: Int) {
    let text = ProgressText(Self.progress())
    let bar = text.bar(width: width, isColored: false)
    #expect(bar.count < width && bar.contains("42 %"))
    #expect((width < 60) == !bar.hasPrefix("[#"))
    if width >= 60 { #expect(bar.contains("42 %  ETA 3 min 10 s")) }
    if width >= 200 { #expect(bar.contains("step 2/3  120.3 MB/s  AuthorToAuthor, BookToBook (Library2_to_Library3)")) }
    // Colours take no column.
    let colored = text.bar(width: width, isColored: true).replacing(/\u{1B}\[[0-9;]*m/, with: "")
    #expect(colored == bar)
  }

  @Test("A paused run shows no rates and no time that is left")
  func paused() {
    var progress = Self.progress()
    progress.isPaused = true
    #expect(ProgressText(progress).line == "42 %  paused  step 2/3  AuthorToAuthor, BookToBook (Library2_to_Library3)")
  }

  @Test("JSON lines on standard error: versioned, with all documented keys, and never going back")
  func json() throws {
    let folder = try CommandFolder()
    let store = try folder.sample(rows: 20_000)
    let words = ["migrate", store, "--json", "--throttle", "20krows/s"] + CommandFolder.models
    let outcome = try folder.run("book-migration", words)
    #expect(outcome.code == 0 && outcome.output.contains("\"targetVersion\" : \"Library 3\""))
    let lines = outcome.error.split(separator: "\n")
    let records = try lines.map { try JSONDecoder().decode(ProgressRecord.self, from: Data($0.utf8)) }
    try #require(!records.isEmpty)
    #expect(records.allSatisfy { $0.format == 1 && $0.event == "progress" })
    #expect(zip(records, records.dropFirst()).allSatisfy { $0.fraction <= $1.fraction && $0.rows <= $1.rows })
    let keys = try #require(try JSONSerialization.jsonObject(with: Data(lines[0].utf8)) as? [String: Any]).keys
    let page = try String(contentsOfFile: ExampleFolder.root + "/docs/manual/json.md", encoding: .utf8)
    #expect(keys.filter { !page.contains("`\($0)`") } == [])
  }

  @Test(
    "Elsewhere than on a terminal there are neither escape sequences nor carriage returns, and --progress none says nothing"
  )
  func plain() throws {
    let folder = try CommandFolder()
    let store = try folder.sample(rows: 3000)
    for mode in [[], ["--progress", "none"], ["--quiet"]] {
      let output = folder.newPath("output.sqlite")
      let outcome = try folder.run(
        "book-migration", ["migrate", store, "--output", output] + mode + CommandFolder.models)
      #expect(outcome.code == 0 && !outcome.error.contains("\u{1B}") && !outcome.error.contains("\r"))
      #expect(mode.isEmpty || outcome.error.isEmpty)
    }
  }
}
