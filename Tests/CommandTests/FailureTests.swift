import Foundation
import Glibc
import Testing

@testable import BatchCommand
@testable import MigrationJobs

@Suite("What a failed command tells a program", .serialized)
struct FailureTests {
  private let folder: CommandFolder

  init() throws { folder = try CommandFolder() }

  private func failure(_ outcome: CommandProcess.Outcome) throws -> FailureDocument.Body {
    let found = try JSONDecoder().decode(FailureDocument.self, from: Data(outcome.output.utf8)).error
    #expect(found.exitCode == outcome.code && outcome.error.contains(found.message), "\(outcome)")
    return found
  }

  /// Runs a line that a failure names, as a person pastes it.
  private func paste(_ line: String) throws -> CommandProcess.Outcome {
    let programs = URL(fileURLWithPath: try CommandProcess.path(of: "book-migration")).deletingLastPathComponent().path
    return try folder.run(
      "godwit", [], launcher: ["/usr/bin/env", "PATH=\(programs):/usr/bin:/bin", "bash", "-c", line])
  }

  @Test("A refusal has written nothing; a command that only looks has, too")
  func refused() throws {
    let missing = folder.file("none.sqlite")
    for words in [["migrate", missing, "--json"] + CommandFolder.models, ["inspect", missing, "--json"]] {
      let found = try failure(try folder.run("book-migration", words))
      #expect(found.code == "no-such-file" && found.effect == "nothing-written" && found.next.isEmpty, "\(found)")
    }
    #expect(try folder.run("book-migration", ["inspect", missing]).output.isEmpty)
  }

  @Test("A run that was stopped is resumable; another migration is refused; what next names finishes it")
  func stopped() throws {
    let store = try folder.sample(rows: 12_000)
    let words = ["migrate", store, "--checkpoint-every", "20kB", "--json", "--progress", "none"] + CommandFolder.models
    let process = try CommandProcess("book-migration", words + CommandFolder.slowly, in: folder)
    let job = try JobDirectory(destination: store)
    while process.isRunning, CommandFolder.checkpoints(job.path).count < 2 { usleep(2000) }
    process.send(SIGTERM)
    let stopped = try failure(try process.wait())
    #expect(stopped.code == "stopped" && stopped.effect == "resumable" && stopped.next.count == 2, "\(stopped)")
    let second = try failure(try folder.run("book-migration", words))
    #expect(second.code == "refused" && second.effect == "nothing-written" && second.next == stopped.next, "\(second)")
    let resumed = try paste(try #require(second.next.first))
    #expect(resumed.code == 0, "\(resumed)")
    #expect(try folder.run("book-migration", ["verify", store] + CommandFolder.models.prefix(2)).code == 0)
  }

  @Test("The second command of next gives a stopped run up, and the store is as it was")
  func givenUp() throws {
    let store = try folder.sample(rows: 12_000)
    let before = try CommandFolder.bytes(store)
    _ = try folder.interrupted(store)
    let refused = try failure(try folder.run("book-migration", ["migrate", store, "--json"] + CommandFolder.models))
    let given = try paste(try #require(refused.next.last))
    #expect(given.code == 0, "\(given)")
    #expect(try CommandFolder.bytes(store) == before && folder.tree().keys.sorted() == ["", "Library.sqlite"])
  }

  @Test("A list of stores has effect and commands of each that failed")
  func manifest() throws {
    let list = folder.newPath("list")
    try "\(folder.file("none.sqlite"))\n".write(toFile: list, atomically: true, encoding: .utf8)
    let outcome = try folder.run("book-migration", ["migrate", "--manifest", list, "--json"] + CommandFolder.models)
    #expect(outcome.code == 64 && outcome.output.contains("\"effect\" : \"nothing-written\""), "\(outcome)")
  }
}
