import Foundation
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

  enum Change: CaseIterable { case sameSize, longer, shorter, missing, model, taken, checkpoints, program }

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
    case .taken:
      let store = store
      try write("another", to: store)
      return ("\(store): ", { try FileManager.default.removeItem(atPath: store) })
    case .checkpoints, .program: return (try spoil(change), nil)
    }
    return (changed, putBack)
  }

  /// What is done to the import's own files cannot be made good.
  private func spoil(_ change: Change) throws -> String {
    let job = imports.scratch + "/.import.godwit"
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

  @Test(
    "status --check ends as resume does, for lists as well; made good, the import goes on", arguments: Change.allCases)
  func refused(_ change: Change) throws {
    try imports.interrupt(inputs)
    #expect(try folder.run("godwit", ["status", "--check", store]).code == 75)
    let (said, undo) = try make(change)
    let before = try folder.tree()
    let checked = try folder.run("godwit", ["status", "--check", store])
    #expect(checked.output.contains("cannot be resumed") && checked.output.contains(said), "\(checked)")
    let list = try folder.list([store])
    for words in [["status", "--check"], ["report"]] {
      let found = try ListDocument(folder.run("godwit", words + ["--manifest", list, "--json"]))
      #expect(found.code == checked.code && found.stores[0].exitCode == checked.code, "\(words): \(found)")
    }
    try FileManager.default.removeItem(atPath: list)
    #expect(try folder.tree().filter { $0.key != "" } == before.filter { $0.key != "" })
    let refused = try folder.run("godwit", ["resume", store])
    #expect(refused.code == checked.code && [20, 22, 64].contains(refused.code), "\(checked) \(refused)")
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
}
