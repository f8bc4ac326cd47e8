import Foundation
import Glibc
import Testing

@Suite(
  "Imports that are killed at their end", .serialized, .enabled(if: StopLibrary.isPossible, StopLibrary.needed))
struct ImportEndTests {
  private let imports: ImportFolder
  private var folder: CommandFolder { imports.folder }
  private var store: String { imports.store }
  private var plan: String { imports.scratch + "/.import.godwit/plan.json" }

  init() throws { imports = try ImportFolder() }

  private func words(_ inputs: [String], _ more: [String]) -> [String] {
    ["import", imports.model] + inputs + ["--output", store, "--max-rejects", "5"] + more
  }

  private func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  /// Removes the store and the list of rejects that an import made.
  private func removeMade(_ list: String) throws {
    for path in [store, list] { try FileManager.default.removeItem(atPath: path) }
  }

  /// The numbers of the calls from a little before the store gets its name to the end, and what a whole import makes.
  private func moments(_ words: [String], list: String) throws -> (numbers: [Int], store: Data, list: Data) {
    let log = folder.newPath("calls")
    let whole = try folder.run("godwit", words, launcher: imports.launcher(try imports.stop, "STOP_LOG=\(log)"))
    try #require(whole.code == 10, "\(whole)")
    let calls = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").map { $0.split(separator: " ") }
    let name = try #require(calls.first { $0.dropFirst() == ["rename", Substring(store)] }?.first.flatMap { Int($0) })
    let bytes = (try CommandFolder.bytes(store), try CommandFolder.bytes(list))
    try removeMade(list)
    return (Array(max(1, name - 12)...calls.count), bytes.0, bytes.1)
  }

  /// Kills an import before a call; false if it came to its end, as calls of its other thread may shift the numbers. What
  /// it made is removed then.
  private func kill(_ words: [String], list: String, before number: Int) throws -> Bool {
    let killed = try folder.run(
      "godwit", words, launcher: imports.launcher(try imports.stop, "STOP_AT=\(number)", "STOP_WITH=KILL"))
    if killed.code == 128 + SIGKILL { return true }
    #expect(killed.code == 10, "\(number): \(killed)")
    try removeMade(list)
    return false
  }

  @Test(
    "Killed before any call from the store's name on, status names the command that ends them well",
    arguments: [[], ["--checkpoint-every", "12kB"]])
  func resumed(_ every: [String]) throws {
    let list = folder.newPath("rejects.csv")
    let words = words(try imports.linked(300), every + ["--rejects", list])
    let wanted = try moments(words, list: list)
    var (named, left) = (0, 0)
    for number in wanted.numbers where try kill(words, list: list, before: number) {
      let (hasFolder, isOver) = (isThere(imports.scratch), isThere(store) && !isThere(plan))
      let status = try folder.run("godwit", ["status", store])
      let advised = ImportFolder.commands(status.output).first
      #expect(advised == (hasFolder ? "godwit resume \(store)" : nil), "\(number): \(status)")
      if isThere(store) { #expect(!hasFolder || status.output.contains("\(store): finished"), "\(number): \(status)") }
      if let advised {
        let ended = try folder.paste(advised)
        // What was left out is not known any longer when the note has gone.
        #expect(ended.code == (isOver ? 0 : 10), "\(number): \(ended)")
        if isOver { left += 1 } else if status.output.contains("The store is imported") { named += 1 }
      }
      #expect(try CommandFolder.bytes(store) == wanted.store && CommandFolder.bytes(list) == wanted.list, "\(number)")
      #expect(!isThere(imports.scratch), "\(number)")
      try removeMade(list)
    }
    #expect(named > 2 && left > 1)
  }

  @Test("The same command ends them as well, as long as the folder says what was imported")
  func again() throws {
    let list = folder.newPath("rejects.csv")
    let words = words(try imports.linked(300), ["--rejects", list])
    let wanted = try moments(words, list: list)
    for number in wanted.numbers where try kill(words, list: list, before: number) {
      let isOver = isThere(store) && !isThere(plan)
      let again = try folder.run("godwit", words)
      #expect(again.code == (isOver ? 20 : 10), "\(number): \(again)")
      #expect(try CommandFolder.bytes(store) == wanted.store && CommandFolder.bytes(list) == wanted.list, "\(number)")
      #expect(!isThere(imports.scratch), "\(number)")
      try removeMade(list)
    }
  }

  @Test("A store that lacks only its name stays when clean is asked, and is not taken for that of files that changed")
  func nameless() throws {
    let inputs = try imports.linked(300)
    let launcher = imports.launcher(try imports.stop, "STOP_ONLY=rename New.sqlite", "STOP_AT=1", "STOP_WITH=KILL")
    func killed() throws { #expect(try folder.run("godwit", words(inputs, []), launcher: launcher).code == 137) }
    try killed()
    let kept = try folder.run("godwit", ["clean", store])
    #expect(kept.output.contains("kept \(imports.scratch): interrupted import; resume it"), "\(kept)")
    let status = try folder.run("godwit", ["status", store])
    #expect(status.output.contains("Go on with `godwit resume \(store)`"), "\(status)")
    #expect(try folder.run("godwit", ["resume", store]).code == 10)
    let before = try CommandFolder.bytes(store)
    try FileManager.default.removeItem(atPath: store)
    try killed()
    let text = try String(contentsOfFile: inputs[0], encoding: .utf8)
    try text.replacing("keeper 300", with: "KEEPER 300").write(toFile: inputs[0], atomically: false, encoding: .utf8)
    #expect(try folder.run("godwit", ["resume", store]).code == 10)
    let after = try CommandFolder.bytes(store)
    #expect(after != before && after.range(of: Data("KEEPER 300".utf8)) != nil)
  }

  @Test(
    "Of an import whose store has its name only the folder goes with clean; a store that was moved away is made anew")
  func done() throws {
    let inputs = try imports.linked(300)
    let launcher = imports.launcher(try imports.stop, "STOP_ONLY=unlink plan.json", "STOP_AT=1", "STOP_WITH=KILL")
    for every in [[], ["--checkpoint-every", "12kB"]] {
      #expect(try folder.run("godwit", words(inputs, every), launcher: launcher).code == 137)
      let bytes = try CommandFolder.bytes(store)
      let cleaned = try folder.run("godwit", ["clean", store])
      #expect(cleaned.output.contains("removed \(imports.scratch): import that is done"), "\(cleaned)")
      #expect(try CommandFolder.bytes(store) == bytes && !isThere(imports.scratch))
      try FileManager.default.removeItem(atPath: store)
      #expect(try folder.run("godwit", words(inputs, every), launcher: launcher).code == 137)
      try FileManager.default.removeItem(atPath: store)
      let status = try folder.run("godwit", ["status", store])
      #expect(status.output.contains("begins anew with `godwit resume \(store)`"), "\(status)")
      #expect(try folder.run("godwit", ["resume", store]).code == 10)
      #expect(try CommandFolder.bytes(store) == bytes && !isThere(imports.scratch))
      try FileManager.default.removeItem(atPath: store)
    }
  }
}
