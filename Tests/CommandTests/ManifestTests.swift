import Foundation
import Testing

@testable import BatchCommand
@testable import MigrationJobs
@testable import RunSupport

@Suite("Many stores", .serialized)
struct ManifestTests {
  private struct Summary: Decodable {
    struct Store: Decodable {
      var store: String
      var exitCode: Int32
      var resumed: Bool
      var error: String?
      var summary: RunSummary?
    }

    var format: Int
    var stores: [Store]
  }

  @Test(
    "A list is migrated some at a time, past one that fails, and interrupted ones are gone on with; the exit code tells the worst"
  )
  func run() throws {
    let folder = try CommandFolder()
    let stores = try (1...4).map { try folder.sample("Store \($0).sqlite", rows: 2000, seed: UInt64($0)) }
    _ = try folder.interrupted(stores[1], every: "5kB")
    try Data("no database at all, but a text".utf8).write(to: URL(fileURLWithPath: stores[2]))
    let output = folder.file("Output.sqlite")
    let list = folder.file("stores.txt")
    try "# last night's\n\(stores[0])\n\(stores[1])\n\n\(stores[2])\n\(stores[3])\t\(output)\n"
      .write(toFile: list, atomically: true, encoding: .utf8)
    let command = ["migrate", "--manifest", list, "--jobs", "2", "--checkpoint-every", "20kB"] + CommandFolder.models
    let outcome = try folder.run("book-migration", command + ["--json"])
    let summary = try JSONDecoder().decode(Summary.self, from: Data(outcome.output.utf8))
    #expect(outcome.code == 30 && summary.format == 1, "\(outcome)")
    #expect(
      summary.stores.map(\.exitCode) == [0, 0, 30, 0] && summary.stores.map(\.resumed) == [false, true, false, false])
    #expect(summary.stores.map(\.store) == stores && summary.stores[2].error?.contains("SQLite") == true)
    #expect(summary.stores.allSatisfy { $0.exitCode != 0 || $0.summary?.verified == true })
    #expect(FileManager.default.fileExists(atPath: output))
    // Once more: what is done is left alone, the output of the last one, too.
    let again = try folder.run("book-migration", command)
    #expect(
      again.code == 30 && again.output.contains("3 needed nothing") && again.error.contains("[4/4]"), "\(again)")
  }

  /// Processes that a process has started.
  private static func children(of parent: Int32) throws -> [Int32] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap(Int32.init).filter { pid in
      let status = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
      return status.split(separator: ")").last?.split(separator: " ").dropFirst().first == "\(parent)"
    }
  }

  /// Whether a process is there and not only waits to be forgotten.
  private static func isAtWork(_ pid: Int32) -> Bool {
    let status = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
    return status.split(separator: ")").last.map { !$0.hasPrefix(" Z") } ?? false
  }

  /// A list at work on the first of three stores, which takes seconds.
  private static func atWork(_ folder: CommandFolder) throws -> (
    process: CommandProcess, stores: [String], child: Int32
  ) {
    let stores = try [6000, 20, 20].enumerated().map { try folder.sample("S\($0).sqlite", rows: $1, seed: 3) }
    let list = folder.file("stores.txt")
    try stores.joined(separator: "\n").write(toFile: list, atomically: true, encoding: .utf8)
    let process = try CommandProcess(
      "book-migration",
      ["migrate", "--manifest", list, "--throttle", "2krows/s", "--json"] + CommandFolder.models, in: folder)
    let job = try JobDirectory(destination: stores[0])
    while process.isRunning, CommandFolder.checkpoints(job.path).isEmpty { usleep(2000) }
    return (process, stores, try #require(try children(of: process.pid).first))
  }

  @Test("A process that dies takes its store with it and no other: the next ones are migrated, and it can be resumed")
  func death() throws {
    let folder = try CommandFolder()
    let (process, stores, child) = try Self.atWork(folder)
    kill(child, SIGKILL)
    let outcome = try process.wait()
    let summary = try JSONDecoder().decode(Summary.self, from: Data(outcome.output.utf8))
    #expect(summary.stores.map(\.exitCode) == [75, 0, 0], "\(outcome)")
    #expect(try folder.run("book-migration", ["resume", stores[0], "--quiet"]).code == 0)
  }

  @Test("A command at a store's phases finds nothing on its standard input, and the next stores are migrated")
  func hooks() throws {
    let folder = try CommandFolder()
    let stores = try (1...3).map { try folder.sample("S\($0).sqlite", rows: 20, seed: UInt64($0)) }
    let list = folder.file("stores.txt")
    try stores.joined(separator: "\n").write(toFile: list, atomically: true, encoding: .utf8)
    let words = ["migrate", "--manifest", list, "--on-phase", "cat", "--quiet"] + CommandFolder.models
    #expect(try folder.run("book-migration", words).code == 0)
  }

  @Test("Without a place for temporary files no store is begun; with one, as the message says, all are migrated")
  func temporaryFiles() throws {
    let folder = try CommandFolder()
    let store = try folder.sample("S.sqlite", rows: 20)
    let list = folder.file("stores.txt")
    try store.write(toFile: list, atomically: true, encoding: .utf8)
    let words = ["migrate", "--manifest", list] + CommandFolder.models
    let refused = try folder.run(
      "book-migration", words, launcher: ["/usr/bin/env", "TMPDIR=\(folder.file("nowhere"))"])
    #expect(refused.code == 1 && refused.output.contains("Set TMPDIR"), "\(refused)")
    let done = try folder.run("book-migration", words, launcher: ["/usr/bin/env", "TMPDIR=\(folder.path)"])
    #expect(done.code == 0, "\(done)")
  }

  @Test(
    "A stop at the end of a store, or before the next, is heard: what was not begun is untouched, and the list goes on",
    arguments: [0, 5, 10, 20, 40])
  func stopBetween(milliseconds: Int) throws {
    let folder = try CommandFolder()
    let stores = try (1...4).map { try folder.sample("S\($0).sqlite", rows: 20, seed: UInt64($0)) }
    let before = try stores.map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
    let (list, pid) = (folder.file("stores.txt"), folder.newPath("pid"))
    try stores.joined(separator: "\n").write(toFile: list, atomically: true, encoding: .utf8)
    let words = ["migrate", "--manifest", list, "--json"] + CommandFolder.models
    let delay = "0.0\(milliseconds < 10 ? "0" : "")\(milliseconds)"
    let hook =
      "sh -c \"[ $GODWIT_PHASE = after-cut-over ] || exit 0; while [ ! -s '\(pid)' ]; do sleep 0.01; done; "
      + "(sleep \(delay); kill -TERM $(cat '\(pid)')) > '\(folder.newPath("hook"))' 2>&1 &\""
    let process = try CommandProcess("book-migration", words + ["--on-phase", hook], in: folder)
    try "\(process.pid)\n".write(toFile: pid, atomically: true, encoding: .utf8)
    let outcome = try process.wait()
    let codes = try JSONDecoder().decode(Summary.self, from: Data(outcome.output.utf8)).stores.map(\.exitCode)
    #expect(codes.count == 4 && codes.first == 0 && codes.allSatisfy { [0, 75].contains($0) }, "\(outcome)")
    #expect(outcome.code == codes.max())
    for (store, (code, bytes)) in zip(stores, zip(codes, before)) {
      #expect(try (Data(contentsOf: URL(fileURLWithPath: store)) == bytes) == (code != 0), "\(store)")
    }
    #expect(try folder.run("book-migration", words).code == 0)
  }

  @Test("Where the list's own process is killed, the store at work is left in good order")
  func orphan() throws {
    let folder = try CommandFolder()
    let (process, stores, child) = try Self.atWork(folder)
    process.send(SIGKILL)
    _ = try process.wait()
    let began = ContinuousClock.now
    while Self.isAtWork(child), ContinuousClock.now - began < .seconds(120) { usleep(10_000) }
    #expect(!Self.isAtWork(child), "the process went on alone")
    let status = try folder.run("book-migration", ["status", stores[0], "--json"])
    #expect(status.output.contains("interrupted"), "\(status)")
    #expect(try folder.run("book-migration", ["resume", stores[0], "--quiet"]).code == 0)
  }

  @Test(
    "Editors' marks and other line ends are no part of a name, and a name that begins as an option does is a store (F4)"
  )
  func names() throws {
    let manifest = try Manifest(
      bytes: [0xEF, 0xBB, 0xBF] + Array("/a\r\n/b\u{2028}c\t/d\u{85}\n/e\u{B}f\r\n".utf8), path: "list")
    #expect(
      manifest.entries == [
        .init(store: "/a"), .init(store: "/b\u{2028}c", output: "/d\u{85}", line: 2), .init(store: "/e\u{B}f", line: 3),
      ])
    let error = #expect(throws: BatchError.self) {
      try Manifest(bytes: Array("/a\n/e".utf8) + [0xFF, 0x0A], path: "list")
    }
    #expect(
      error?.code == .refused && error?.message.contains("line 2") == true && error?.message.contains("/e\\xff") == true
    )
    let folder = try CommandFolder()
    try FileManager.default.moveItem(atPath: folder.sample(rows: 100), toPath: folder.file("--json"))
    let list = folder.newPath("list")
    try "--json\t--out\n".write(toFile: list, atomically: true, encoding: .utf8)
    let outcome = try folder.run(
      "book-migration", ["migrate", "--manifest", list] + CommandFolder.models,
      launcher: ["/usr/bin/env", "-C", folder.path])
    #expect(outcome.code == 0 && FileManager.default.fileExists(atPath: folder.file("--out")), "\(outcome)")
  }

  @Test("Lists are read line by line; one that names a store twice, or none, is refused; options go where they belong")
  func lists() throws {
    let manifest = try Manifest(bytes: Array("#x\n/a b.sqlite\n\n /c\t/d\n".utf8), path: "list")
    #expect(manifest.entries == [.init(store: "/a b.sqlite", line: 2), .init(store: " /c", output: "/d", line: 4)])
    for text in ["", "# nothing\n", "/a\n/a\n", "/a\t/x\n/b\t/x\n"] {
      #expect(throws: BatchError.self) { try Manifest(bytes: Array(text.utf8), path: "list") }
    }
    let words = [
      "--manifest", "L", "--models", "a", "b", "--jobs=2", "--json", "--memory", "64M", "--nice", "--max-runtime", "2h",
      "--to",
      "V 2",
    ]
    #expect(
      StoreCommandWords.options(words, resuming: false) == [
        "--models", "a", "b", "--memory", "64M", "--nice", "--to", "V 2",
      ])
    #expect(StoreCommandWords.options(words, resuming: true) == ["--memory", "64M", "--nice"])
    let rejects = ["--max-rejects", "5%", "--reject-values", "--nice"]
    #expect(StoreCommandWords.options(rejects, resuming: true) == ["--nice"])
    #expect(
      StoreCommandWords.options(["--max-rejects=7", "--reject-values"], resuming: true) == [
        "--max-rejects=7", "--reject-values",
      ])
  }
}
