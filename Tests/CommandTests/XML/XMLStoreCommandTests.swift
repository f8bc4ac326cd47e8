import Foundation
import Streams
import Testing

@testable import BatchCommand

@Suite("XML stores")
struct XMLStoreCommandTests {
  @Test("An export of an XML store is that of the SQLite store with the same objects: types, inheritance, order, keys")
  func export() throws {
    let store = try XMLStoreFolder(rows: 700)
    let wanted = try store.export(store.sqlite)
    #expect(wanted.split(separator: "\n").count == 700 && wanted.contains(store.writer.uuid))
    let before = try store.folder.tree()
    expectSame(try store.export(store.xml), wanted)
    let circles = ["Circle", "--format", "csv", "--where", "radius > 0"]
    expectSame(try store.export(store.xml, circles), try store.export(store.sqlite, circles))
    #expect(try store.folder.tree() == before)
  }

  @Test("A migration over a version gives the same store from XML as from SQLite, and leaves nothing else behind")
  func migrate() throws {
    let store = try XMLStoreFolder(rows: 900, seed: 3)
    let before = try CommandFolder.bytes(store.xml)
    let outputs = try [store.sqlite, store.xml].map { source in
      let output = store.folder.file("New \(source.hasSuffix("xml")).sqlite")
      let outcome = try store.folder.run("godwit", ["migrate", source, "--output", output] + store.arguments)
      #expect(outcome.code == 0 && outcome.output.contains("version Shapes 2"), "\(outcome)")
      #expect(outcome.error.contains("is an XML store: its 900 objects were read") == (source == store.xml))
      return output
    }
    let difference = try store.godwit(["diff", "--contents"] + outputs + store.arguments)
    #expect(difference.contains("no difference"), "\(difference)")
    expectSame(try store.export(outputs[1]), try store.export(outputs[0]))
    let metadata = try store.godwit(["inspect", outputs[1]] + store.arguments)
    #expect(metadata.contains("metadata     Owner") && metadata.contains("framework    754"), "\(metadata)")
    #expect(try CommandFolder.bytes(store.xml) == before)
    let names = try FileManager.default.contentsOfDirectory(atPath: store.folder.path)
    #expect(!names.contains { $0.contains("from-xml") }, "\(names)")
  }

  @Test("The report of a store that was made from XML names that file and its size, also of a run that is not over")
  func reported() throws {
    let store = try XMLStoreFolder(rows: 6000)
    let output = store.folder.file("New.sqlite")
    let bytes = try CommandFolder.bytes(store.xml).count
    let words = ["migrate", store.xml, "--output", output, "--checkpoint-every", "20kB"] + store.arguments
    let process = try CommandProcess("godwit", words + CommandFolder.slowly, in: store.folder)
    let job = store.folder.file(".New.sqlite.godwit")
    while process.isRunning, CommandFolder.checkpoints(job).count < 2 { usleep(1000) }
    process.send(SIGKILL)
    _ = try process.wait()
    #expect(try store.godwit(["status", output]).contains("  source       \(store.xml)\n"))
    for verb in ["report", "resume"] {
      let text = try store.godwit(["report", output])
      #expect(text.contains("  source       \(store.xml)\n") && !text.contains("from-xml"), "\(verb): \(text)")
      let document = try JSONDecoder().decode(
        JSONValue.self, from: Data(try store.godwit(["report", output, "--json"]).utf8))
      #expect(document["source"]?.text == store.xml && document["bytesBefore"]?.count == UInt64(bytes))
      if verb == "report" { _ = try store.godwit(["resume", output]) }
    }
    // What is made of the same objects needs nothing.
    let again = try store.folder.run("godwit", words + ["--continue"])
    #expect(again.code == 0 && again.output.contains("nothing"), "\(again)")
  }

  @Test("A store at the version already becomes an SQLite store all the same, whose objects and keys are its own")
  func sameVersion() throws {
    let store = try XMLStoreFolder(rows: 200)
    let output = store.folder.file("New.sqlite")
    _ = try store.godwit(["migrate", store.xml, "--to", "Shapes 1", "--output", output] + store.arguments)
    expectSame(try store.export(output), try store.export(store.sqlite))
    _ = try store.godwit(["verify", output, "--verify", "full"] + store.arguments)
    let again = try store.folder.run("godwit", ["migrate", store.xml, "--output", output] + store.arguments)
    #expect(again.code == 20 && again.error.contains("exists"), "\(again)")
  }

  @Test("Without --output nothing is written, and the command of the message does it; what is refused leaves nothing")
  func inPlace() throws {
    let store = try XMLStoreFolder(rows: 60)
    let before = try store.folder.tree()
    let outcome = try store.folder.run("godwit", ["migrate", store.xml] + store.arguments)
    #expect(outcome.code == 20 && outcome.error.contains("an XML store is not replaced"), "\(outcome)")
    #expect(try store.folder.tree() == before)
    _ = try store.godwit(try advised(outcome.error))
    #expect(FileManager.default.fileExists(atPath: store.folder.file("Shapes.sqlite")))
    let lost = try store.folder.run(
      "godwit",
      ["migrate", store.xml, "--to", "Nothing", "--output", store.folder.file("Lost.sqlite")] + store.arguments)
    let names = try FileManager.default.contentsOfDirectory(atPath: store.folder.path)
    #expect(lost.code == 20 && !names.contains { $0.contains("Lost") }, "\(lost) \(names)")
    let load = try store.folder.run(
      "godwit", ["migrate", store.xml, "--to-postgres", "postgres://localhost/x"] + store.arguments)
    #expect(load.code == 20 && load.error.contains("Make that with `godwit migrate"), "\(load)")
    let other = try store.folder.run("godwit", ["verify", store.xml] + store.arguments)
    #expect(other.code == 20 && other.error.contains("Shapes.new.sqlite`"), "\(other)")
  }

  /// The words of the first command between backticks.
  private func advised(_ error: String) throws -> [String] {
    let line = try #require(error.split(separator: "`").dropFirst().first)
    return line.split(separator: " ").dropFirst().map(String.init)
  }

  @Test("inspect says that it is an XML store, its version, and how many objects it has; without models, too")
  func inspect() throws {
    let store = try XMLStoreFolder(rows: 300)
    let before = try store.folder.tree()
    let text = try store.godwit(["inspect", store.xml] + store.arguments)
    for line in [
      "store        XML store", "version      Shapes 1", "UUID         \(store.writer.uuid)", "metadata     Owner",
    ] {
      #expect(text.contains(line), "\(text)")
    }
    let plain = try document(try store.godwit(["inspect", store.xml, "--json"]))
    let entities = try #require(plain["entities"] as? [[String: Any]])
    #expect(plain["storeType"] as? String == "xml" && (plain["problems"] as? [String])?.isEmpty == true)
    #expect(
      entities.map { $0["name"] as? String ?? "" }.sorted() == [
        "Circle", "Drawing", "Frame", "RoundThing", "Shape", "Tag",
      ])
    #expect(entities.compactMap { $0["objects"] as? Int }.reduce(0, +) == 300)
    #expect(try store.folder.tree() == before)
  }

  @Test("What needs tables or a model is refused with what leads on")
  func refused() throws {
    let store = try XMLStoreFolder(rows: 20)
    for (words, said) in [
      (["--raw"], "--raw reads tables"), (["--history"], "--history reads persistent history"), ([], "--models"),
    ] {
      let outcome = try store.folder.run("godwit", ["export", store.xml] + words)
      #expect(outcome.code == 20 && outcome.error.contains(said), "\(outcome)")
      #expect(try store.godwit(try advised(outcome.error)).contains("XML store"))
    }
  }

  @Test("Commands that read SQLite stores refuse an XML store with one code, and a command with its path")
  func otherCommands() throws {
    let store = try XMLStoreFolder(rows: 20)
    let made = store.folder.file("Shapes.sqlite")
    try FileManager.default.removeItem(atPath: store.sqlite)
    for words in [["verify", store.xml], ["diff", "--contents", store.xml, store.xml], ["metadata", store.xml]] {
      let outcome = try store.folder.run("godwit", words)
      #expect(outcome.error.contains("`inspect`, `export` and `sample --limit` read it as it is"), "\(outcome)")
      let way = "first, with `migrate`, its models behind --models"
      #expect(outcome.code == 20 && outcome.error.contains(way), "\(outcome)")
      guard words[0] != "metadata" else { continue }
      let named = try store.folder.run("godwit", words + store.arguments)
      try expectMade(made, by: named, "`godwit migrate \(store.xml) --models \(store.models) --output \(made)`", store)
    }
    // The model beside the store is found, and one of another version is none.
    let beside = store.folder.file("Beside.xcdatamodeld")
    try FileManager.default.copyItem(atPath: store.models, toPath: beside)
    try FileManager.default.copyItem(atPath: ExampleFolder.models, toPath: store.folder.file("Library.xcdatamodeld"))
    for words in [["verify", store.xml], ["metadata", store.xml], ["migrate", store.xml]] {
      let outcome = try store.folder.run("godwit", words)
      try expectMade(made, by: outcome, "`godwit migrate \(store.xml) --models \(beside) --output \(made)`", store)
    }
    let list = store.folder.newPath("list.txt")
    try store.write(store.xml, to: list)
    let all = try store.folder.run("godwit", ["plan", "--manifest", list] + store.arguments)
    #expect(all.code == 20 && all.output.contains("refused"), "\(all)")
    let plan = try store.folder.run("godwit", ["plan", store.xml] + store.arguments)
    #expect(plan.code == 20 && plan.error.contains("a plan is of an SQLite store"), "\(plan)")
    _ = try store.godwit(try advised(plan.error))
    #expect(FileManager.default.fileExists(atPath: made))
  }

  /// Expects a refusal with a command, and that the command makes a store; which is removed.
  private func expectMade(
    _ path: String, by refusal: CommandProcess.Outcome, _ command: String, _ store: XMLStoreFolder
  ) throws {
    #expect(refusal.code == 20 && refusal.error.contains(command), "\(refusal)")
    let done = try store.folder.paste(command.replacing("`", with: ""))
    #expect(done.code == 0, "\(done)")
    try FileManager.default.removeItem(atPath: path)
    try? FileManager.default.removeItem(atPath: FilePaths.join(store.folder.path, ".Shapes.sqlite.godwit-report"))
  }

  @Test("A sample of an XML store has the objects that its SQLite store gives; without a model it is refused")
  func sample() throws {
    let store = try XMLStoreFolder(rows: 300)
    let parts = try [store.sqlite, store.xml].map { source in
      let part = store.folder.newPath("Part.sqlite")
      let words = ["sample", source, "Circle", "--limit", "7", "--output", part] + store.arguments
      let text = try store.godwit(words)
      #expect(text.contains("  Circle: 7 of ") && text.contains("of \(source)"), "\(text)")
      _ = try store.godwit(["verify", part] + store.arguments)
      return part
    }
    expectSame(try store.export(parts[1]), try store.export(parts[0]))
    let part = store.folder.file("None.sqlite")
    let refused = try store.folder.run("godwit", ["sample", store.xml, "--limit", "7", "--output", part])
    #expect(refused.code == 20 && refused.error.contains("Give --models with the version that wrote"), "\(refused)")
    #expect(!FileManager.default.fileExists(atPath: part))
  }

  @Test("Messages name the store that was given; an output that exists is refused before anything is read")
  func named() throws {
    let store = try XMLStoreFolder(rows: 20)
    let outcome = try store.folder.run("godwit", ["export", store.xml, "Circel"] + store.arguments)
    #expect(outcome.code == 20 && outcome.error.contains("\(store.xml): "), "\(outcome)")
    #expect(outcome.error.contains("did you mean Circle?") && !outcome.error.contains("godwit-xml"), "\(outcome)")
    let taken = store.folder.file("taken.jsonl")
    try store.write("", to: taken)
    let refused = try store.folder.run("godwit", ["export", store.folder.file("nothing"), "--output", taken])
    #expect(refused.code == 20 && refused.error.contains("\(taken): the output exists already"), "\(refused)")
  }

  @Test("A migration that was killed resumes from what it had read, and leaves nothing behind")
  func resumed() throws {
    let store = try XMLStoreFolder(rows: 6000)
    let output = store.folder.file("New.sqlite")
    let words = ["migrate", store.xml, "--output", output, "--checkpoint-every", "20kB"] + store.arguments
    let process = try CommandProcess("godwit", words + CommandFolder.slowly, in: store.folder)
    let job = store.folder.file(".New.sqlite.godwit")
    while process.isRunning, CommandFolder.checkpoints(job).count < 2 { usleep(1000) }
    process.send(SIGKILL)
    #expect(try process.wait().code == 128 + SIGKILL)
    let again = try store.folder.run("godwit", words)
    #expect(again.code == 20 && again.error.contains("resume"), "\(again)")
    _ = try store.godwit(["resume", output])
    let names = try FileManager.default.contentsOfDirectory(atPath: store.folder.path)
    #expect(!names.contains { $0.contains("from-xml") }, "\(names)")
    _ = try store.godwit(["migrate", store.sqlite, "--output", store.folder.file("Other.sqlite")] + store.arguments)
    expectSame(try store.export(output), try store.export(store.folder.file("Other.sqlite")))
  }

  /// Shows the first line that differs.
  private func expectSame(_ found: String, _ wanted: String) {
    let lines = zip(found.split(separator: "\n"), wanted.split(separator: "\n"))
    let first = lines.first { $0 != $1 }
    #expect(found == wanted, "\(first?.0 ?? "") instead of \(first?.1 ?? "")")
  }
}
