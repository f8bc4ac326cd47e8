import Foundation
import Glibc
import Streams
import Testing

@testable import MigrationJobs

@Suite(
  "What can be resumed is 75 and interrupted, for one store and in a list, in status, report and migrate", .serialized)
struct ListTruthTests {
  private let folder: CommandFolder
  private let list: String
  private let stores: [String]
  private let ended: String

  init() throws {
    folder = try CommandFolder()
    list = folder.file("stores.txt")
    ended = folder.newPath("ended")
    let folder = folder
    stores = try (1...2).map { try folder.sample("S\($0).sqlite", rows: 6000, seed: UInt64($0)) }
    try stores.joined(separator: "\n").write(toFile: list, atomically: true, encoding: .utf8)
  }

  private var migrate: [String] {
    let hooks = ["failure", "stop"].flatMap { ["--on-\($0)", "sh -c 'echo \($0) >> \(ended)'"] }
    return ["migrate", "--manifest", list, "--json"] + hooks + CommandFolder.models
  }

  /// All that is said of interrupted stores; returns the command that leads on.
  private func expectInterrupted(_ places: [Int], _ migrated: CommandProcess.Outcome, because reason: String) throws
    -> String
  {
    #expect(migrated.code == 75, "\(migrated)")
    #expect(try String(contentsOfFile: ended, encoding: .utf8) == "stop\n")
    var documents = [try ListDocument(migrated)]
    for words in [["status", "--check"], ["report"]] {
      let outcome = try folder.run("book-migration", words + ["--manifest", list, "--json"])
      #expect(outcome.code == 75, "\(outcome)")
      documents.append(try ListDocument(outcome))
    }
    for document in documents {
      for place in places {
        #expect(document.states[place] == "interrupted" && document.stores[place].exitCode == 75, "\(document)")
      }
      let group = try #require(document.groups.first { $0.state == "interrupted" })
      #expect(group.exitCode == 75 && group.reason?.contains(reason) == true, "\(document)")
      #expect(group.next?.contains("migrate --manifest ") == true, "\(document)")
    }
    for place in places {
      #expect(try folder.run("book-migration", ["status", "--check", stores[place]]).code == 75)
      #expect(try folder.run("book-migration", ["report", stores[place]]).output.hasPrefix("INTERRUPTED: "))
    }
    return try #require(documents[2].groups.first { $0.state == "interrupted" }?.next)
  }

  @Test("A limit on the size of files, which ends a run with an error, leaves runs that go on when it is lifted")
  func tooLarge() throws {
    let limit = ["/bin/sh", "-c", #"ulimit -f 400; exec "$@""#, "sh"]
    // Written down at once: before that a failed write leaves no run.
    let words = migrate + ["--checkpoint-every", "100kB"]
    let outcome = try folder.run("book-migration", words, launcher: limit)
    let next = try expectInterrupted([0, 1], outcome, because: "too large")
    let done = try folder.paste(next.replacing("godwit ", with: "book-migration "))
    #expect(done.code == 0, "\(done)")
  }

  @Test(
    "A disk that is full in the middle of a run leaves one that goes on when there is room",
    .enabled(if: SmallDisk.isPossible))
  func diskFull() throws {
    let disk = try SmallDisk(at: folder.file("disk"), megabytes: 16)
    defer { disk.unmount() }
    let store = folder.file("disk/S.sqlite")
    try FileManager.default.moveItem(atPath: stores[0], toPath: store)
    try "\(store)\n\(stores[1])\n".write(toFile: list, atomically: true, encoding: .utf8)
    let process = try CommandProcess("book-migration", migrate + ["--throttle", "2krows/s"], in: folder)
    let job = try JobDirectory(destination: store)
    while process.isRunning, CommandFolder.checkpoints(job.path).count < 2 { usleep(2000) }
    let ballast = folder.file("disk/ballast")
    _ = try? Data(count: 1 << 16).write(to: URL(fileURLWithPath: ballast))
    let file = try LocalFileSystem().open(ballast, .update)
    for place in 1... {
      do {
        try [UInt8](repeating: 1, count: 4096).withUnsafeBytes { try file.write($0, at: UInt64(place) * 4096) }
      } catch {
        break
      }
    }
    file.close()
    let outcome = try process.wait()
    #expect(outcome.code == 75, "\(outcome)")
    for words in [["status", "--check"], ["report"]] {
      let found = try ListDocument(folder.run("book-migration", words + ["--manifest", list, "--json"]))
      #expect(found.code == 75 && found.states == ["interrupted", "done"], "\(found)")
    }
    #expect(try ListDocument(outcome).states == ["interrupted", "migrated"], "\(outcome)")
    #expect(try folder.run("book-migration", ["report", store]).output.hasPrefix("INTERRUPTED: "))
    try FileManager.default.removeItem(atPath: ballast)
    #expect(try folder.run("book-migration", ["resume", store, "--quiet"]).code == 0)
  }

  @Test("A process of a list that somebody kills leaves a run that goes on; nothing is to be corrected")
  func killed() throws {
    let process = try CommandProcess("book-migration", migrate + ["--throttle", "2krows/s"], in: folder)
    let job = try JobDirectory(destination: stores[0])
    while process.isRunning, CommandFolder.checkpoints(job.path).count < 2 { usleep(2000) }
    let owner = try #require(try LeaseOwner.read(job.lease, LocalFileSystem()))
    kill(owner.pid, SIGKILL)
    let next = try expectInterrupted([0], try process.wait(), because: "its process was killed by signal 9")
    let done = try folder.paste(next.replacing(" --throttle 2krows/s", with: ""))
    #expect(done.code == 0 && done.output.contains("\"migrated\""), "\(done)")
  }
}
