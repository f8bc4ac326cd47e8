import Foundation
import Streams
import Testing

@Suite("What is said of an import that waits", .serialized, .enabled(if: StopLibrary.isPossible, StopLibrary.needed))
struct ImportStandingTests {
  private let imports: ImportFolder
  private let inputs: [String]
  private var folder: CommandFolder { imports.folder }
  private var store: String { imports.store }

  init() throws {
    imports = try ImportFolder()
    inputs = try imports.linked()
  }

  enum Change: CaseIterable {
    case sameSize, longer, shorter, missing, model, badModel, taken, checkpoints, noReader, program
  }

  /// What happens between two processes; returns how it is made good, or nil if it cannot be.
  private func make(_ change: Change) throws -> (said: String, undo: (() throws -> Void)?) {
    let (input, text) = (inputs[0], try String(contentsOfFile: inputs[0], encoding: .utf8))
    func write(_ text: String, to path: String) throws {
      try text.write(toFile: path, atomically: false, encoding: .utf8)
    }
    let (changed, putBack) = ("\(input): the file was changed since the import read it", { try write(text, to: input) })
    switch change {
    case .sameSize: try write(text.replacing("keeper 1200", with: "keeper 1199", maxReplacements: 1), to: input)
    case .longer: try write("\n" + text, to: input)
    case .shorter: try write(String(text.prefix(1000)), to: input)
    case .missing:
      try FileManager.default.removeItem(atPath: input)
      return ("\(input): there is no such file", putBack)
    case .model:
      let contents = imports.model + "/contents"
      let model = try String(contentsOfFile: contents, encoding: .utf8)
      try write(model.replacing(#"name="from""#, with: #"name="fromWhere""#), to: contents)
      return ("the model was changed since the import began", { try write(model, to: contents) })
    case .badModel:
      let contents = imports.model + "/contents"
      let model = try String(contentsOfFile: contents, encoding: .utf8)
      try write(String(model.dropLast(20)), to: contents)
      return ("\(contents)", { try write(model, to: contents) })
    case .taken:
      let store = store
      try write("another", to: store)
      return ("\(store): ", { try FileManager.default.removeItem(atPath: store) })
    case .checkpoints, .noReader, .program: return (try spoil(change), nil)
    }
    return (changed, putBack)
  }

  /// What is done to the import's own files cannot be made good.
  private func spoil(_ change: Change) throws -> String {
    let job = imports.scratch + "/.import.godwit"
    if change == .noReader {
      let checkpoints = CheckpointStore(directory: job + "/checkpoints", fileSystem: LocalFileSystem())
      let found = try #require(checkpoints.newestReadable()?.checkpoint)
      try checkpoints.publish(
        Checkpoint(
          sequence: found.sequence + 1, planFingerprint: found.planFingerprint,
          sourceFingerprint: found.sourceFingerprint, sections: found.sections.filter { $0.key != "reader" }))
      return "lacks the section reader"
    }
    guard change == .program else {
      for path in CommandFolder.checkpoints(job) { try Data().write(to: URL(fileURLWithPath: path)) }
      return "checkpoint"
    }
    let plan = job + "/plan.json"
    var note = try #require(JSONSerialization.jsonObject(with: CommandFolder.bytes(plan)) as? [String: Any])
    note["arguments"] = [String]()
    try JSONSerialization.data(withJSONObject: note).write(to: URL(fileURLWithPath: plan))
    return "a program of its own"
  }

  /// What lists and a status without a check say of an import that a check refuses with a code.
  private func expectOfLists(_ code: Int32, isSpoilt: Bool) throws {
    let list = try folder.list([store])
    for words in [["status", "--check"], ["status"], ["report"]] {
      let found = try ListDocument(folder.run("godwit", words + ["--manifest", list, "--json"]))
      // No file is read but for a check.
      let wanted = words.count == 2 || isSpoilt ? code : 75
      #expect(
        found.code == (words == ["status"] ? 0 : wanted) && found.stores[0].exitCode == wanted, "\(words): \(found)")
    }
    let plain = try folder.run("godwit", ["status", store])
    #expect(plain.code == 0 && plain.output.contains("cannot be resumed") == isSpoilt, "\(plain)")
    try FileManager.default.removeItem(atPath: list)
  }

  @Test(
    "status --check ends as resume does, for lists as well; made good, the import goes on", arguments: Change.allCases)
  func refused(_ change: Change) throws {
    try imports.interrupt(inputs)
    #expect(try folder.run("godwit", ["status", "--check", store]).code == 75)
    let (said, undo) = try make(change)
    let before = try folder.tree()
    let checked = try folder.run("godwit", ["status", "--check", store])
    #expect(checked.output.contains("cannot be resumed") && checked.output.contains(said), "\(checked)")
    try expectOfLists(checked.code, isSpoilt: undo == nil)
    #expect(try folder.tree().filter { $0.key != "" } == before.filter { $0.key != "" })
    let refused = try folder.run("godwit", ["resume", store])
    #expect(refused.code == checked.code && [20, 22, 64].contains(refused.code), "\(checked) \(refused)")
    let problem = try #require(checked.output.firstMatch(of: #/problem: (.+)/#)?.1)
    #expect(undo == nil || refused.error.contains(problem), "\(problem): \(refused)")
    let commands = ImportFolder.commands(checked.output)
    guard let undo else {
      #expect(try folder.paste(try #require(commands.last)).code == 0)
      #expect(try folder.run("godwit", ["status", "--check", store]).code == 64)
      return
    }
    #expect(commands == ["godwit resume \(store)", "godwit clean --all \(store)"], "\(checked)")
    try undo()
    #expect(try folder.run("godwit", ["status", "--check", store]).code == 75)
    #expect(try folder.paste(commands[0]).code == 10)
  }

  @Test("Files that have the bytes that were read are as they were, whatever their times; so is what is not read yet")
  func same() throws {
    try imports.interrupt(inputs)
    let text = try String(contentsOfFile: inputs[0], encoding: .utf8)
    try text.write(toFile: inputs[0], atomically: true, encoding: .utf8)
    try (String(contentsOfFile: inputs[1], encoding: .utf8) + "tag 50\n")
      .write(toFile: inputs[1], atomically: true, encoding: .utf8)
    #expect(try folder.run("godwit", ["status", "--check", store]).code == 75)
    #expect(try folder.run("godwit", ["resume", store]).code == 10)
  }

  @Test("A file that came to a folder of the import, or went, is named, with the code of resume")
  func folders() throws {
    let data = folder.newPath("data")
    try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
    for path in inputs {
      try FileManager.default.moveItem(atPath: path, toPath: data + "/" + URL(fileURLWithPath: path).lastPathComponent)
    }
    try imports.interrupt([data])
    let new = data + "/b.jsonl"
    try "".write(toFile: new, atomically: false, encoding: .utf8)
    let checked = try folder.run("godwit", ["status", "--check", store])
    #expect(checked.code == 20 && checked.output.contains("\(new) came to the files since"), "\(checked)")
    #expect(checked.output.contains("Move it away, and go on with `godwit resume"), "\(checked)")
    #expect(try folder.run("godwit", ["resume", store]).code == 20)
    try FileManager.default.removeItem(atPath: new)
    #expect(try folder.run("godwit", ["status", "--check", store]).code == 75)
  }

  /// What only some imports have.
  enum Other: CaseIterable { case rejects, external, takenBeforeItBegan, options, link }

  private func interrupt(for other: Other, rejects: String, external: String) throws {
    try FileManager.default.createDirectory(atPath: external, withIntermediateDirectories: true)
    let more = other == .rejects ? ["--rejects", rejects] : other == .external ? ["--external", external] : []
    try imports.interrupt(inputs, more, before: other == .takenBeforeItBegan ? 1 : 3)
  }

  @Test(
    "status --check ends as resume does, of what lists, folders, options and names have become",
    arguments: [
      (Other.rejects, Int32(20), "the output exists already"), (.external, 64, "there is no such folder"),
      (.takenBeforeItBegan, 20, "the output exists already"), (.options, 20, "with other options"),
      (.link, 20, "the file is given twice"),
    ])
  func others(_ other: Other, code: Int32, said: String) throws {
    let (rejects, external) = (folder.newPath("rejects.csv"), folder.newPath("outside"))
    try interrupt(for: other, rejects: rejects, external: external)
    #expect(try folder.run("godwit", ["status", "--check", store]).code == 75)
    switch other {
    case .rejects: try "mine".write(toFile: rejects, atomically: false, encoding: .utf8)
    case .external: try FileManager.default.removeItem(atPath: external)
    case .takenBeforeItBegan: try "mine".write(toFile: store, atomically: false, encoding: .utf8)
    case .options:
      let plan = imports.scratch + "/.import.godwit/plan.json"
      let text = try String(contentsOfFile: plan, encoding: .utf8)
      try text.replacing(#""--max-rejects","5""#, with: #""--max-rejects","6""#)
        .write(toFile: plan, atomically: false, encoding: .utf8)
    case .link:
      try FileManager.default.removeItem(atPath: inputs[1])
      try FileManager.default.linkItem(atPath: inputs[0], toPath: inputs[1])
    }
    let checked = try folder.run("godwit", ["status", "--check", store])
    #expect(checked.code == code && checked.output.contains(said), "\(checked)")
    #expect(
      ImportFolder.commands(checked.output) == ["godwit resume \(store)", "godwit clean --all \(store)"], "\(checked)")
    let refused = try folder.run("godwit", ["resume", store])
    #expect(refused.code == code && refused.error.contains(said), "\(refused)")
  }

  @Test("Without --check no file is read, and what was touched is said in one line, with the command that looks")
  func plain() throws {
    try imports.interrupt(inputs)
    #expect(try !folder.run("godwit", ["status", store]).output.contains("touched"))
    // A pipe would be waited for.
    try FileManager.default.removeItem(atPath: inputs[0])
    try #require(mkfifo(inputs[0], 0o600) == 0)
    let plain = try folder.run("godwit", ["status", store])
    let check = "godwit status --check \(store)"
    #expect(plain.code == 0 && ImportFolder.commands(plain.output).first == check, "\(plain)")
    #expect(try folder.paste(check).code == 64)
  }
}
