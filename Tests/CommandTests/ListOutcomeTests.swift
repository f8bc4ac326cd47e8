import Foundation
import Testing

@testable import BatchCommand

@Suite("A list understands what its processes print")
struct ListOutcomeTests {
  private static let summary = "{\n  \"format\" : 1,\n  \"steps\" : 2\n}\n"
  private static let failure = """
    {
      "error" : {
        "code" : "badStore",
        "exitCode" : 12,
        "message" : "it is no store",
        "next" : [

        ]
      },
      "format" : 1
    }

    """

  private func outcome(_ output: String) -> StoreOutcome {
    StoreOutcome(StoreProcesses.Outcome(code: 0, output: Data(output.utf8), error: "said"))
  }

  @Test("A summary, a failure, or both one after the other; of one that was cut off nothing is believed")
  func documents() {
    let done = outcome(Self.summary)
    #expect(done.document?["steps"]?.count == 2 && done.failure == nil && done.said == "said")
    let failed = outcome(Self.failure)
    #expect(failed.document == nil && failed.failure?.exitCode == 12 && failed.failure?.message == "it is no store")
    let both = outcome(Self.summary + Self.failure)
    #expect(both.document?["steps"]?.count == 2 && both.failure?.exitCode == 12)
    for cut in [Self.summary.dropLast(3), Self.failure.dropLast(20), "", "}\n", "\n}\n}\n"] as [Substring] {
      let found = outcome(String(cut))
      #expect(found.document == nil && found.failure == nil, "\(cut)")
    }
  }

  @Test("A document of another process stays as it is, whatever its values are")
  func values() throws {
    let text = #"""
      {"array":[1,-2,[],{}],"big":9223372036854775807,"half":0.5,"huge":18446744073709551615,"is":true,"isNot":false,
      "none":null,"object":{"text":"1","true":"true"}}
      """#
    let value = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
    #expect(value["array"] == .array([.integer(1), .integer(-2), .array([]), .object([:])]))
    #expect(value["big"] == .integer(.max) && value["half"] == .number(0.5) && value["huge"] == .number(0x1p64))
    #expect(value["is"] == .bool(true) && value["isNot"] == .bool(false) && value["none"] == nil)
    #expect(value["object"] == .object(["text": .string("1"), "true": .string("true")]))
    #expect(try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value)) == value)
  }

  @Test("A list that prints no JSON asks for no accounts, and no advice names the option by which it does that")
  func accounts() throws {
    let (folder, models) = (try CommandFolder(), CommandFolder.models)
    let stores = try (1...2).map { try folder.sample("S\($0).sqlite", rows: 30, seed: UInt64($0)) }
    let list = folder.file("stores.txt")
    try stores.joined(separator: "\n").write(toFile: list, atomically: true, encoding: .utf8)
    func document(_ words: [String]) throws -> JSONValue {
      try JSONDecoder().decode(
        JSONValue.self, from: Data(try folder.run("book-migration", words + ["--json"] + models).output.utf8))
    }
    let brief = try document(["migrate", stores[0], "--brief"])
    #expect(brief["rowsRead"]?.count != 0 && brief["accounts"]?.elements.isEmpty == true, "\(brief)")
    let whole = try document(["migrate", "--manifest", list])
    #expect(whole["stores"]?.elements[1]["summary"]?["accounts"]?.elements.isEmpty == false, "\(whole)")
    let words = StoreCommandWords(store: "S", output: nil, options: [], deadline: nil)
    for isBrief in [false, true] {
      let line = words.command(["migrate"], takesOutput: true, isRun: true, isBrief: isBrief)
      #expect(line.contains("--brief") == isBrief && line.contains("--json"))
    }
    #expect(!words.command(["plan"], takesOutput: true, isRun: false, isBrief: true).contains("--brief"))
    CommandLineWords.begin(["migrate", "S", "--app", "A", "--brief"])
    defer { CommandLineWords.begin([]) }
    let advice = CommandLineWords.naming("B")
    #expect(advice.contains(" migrate S --app A --bundle B") && !advice.contains("brief"), "\(advice)")
  }

  @Test("A dry run of clean says what would be removed, with each file, in the words of one store; then it is removed")
  func dryRun() throws {
    let folder = try CommandFolder()
    let (done, begun) = (try folder.sample("Done.sqlite", rows: 30), try folder.sample("Begun.sqlite", rows: 3000))
    #expect(try folder.run("book-migration", ["migrate", done] + CommandFolder.models).code == 0)
    let job = try folder.interrupted(begun, every: "5kB")
    let words = ["clean", "--manifest", try folder.list([done, begun]), "--all", "--keep-backups", "0"]
    let before = try folder.tree()
    let text = try folder.run("book-migration", words + ["--dry-run"])
    #expect(text.code == 0 && text.output.hasPrefix("2 stores: 2 would be cleaned, "), "\(text)")
    #expect(text.output.contains("    would remove \(done).backup-") && text.output.contains("\(job)/plan.json\n"))
    #expect(!text.output.contains("1 removed,") && !text.output.contains("\ncleaned: "), "\(text)")
    for store in [done, begun] {
      let alone = try folder.run("book-migration", ["clean", store] + words.dropFirst(3) + ["--dry-run"]).output
      let lines = alone.split(separator: "\n").filter { !$0.hasPrefix("kept ") && !$0.hasPrefix("to be freed") }
      for line in lines { #expect(text.output.contains("    \(line)\n"), "\(line)") }
    }
    let printed = try folder.run("book-migration", words + ["--dry-run", "--json"])
    let document = try JSONDecoder().decode(JSONValue.self, from: Data(printed.output.utf8))
    for store in document["stores"]?.elements ?? [] {
      #expect(store["state"]?.text == "would be cleaned" && store["result"]?["dryRun"] == .bool(true), "\(store)")
      #expect(store["detail"]?.text?.hasPrefix("1 to be removed, ") == true, "\(store)")
    }
    #expect(try folder.tree() == before)
    let cleaned = try folder.run("book-migration", words)
    #expect(cleaned.code == 0 && cleaned.output.hasPrefix("2 stores: 2 cleaned, "), "\(cleaned)")
    #expect(!FileManager.default.fileExists(atPath: job))
  }
}
