import Foundation
import Testing

@testable import BatchCommand

@Suite("A list accounts for every output that it names", .serialized)
struct ListOutputTests {
  private let folder: CommandFolder
  private let list: String

  init() throws {
    folder = try CommandFolder()
    list = folder.file("stores.txt")
  }

  private func run(_ lines: [String], _ words: [String] = ["migrate"] + CommandFolder.models) throws
    -> CommandProcess.Outcome
  {
    try lines.joined(separator: "\n").write(toFile: list, atomically: true, encoding: .utf8)
    return try folder.run("book-migration", words + ["--manifest", list])
  }

  @Test("A store that has its version gets no output: the list names it, and so does the command for it alone")
  func upToDate() throws {
    let (new, old) = (folder.file("New.sqlite"), try folder.sample("Old.sqlite", rows: 30))
    let words = ["sample", ExampleFolder.models, "--version", "Library 3", "--rows", "9", "--output", new]
    #expect(try folder.run("godwit", words).code == 0)
    let (output, other) = (folder.file("Out.sqlite"), folder.file("Other.sqlite"))
    let lines = ["\(new)\t\(output)", "\(old)\t\(other)"]
    let outcome = try run(lines)
    #expect(outcome.code == 0, "\(outcome)")
    #expect(outcome.output.hasPrefix("2 stores: 1 no output was made, 1 migrated"), "\(outcome)")
    #expect(outcome.output.contains("\(new): it has the version already"), "\(outcome)")
    // The output that was made is none of those.
    let again = try run(lines)
    #expect(again.output.contains("\nneeded nothing: 1\n"), "\(again)")
    #expect(again.output.contains("\nno output was made: 1\n"), "\(again)")
    let status = try run(lines, ["status"])
    #expect(status.output.contains("\(new): it has the version already"), "\(status)")
    let alone = try folder.run("book-migration", ["migrate", new, "--output", output] + CommandFolder.models)
    #expect(alone.code == 0 && alone.output.contains("note: no store was made at \(output)"), "\(alone)")
    // Another store at the output's path is none of its own.
    try FileManager.default.copyItem(atPath: old, toPath: output)
    #expect(try run(lines).output.contains("\nno output was made: 1\n"))
    #expect(!FileManager.default.fileExists(atPath: folder.file("Out.sqlite.godwit")))
  }

  @Test("What was left alone by two commands is one group")
  func oneGroup() throws {
    let stores = try (1...2).map { try folder.sample("S\($0).sqlite", rows: 30, seed: UInt64($0)) }
    #expect(try run(stores).code == 0)
    for store in stores {
      #expect(try run([store], ["migrate", "--jobs", store == stores[0] ? "1" : "2"] + CommandFolder.models).code == 0)
    }
    for store in stores { #expect(try folder.run("book-migration", ["clean", store, "--reports"]).code == 0) }
    let status = try run(stores, ["status"])
    #expect(status.output.components(separatedBy: "\nneeded nothing: ").count == 2, "\(status)")
  }

  @Test("Two names of one file and a third column are refused before anything is written")
  func refused() throws {
    let store = try folder.sample("S.sqlite", rows: 30)
    let link = folder.file("Link.sqlite")
    try FileManager.default.linkItem(atPath: store, toPath: link)
    let before = try folder.tree()
    let twice = try run([store, link])
    #expect(twice.code == 20 && twice.error.contains("are one file, which comes twice"), "\(twice)")
    let third = try run(["# stores", "\(store)\ta\tb"])
    #expect(
      third.code == 20 && third.error.contains("line 2 of the list has more than a store and its output: b"), "\(third)"
    )
    var after = try folder.tree()
    for name in ["", "stores.txt"] { after[name] = before[name] }
    #expect(after == before)
  }
}
