import Foundation
import Testing

@testable import SwiftDataModels

@Suite("Migration plans of SwiftData in the command", .enabled(if: SourceParser.isThere, "built without SwiftData"))
struct SwiftPlanCommandTests: StagedSources {
  let folder: CommandFolder

  init() throws { folder = try CommandFolder(readsSwift: true) }

  /// A begun mapping file of a step that somebody has looked at.
  private static func decided(_ text: String) -> String { text.replacing(#/\nundecided: .*/#, with: "") }

  @Test("Lightweight stages, and custom ones without closures, are inferred")
  func inferred() throws {
    let sources = try sources(Self.empty)
    let done = try folder.run("godwit", ["migrate", try store(sources), "--models", sources])
    #expect(done.code == 0, "\(done)")
    #expect(try folder.run("godwit", ["models", sources]).output.contains("2.0.0 to 3.0.0: can be inferred"))
  }

  @Test("A stage with a closure is refused with file and line; the command of the advice begins its mapping file")
  func custom() throws {
    let sources = try sources(Self.custom)
    let store = try store(sources)
    let place = "its stage runs code of the application (\(sources)/Schema.swift:"
    for command in ["plan", "migrate"] {
      let refused = try folder.run("godwit", [command, store, "--models", sources])
      #expect(
        refused.code == 20 && refused.error.contains("the step 2.0.0 to 3.0.0 needs a mapping model: "), "\(refused)")
      #expect(refused.error.contains(place) && refused.error.contains("mapping init 2.0.0 3.0.0 --models \(sources)`"))
    }
    #expect(try folder.run("godwit", ["models", sources]).output.contains("needs a mapping model: " + place))
    // Up to the version before it, nothing is in the way.
    #expect(try folder.run("godwit", ["plan", store, "--models", sources, "--to", "2.0.0"]).code == 0)
    let begun = try folder.run("godwit", ["mapping", "init", "2.0.0", "3.0.0", "--models", sources])
    #expect(begun.code == 0, "\(begun)")
    let file = folder.newPath("Stage.yaml")
    let text = "from: 2.0.0\nto: 3.0.0\nentities:\n  - from: Book\n    attributes: { shout: $source.title }\n"
    for mapping in [Self.decided(begun.output), text] {
      try mapping.write(toFile: file, atomically: true, encoding: .utf8)
      let plan = try folder.run("godwit", ["plan", store, "--models", sources, "--mappings", file])
      #expect(plan.code == 0, "\(plan)")
    }
    let done = try folder.run("godwit", ["migrate", store, "--models", sources, "--mappings", file])
    #expect(done.code == 0, "\(done)")
    let rows = try ExampleFolder.rows(store, "SELECT count(*) AS n FROM ZBOOK WHERE ZSHOUT = ZTITLE")
    #expect(rows == ["[n:500]"])
  }

  @Test("A mapping file that is begun for a stage with a closure names the code, and no migration takes it undecided")
  func undecided() throws {
    let sources = try sources(Self.custom)
    let (store, file) = (try store(sources), folder.newPath("Stage.yaml"))
    let place = "its stage runs code of the application (\(sources)/Schema.swift:"
    for versions in [["2.0.0", "3.0.0", "--models", sources], [sources + ":2.0.0", sources + ":3.0.0"]] {
      let begun = try folder.run("godwit", ["mapping", "init"] + versions)
      #expect(begun.code == 0 && begun.output.contains("\n# To do: \(place)"), "\(begun)")
      try begun.output.write(toFile: file, atomically: true, encoding: .utf8)
    }
    let checked = try folder.run("godwit", ["mapping", "check", file, "--models", sources])
    let told = "  the step is to be decided before a store can be migrated:\n    \(place)"
    #expect(checked.code == 0 && checked.output.contains(told), "\(checked)")
    for command in ["plan", "migrate"] {
      let refused = try folder.run("godwit", [command, store, "--models", sources, "--mappings", file])
      #expect(refused.code == 20 && refused.error.contains("Stage is still to be decided: \(place)"), "\(refused)")
    }
    // Steps without code are begun as before.
    let plain = try folder.run("godwit", ["mapping", "init", "1.0.0", "2.0.0", "--models", sources])
    #expect(!plain.output.contains("undecided") && !plain.output.contains("runs code"), "\(plain)")
  }

  @Test(
    "An inferred step does not pass over a stage with a closure, by --versions or past versions; a mapping file does")
  func passedOver() throws {
    let sources = try sources(Self.custom)
    let store = try store(sources)
    let words = ["plan", store, "--models", sources, "--versions", "1.0.0,3.0.0"]
    let message =
      "the step 1.0.0 to 3.0.0 needs a mapping model: it passes over a stage that runs code of the application"
    let refused = try folder.run("godwit", words)
    #expect(refused.code == 20 && refused.error.contains("\(message) (\(sources)/Schema.swift:"), "\(refused)")
    #expect(refused.error.contains("mapping init 1.0.0 3.0.0 --models \(sources)`"), "\(refused)")
    let begun = try folder.run("godwit", ["mapping", "init", "1.0.0", "3.0.0", "--models", sources])
    let file = folder.newPath("Both.yaml")
    try Self.decided(begun.output).write(toFile: file, atomically: true, encoding: .utf8)
    let plan = try folder.run("godwit", words + ["--mappings", file])
    #expect(plan.code == 0, "\(plan)")
    // The first step cannot be inferred, so that the only way is one past the version between.
    let past = try folder.run("godwit", ["plan", store, "--models", try self.sources(Self.custom, title: "Int")])
    #expect(past.code == 20 && past.error.contains(message), "\(past)")
    let free = try self.sources(Self.empty, title: "Int")
    #expect(try folder.run("godwit", ["plan", store, "--models", free]).code == 0)
  }

  @Test("The command that begins a mapping file names all sources and what they need, and works as it is written")
  func whole() throws {
    let sources = try sources(Self.custom, title: "Money")
    let other = folder.newPath("Other.swift")
    try "@Model class Other { var n = 1 }\n".write(toFile: other, atomically: true, encoding: .utf8)
    let needs = ["--models", sources + "/Schema.swift", other, "--swift-types", "Money=String", "--define", "BETA"]
    let store = folder.file("Books.store")
    let made = try folder.run(
      "godwit", ["sample", sources, "--version", "1.0.0", "--rows", "5", "--output", store] + needs.suffix(4))
    #expect(made.code == 0, "\(made)")
    let refused = try folder.run("godwit", ["plan", store] + needs)
    let advice = ["mapping", "init", "2.0.0", "3.0.0"] + needs
    #expect(refused.code == 20 && refused.error.contains("`godwit \(advice.joined(separator: " "))`"), "\(refused)")
    let file = folder.newPath("Stage.yaml")
    try Self.decided(folder.run("godwit", advice).output).write(toFile: file, atomically: true, encoding: .utf8)
    let plan = try folder.run("godwit", ["plan", store] + needs + ["--mappings", file])
    #expect(plan.code == 0, "\(plan)")
  }

  @Test(
    "A store of a version that no sources have is not inferred past a stage with a closure; a mapping file leads on")
  func unknownVersion() throws {
    let sources = try sources(Self.custom)
    let (old, store) = (folder.newPath("Old.swift"), folder.file("Books.store"))
    let text = "@Model class Book { var title: String; var pages: Int = 0 }\n"
    try text.write(toFile: old, atomically: true, encoding: .utf8)
    #expect(try folder.run("godwit", ["sample", old, "--rows", "5", "--output", store]).code == 0)
    let words = ["plan", store, "--accept-loss", "--models", sources]
    let refused = try folder.run("godwit", words)
    let message = "the sources do not have the first version, and a stage before the second one runs code"
    #expect(refused.code == 20 && refused.error.contains("\(message) of the application (\(sources)/Schema.swift:"))
    let advice = ["mapping", "init", store, "3.0.0", "--models", sources]
    #expect(refused.error.contains("`godwit \(advice.joined(separator: " "))`"), "\(refused)")
    let file = folder.newPath("Own.yaml")
    try Self.decided(folder.run("godwit", advice).output).write(toFile: file, atomically: true, encoding: .utf8)
    let plan = try folder.run("godwit", words + ["--mappings", file])
    #expect(plan.code == 0 && plan.output.contains("mapped"), "\(plan)")
    // Where no stage comes before it, as before.
    #expect(try folder.run("godwit", words + ["--to", "2.0.0"]).code == 0)
    #expect(try folder.run("godwit", ["plan", store, "--accept-loss", "--models", self.sources(Self.empty)]).code == 0)
  }

  @Test("Two stores of one version, and its sources, do not differ by what each evaluated for itself")
  func differences() throws {
    let sources = try sources(Self.empty)
    let (first, second) = (try store(sources), folder.file("Other.store"))
    let other = folder.file("Third.store")
    for output in [second, other] {
      let source = folder.newPath("Old.store")
      let made = try folder.run("godwit", ["sample", sources, "--version", "1.0.0", "--rows", "5", "--output", source])
      #expect(made.code == 0, "\(made)")
      let words = ["--models", sources, "--to", "2.0.0", "--output", output]
      #expect(try folder.run("godwit", ["migrate", source] + words).code == 0)
    }
    #expect(try folder.run("godwit", ["migrate", first, "--models", sources, "--to", "2.0.0"]).code == 0)
    for side in [second, other, sources + ":2.0.0"] {
      let diff = try folder.run("godwit", ["diff", first, side])
      #expect(diff.code == 0 && diff.output.contains("no difference"), "\(diff)")
    }
  }
}
