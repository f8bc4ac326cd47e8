import Foundation
import Glibc
import Testing

@Suite("Imports that are interrupted", .serialized)
struct ImportResumeTests {
  private let imports: ImportFolder
  private var folder: CommandFolder { imports.folder }
  private var store: String { imports.store }
  private var scratch: String { imports.scratch }

  init() throws { imports = try ImportFolder() }

  /// What an undisturbed import makes.
  private func wanted(_ inputs: [String]) throws -> Data {
    let path = folder.newPath("wanted.sqlite")
    #expect(try folder.run("godwit", imports.words(inputs, to: path)).code == 10)
    return try CommandFolder.bytes(path)
  }

  @Test(
    "Killed before any call that changes the disk, they end with the bytes of an undisturbed one",
    .enabled(if: StopLibrary.isPossible, StopLibrary.needed))
  func killed() throws {
    let (inputs, library) = (try imports.linked(), try imports.stop)
    let (reference, list) = (folder.newPath("wanted.sqlite"), folder.newPath("wanted.csv"))
    let log = folder.newPath("calls")
    let whole = try folder.run(
      "godwit", imports.words(inputs, to: reference, ["--rejects", list]),
      launcher: imports.launcher(library, "STOP_LOG=\(log)"))
    #expect(whole.code == 10, "\(whole)")
    let calls = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
    #expect(calls.count { $0.contains("rename") && $0.contains("checkpoint-") } > 10)
    // All of the beginning and the end, and some between.
    let last = calls.count
    let moments = Array(1...6) + stride(from: 7, to: last - 20, by: max(1, last / 8)) + Array((last - 20)...last)
    for moment in moments {
      let rejects = folder.newPath("rejects.csv")
      try expectResumed(imports.words(inputs, ["--rejects", rejects]), moment, library)
      #expect(try CommandFolder.bytes(store) == CommandFolder.bytes(reference), "\(moment)")
      #expect(try CommandFolder.bytes(rejects) == CommandFolder.bytes(list), "\(moment)")
      try FileManager.default.removeItem(atPath: store)
    }
  }

  /// Kills an import before a call, and goes on with it: by `resume` or by the same command.
  private func expectResumed(_ words: [String], _ moment: Int, _ library: String) throws {
    let killed = try folder.run(
      "godwit", words, launcher: imports.launcher(library, "STOP_AT=\(moment)", "STOP_WITH=KILL"))
    // Calls of other threads may come behind the last one.
    guard killed.code != 10 else { return }
    #expect(killed.code == 128 + SIGKILL, "\(moment): \(killed)")
    let isNamed = FileManager.default.fileExists(atPath: store)
    let canResume = try folder.run("godwit", ["status", store, "--check"]).code == 75
    guard canResume || !isNamed else { return }
    // Of one that is over, the folder alone may be left, which says no more than that.
    let isLeft = isNamed && !FileManager.default.fileExists(atPath: scratch + "/.import.godwit/plan.json")
    let next = try folder.run("godwit", canResume && (isLeft || moment % 2 == 0) ? ["resume", store] : words)
    #expect(next.code == (isLeft ? 0 : 10), "\(moment): \(next)")
    #expect(!FileManager.default.fileExists(atPath: scratch), "\(moment)")
  }

  @Test("Killed again and again, an import ends with the same bytes", .enabled(if: StopLibrary.isPossible))
  func killedOften() throws {
    let inputs = try imports.linked()
    let wanted = try wanted(inputs)
    #expect(try imports.killedOften(imports.words(inputs), ending: 10) > 5)
    #expect(try CommandFolder.bytes(store) == wanted)
  }

  @Test("A stopped import names the command that goes on, and so does status; both lead to the end")
  func stopped() throws {
    let inputs = try imports.linked(30_000)
    let wanted = try wanted(inputs)
    let process = try CommandProcess("godwit", imports.words(inputs), in: folder)
    while process.isRunning, CommandFolder.checkpoints(scratch + "/.import.godwit").isEmpty { usleep(1000) }
    let running = try folder.run("godwit", ["status", store, "--check"])
    let second = try folder.run("godwit", imports.words(inputs))
    process.send(SIGTERM)
    let outcome = try process.wait()
    #expect(running.code == 21 && running.output.contains("\(store): running"), "\(running)")
    #expect(second.code == 21 && ImportFolder.commands(second.error).first == "godwit status \(store)", "\(second)")
    #expect(outcome.code == 75 && outcome.error.contains("the import stopped on request"), "\(outcome)")
    #expect(ImportFolder.commands(outcome.error).first == "godwit resume \(store)", "\(outcome)")
    #expect(!FileManager.default.fileExists(atPath: store))
    let status = try folder.run("godwit", ["status", store, "--check"])
    #expect(status.code == 75 && status.output.contains("\(store): interrupted"), "\(status)")
    #expect(status.output.contains("This is an import of \(inputs[0]) and 1 more into a store of Zoo."), "\(status)")
    #expect(ImportFolder.commands(status.output).first == "godwit resume \(store)", "\(status)")
    let report = try folder.run("godwit", ["report", store])
    #expect(report.code == 20 && ImportFolder.commands(report.error) == ["godwit status \(store)"], "\(report)")
    let pasted = try folder.paste(ImportFolder.commands(status.output)[0])
    #expect(pasted.code == 10, "\(pasted)")
    #expect(try CommandFolder.bytes(store) == wanted && !FileManager.default.fileExists(atPath: scratch))
    #expect(try folder.run("godwit", ["status", store, "--check"]).code == 3)
  }

  @Test("ctl stops and pauses an import")
  func ordered() throws {
    let process = try CommandProcess("godwit", imports.words(try imports.linked(30_000)), in: folder)
    while process.isRunning, CommandFolder.checkpoints(scratch + "/.import.godwit").isEmpty { usleep(1000) }
    #expect(try folder.run("godwit", ["ctl", "pause", store]).output.contains("paused"))
    #expect(try folder.run("godwit", ["ctl", "stop", store]).code == 0)
    let outcome = try process.wait()
    #expect(outcome.code == 75 && outcome.error.contains("the import stopped as"), "\(outcome)")
    #expect(try folder.run("godwit", ["resume", store]).code == 10)
  }

  @Test(
    "A file that was changed is refused; put back, the import goes on",
    .enabled(if: StopLibrary.isPossible, StopLibrary.needed))
  func changedInput() throws {
    let inputs = try imports.linked()
    let wanted = try wanted(inputs)
    try imports.interrupt(inputs)
    let text = try String(contentsOfFile: inputs[0], encoding: .utf8)
    #expect(try folder.run("godwit", ["status", "--check", store]).code == 75)
    // Of the same length, at the beginning.
    try text.replacing("keeper 1200", with: "keeper 1199", maxReplacements: 1)
      .write(toFile: inputs[0], atomically: false, encoding: .utf8)
    for words in [["resume", store], imports.words(inputs)] {
      let refused = try folder.run("godwit", words)
      #expect(refused.code == 22, "\(refused)")
      #expect(refused.error.contains("\(inputs[0]): the file was changed since the import read it"), "\(refused)")
      #expect(
        ImportFolder.commands(refused.error) == ["godwit resume \(store)", "godwit clean --all \(store)"], "\(refused)")
    }
    try text.write(toFile: inputs[0], atomically: false, encoding: .utf8)
    #expect(try folder.run("godwit", ["resume", store]).code == 10)
    #expect(try CommandFolder.bytes(store) == wanted)
  }

  @Test(
    "Another import to the path of an interrupted one is refused, and its commands lead on",
    .enabled(if: StopLibrary.isPossible, StopLibrary.needed))
  func otherImport() throws {
    let inputs = try imports.linked()
    try imports.interrupt(inputs)
    let contents = imports.model + "/contents"
    let model = try String(contentsOfFile: contents, encoding: .utf8)
    try model.replacing(#"name="from""#, with: #"name="fromWhere""#)
      .write(toFile: contents, atomically: false, encoding: .utf8)
    let changed = try folder.run("godwit", imports.words(inputs))
    #expect(changed.code == 22 && changed.error.contains("the model was changed"), "\(changed)")
    try model.write(toFile: contents, atomically: false, encoding: .utf8)
    let other = imports.words(inputs, ["--unique", "Keeper.id"])
    let refused = try folder.run("godwit", other)
    #expect(refused.code == 20 && refused.error.contains("with other options, is interrupted"), "\(refused)")
    let found = ImportFolder.commands(refused.error)
    #expect(found == ["godwit resume \(store)", "godwit clean --all \(store)"], "\(refused)")
    #expect(try folder.paste(found[1]).code == 0)
    #expect(try folder.run("godwit", other).code == 10)
  }

  @Test(
    "clean keeps an import that can go on, says how, and removes it with --all; one without a checkpoint goes",
    .enabled(if: StopLibrary.isPossible, StopLibrary.needed))
  func clean() throws {
    let (inputs, library) = (try imports.linked(), try imports.stop)
    try imports.interrupt(inputs)
    for place in [folder.path, store] {
      let kept = try folder.run("godwit", ["clean", place])
      #expect(kept.code == 0 && kept.output.contains("kept \(scratch): interrupted import; resume it"), "\(kept)")
      #expect(
        ImportFolder.commands(kept.output) == ["godwit resume \(store)", "godwit clean --all \(store)"], "\(kept)")
      let dry = try folder.run("godwit", ["clean", "--all", "--dry-run", place])
      #expect(dry.output.contains("would remove \(scratch): interrupted import; "), "\(dry)")
      #expect(dry.output.contains("/store.sqlite"), "\(dry)")
    }
    #expect(try folder.run("godwit", ["status", store, "--check"]).code == 75)
    let removed = try folder.run("godwit", ["clean", "--all", store])
    #expect(removed.output.contains("removed \(scratch): interrupted import; "), "\(removed)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)

    let early = imports.launcher(library, "STOP_ONLY=rename .lz4", "STOP_AT=1", "STOP_WITH=KILL")
    #expect(try folder.run("godwit", imports.words(inputs), launcher: early).code == 128 + SIGKILL)
    let useless = try folder.run("godwit", ["clean", store])
    #expect(useless.output.contains("interrupted import without a checkpoint that can be read"), "\(useless)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  @Test("A wrong line behind a checkpoint leaves nothing, and the list of lines that were left out")
  func wrongLine() throws {
    let inputs = try imports.linked()
    let list = folder.newPath("rejects.csv")
    let more = ["--max-rejects", "1", "--rejects", list]
    let outcome = try folder.run("godwit", imports.words(inputs).filter { $0 != "5" && $0 != "--max-rejects" } + more)
    #expect(outcome.code == 11 && outcome.error.contains("line "), "\(outcome)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    #expect(try String(contentsOfFile: list, encoding: .utf8).split(separator: "\r\n").count == 2)
  }

  @Test("An import that is shorter than a checkpoint has none", .enabled(if: StopLibrary.isPossible))
  func short() throws {
    let (inputs, log) = (try imports.linked(), folder.newPath("calls"))
    let outcome = try folder.run(
      "godwit", ["import", imports.model] + inputs + ["--output", store, "--max-rejects", "5"],
      launcher: imports.launcher(try imports.stop, "STOP_LOG=\(log)"))
    #expect(outcome.code == 10, "\(outcome)")
    #expect(try !String(contentsOfFile: log, encoding: .utf8).contains("checkpoint"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["New.sqlite"])
  }

  @Test("Where a file may grow no further, an import keeps its checkpoint, and goes on when it may")
  func limitedFile() throws {
    let inputs = try imports.linked()
    let wanted = try wanted(inputs)
    // A file of so many blocks of 1 KiB is as large as any may be.
    let limited = ["/bin/bash", "-c", "ulimit -f 150; exec \"$@\"", "bash"]
    let outcome = try folder.run("godwit", imports.words(inputs), launcher: limited)
    #expect(outcome.code == 1 && outcome.error.contains("ulimit -f"), "\(outcome)")
    #expect(ImportFolder.commands(outcome.error).first == "godwit resume \(store)", "\(outcome)")
    let pasted = try folder.paste(ImportFolder.commands(outcome.error)[0])
    #expect(pasted.code == 10, "\(pasted)")
    #expect(try CommandFolder.bytes(store) == wanted)
  }
}
