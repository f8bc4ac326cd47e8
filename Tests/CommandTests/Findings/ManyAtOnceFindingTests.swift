import Foundation
import Glibc
import Testing

@Suite(
  "Faults that were found: several processes with one store", .enabled(if: StopLibrary.isPossible, StopLibrary.needed))
struct ManyAtOnceFindingTests {
  private let folder: FindingFolder
  private let store: String

  init() throws {
    folder = try FindingFolder()
    store = try folder.store("a.sqlite")
  }

  @Test(
    "Finding 3: a plan that was made before another process migrated the store is made anew, and no value is dropped")
  func planInPlace() throws {
    let process = try folder.stopped(folder.migrate(store), before: "mkdir .a.sqlite.godwit")
    try folder.runWell(folder.migrate(store))
    try folder.execute(store, "UPDATE ZA SET ZEXTRA = 'precious ' || Z_PK")
    process.send(SIGCONT)
    let outcome = try process.wait()
    #expect(outcome.code == 0 && outcome.output.contains("already at version V2"), "\(outcome)")
    #expect(try folder.texts(store, "SELECT ifnull(ZEXTRA, '') FROM ZA") == (1...4).map { "precious \($0)" })
    #expect(try folder.jobs().isEmpty)
  }

  @Test("Finding 3: the same for an output: what the application wrote at the new version is in it")
  func planElsewhere() throws {
    let output = folder.file("o.sqlite")
    let words = folder.migrate(store, to: "V3", output: output)
    let process = try folder.stopped(words, before: "mkdir .o.sqlite.godwit")
    try folder.runWell(folder.migrate(store))
    try folder.execute(store, "UPDATE ZA SET ZEXTRA = 'precious ' || Z_PK")
    process.send(SIGCONT)
    let outcome = try process.wait()
    #expect(outcome.code == 0 && outcome.output.contains("version V3"), "\(outcome)")
    #expect(try folder.texts(output, "SELECT ifnull(ZEXTRA, '') FROM ZA") == (1...4).map { "precious \($0)" })
  }

  @Test("Finding 8: of several starts at once one migrates the store, and the others say truly what they met")
  func starts() throws {
    let original = try CommandFolder.bytes(store)
    for round in 1...4 {
      for name in try FileManager.default.contentsOfDirectory(atPath: folder.folder.path) {
        try FileManager.default.removeItem(atPath: folder.file(name))
      }
      try original.write(to: URL(fileURLWithPath: store))
      let processes = try (1...3).map { _ in try CommandProcess("godwit", folder.migrate(store), in: folder.folder) }
      let outcomes = try processes.map { try $0.wait() }
      let done = outcomes.filter { $0.code == 0 && !$0.output.contains("already at version") }
      #expect(done.count == 1, "round \(round): \(outcomes)")
      for outcome in outcomes { #expect([0, 21].contains(outcome.code), "round \(round): \(outcome)") }
      #expect(!outcomes.contains { $0.error.contains("taken this run over") }, "round \(round): \(outcomes)")
      #expect(try folder.jobs().isEmpty && folder.isStore(store, at: "V2"), "round \(round)")
    }
  }

  @Test(
    "Finding 8: a process that was stopped in its removal while another one starts ends with 0 and leaves no folder",
    arguments: ["unlink log", "unlink cutover.json", "rmdir .a.sqlite.godwit"])
  func removal(call: String) throws {
    let process = try folder.stopped(folder.migrate(store), before: call)
    let second = try folder.run(folder.migrate(store))
    #expect([0, 21].contains(second.code), "\(second)")
    process.send(SIGCONT)
    let outcome = try process.wait()
    #expect(outcome.code == 0 && outcome.output.contains("version V2"), "\(outcome)")
    #expect(try folder.jobs().isEmpty && folder.isStore(store, at: "V2"))
    #expect(try folder.names(store) == (1...4).map { "name \($0)" })
  }
}
