import Foundation
import Testing

@Suite("Programs that a signal ends")
struct EndedProcessTests {
  @Test("Exports and imports that are ended leave no temporary files, neither in TMPDIR nor beside the output")
  func ended() throws {
    let store = try XMLStoreFolder(rows: 20_000)
    let (temporary, lines) = (store.folder.newPath("tmp"), store.folder.newPath("all.jsonl"))
    try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: true)
    try store.export(store.sqlite).write(toFile: lines, atomically: false, encoding: .utf8)
    let before = try store.folder.tree().keys.sorted()
    let output = store.folder.file("out")
    let launcher = ["/usr/bin/env", "TMPDIR=" + temporary]
    for (words, code) in [
      (["export", store.xml, "--to-many", "--output", output] + store.arguments, Int32?.none),
      // It stops in good order, and what it keeps can go on.
      (
        ["import", store.arguments[1], lines, "--version", "Shapes 1", "--validate", "none", "--output", output],
        Int32(75)
      ),
    ] {
      for signal in [SIGTERM, SIGINT, SIGHUP] {
        let outcome = try ended(words, by: signal, in: store.folder, launcher: launcher) {
          try isUnderWay(temporary, output)
        }
        #expect(outcome.code == code ?? 128 + signal, "\(words[0]) \(signal): \(outcome)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary).isEmpty)
        if code != nil { _ = try store.folder.run("godwit", ["clean", "--all", output]) }
        #expect(try store.folder.tree().keys.sorted() == before)
      }
    }
  }

  /// Sends a signal as soon as a command is under way. One that was faster than this process is run again.
  private func ended(
    _ words: [String], by signal: Int32, in folder: CommandFolder, launcher: [String], isUnderWay: () throws -> Bool
  ) throws -> CommandProcess.Outcome {
    for _ in 0..<30 {
      let process = try CommandProcess("godwit", words, in: folder, launcher: launcher)
      while process.isRunning, try !isUnderWay() { usleep(1000) }
      process.send(signal)
      let outcome = try process.wait()
      if outcome.code != 0 { return outcome }
      try FileManager.default.removeItem(atPath: folder.file("out"))
    }
    throw CommandProcess.Missing(description: "\(words[0]) is never ended by \(signal)")
  }

  private func isUnderWay(_ temporary: String, _ output: String) throws -> Bool {
    let names = try FileManager.default.contentsOfDirectory(atPath: temporary)
    return names.contains { $0.hasPrefix("godwit-xml") } || isThere(output)
  }

  /// Whether an import works on the way to a store.
  private func isThere(_ store: String) -> Bool {
    let folder = URL(fileURLWithPath: store).deletingLastPathComponent().path
    return FileManager.default.fileExists(
      atPath: folder + "/.\(URL(fileURLWithPath: store).lastPathComponent).godwit-import")
  }

  /// Words of a command, what it is stopped at, and the folder of that: TMPDIR, or the store's.
  private struct Case {
    var words: [String]
    var name: String
    var isBeside = false
  }

  @Test(
    "diff --contents, verify, plan, trace and archives of applications leave nothing in TMPDIR if a signal ends them"
  )
  func looking() throws {
    let folder = try CommandFolder()
    let (temporary, cases) = (folder.newPath("tmp"), try cases(in: folder))
    try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: true)
    let before = try folder.tree().keys.sorted()
    for one in cases {
      for signal in [SIGTERM, SIGINT] {
        let outcome = try ended(one, by: signal, in: folder, temporary)
        #expect(outcome.code == 128 + signal, "\(one) \(signal): \(outcome)")
        let left = try FileManager.default.contentsOfDirectory(atPath: temporary)
        #expect(left.isEmpty, "\(one) \(signal): \(left)")
        #expect(try folder.tree().keys.sorted() == before, "\(one) \(signal)")
      }
    }
  }

  private func cases(in folder: CommandFolder) throws -> [Case] {
    let archive = folder.file("App.ipa")
    try ZipFile(ApplicationFolder.compiled()).write(to: archive)
    let (store, logged, hot) = (
      try folder.sample(rows: 3000), try folder.sample("Logged.sqlite", rows: 3000),
      try folder.sample("Hot.sqlite", rows: 3000)
    )
    try folder.keepInLog(logged)
    var journal = Data([0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7])
    journal.append(Data(count: 600))
    try journal.write(to: URL(fileURLWithPath: hot + "-journal"))
    let new = folder.file("New.sqlite")
    #expect(try folder.run("book-migration", ["migrate", store, "--output", new] + CommandFolder.models).code == 0)
    return [
      Case(words: ["diff", "--contents", store, hot], name: "godwit-recovery"),
      Case(words: ["verify", logged], name: "godwit-verification"),
      Case(words: ["verify", hot], name: "godwit-recovery"),
      Case(
        words: ["verify", new, "--against", store] + CommandFolder.models, name: "New.sqlite.again", isBeside: true),
      Case(words: ["trace", store, "Book", "5"] + CommandFolder.models, name: "godwit-trace"),
      Case(words: ["plan", store] + CommandFolder.models, name: "godwit-trial"),
      Case(words: ["plan", store, "--app", archive], name: "godwit-app"),
      Case(words: ["verify", store, "--app", archive], name: "godwit-app"),
      Case(
        words: [
          "sample", ExampleFolder.models, "--version", "Library 1", "--rows", "3000000", "--output",
          folder.file("Made.sqlite"),
        ], name: "Made.sqlite.sample", isBeside: true),
    ]
  }

  /// Sends a signal as soon as the folder is there. A command that was faster than this process is run again.
  private func ended(_ one: Case, by signal: Int32, in folder: CommandFolder, _ temporary: String) throws
    -> CommandProcess.Outcome
  {
    for _ in 0..<30 {
      let outcome = try endedOnce(one, by: signal, in: folder, temporary)
      if outcome.code != 0 { return outcome }
    }
    return try endedOnce(one, by: signal, in: folder, temporary)
  }

  private func endedOnce(_ one: Case, by signal: Int32, in folder: CommandFolder, _ temporary: String) throws
    -> CommandProcess.Outcome
  {
    let process = try CommandProcess(
      "book-migration", one.words, in: folder, launcher: ["/usr/bin/env", "TMPDIR=" + temporary])
    let place = one.isBeside ? folder.path : temporary
    while process.isRunning,
      try !FileManager.default.contentsOfDirectory(atPath: place).contains(where: { $0.hasPrefix(one.name) })
    { usleep(100) }
    process.send(SIGSTOP)
    process.send(signal)
    process.send(SIGCONT)
    return try process.wait()
  }
}
