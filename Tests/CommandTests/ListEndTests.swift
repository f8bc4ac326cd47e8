import Foundation
import Glibc
import Testing

@testable import BatchCommand

@Suite("How a list ends without having begun all stores, or where it cannot write", .serialized)
struct ListEndTests {
  private let folder: CommandFolder
  private let list: String
  private let stores: [String]

  init() throws {
    let folder = try CommandFolder()
    stores = try (1...3).map { try folder.sample("S\($0).sqlite", rows: 6000, seed: UInt64($0)) }
    (self.folder, list) = (folder, try folder.list(stores))
  }

  @Test("Stores that a limit of time left no time for are not begun, as after SIGTERM, and have no empty reason")
  func time() throws {
    let words = ["migrate", "--manifest", list, "--throttle", "1krows/s"] + CommandFolder.models
    let over = try ListDocument(folder.run("book-migration", words + ["--json", "--max-runtime", "3s"]))
    #expect(over.code == 75 && over.states.first == "stopped", "\(over)")
    #expect(over.states.dropFirst().allSatisfy { $0 == "not begun" }, "\(over)")
    #expect(over.groups.first { $0.state == "not begun" }?.reason == nil, "\(over)")
    let process = try CommandProcess("book-migration", words + ["--json"], in: folder)
    sleep(2)
    process.send(SIGTERM)
    let stopped = try ListDocument(process.wait())
    #expect(stopped.states.dropFirst().allSatisfy { $0 == "not begun" }, "\(stopped)")
    #expect(stopped.groups.first { $0.state == "not begun" }?.reason == nil, "\(stopped)")
  }

  @Test("Of a list that is killed while its stores need nothing, each is known: it needed nothing, or is not begun")
  func killed() throws {
    let (first, count) = (folder.file("New.sqlite"), 60)
    let made = ["sample", ExampleFolder.models, "--version", "Library 3", "--rows", "30", "--output", first]
    #expect(try folder.run("godwit", made).code == 0)
    let names = (0..<count).map { folder.file("N\($0).sqlite") }
    for name in names { try FileManager.default.copyItem(atPath: first, toPath: name) }
    let words = ["--manifest", try folder.list(names)]
    for round in 0..<12 {
      let process = try CommandProcess(
        "book-migration", ["migrate", "--jobs", "2"] + words + CommandFolder.models, in: folder)
      while process.isRunning, !process.errorByNow.contains("[\(5 + round * 3)/") { usleep(500) }
      process.send(SIGKILL)
      _ = try process.wait()
      // Its processes end by themselves.
      sleep(1)
      let found = try ListDocument(folder.run("book-migration", ["status", "--json"] + words))
      #expect(found.states.allSatisfy { ["needed nothing", "not begun"].contains($0) }, "\(found.states)")
      let next = found.groups.first { $0.state == "not begun" }?.next
      #expect((next != nil) == found.states.contains("not begun"), "\(found.groups)")
      if round == 11, let next { #expect(try folder.paste(next).code == 0) }
    }
    #expect(
      try ListDocument(folder.run("book-migration", ["status", "--json"] + words)).states.allSatisfy {
        $0 == "needed nothing"
      })
  }

  @Test("Where results cannot be kept, the message names the folder and what to do")
  func state() throws {
    let file = folder.newPath("file")
    try "no folder".write(toFile: file, atomically: true, encoding: .utf8)
    let words = ["migrate", "--manifest", list, "--to", "Library 9"] + CommandFolder.models
    let outcome = try folder.run("book-migration", words, launcher: ["/usr/bin/env", "GODWIT_STATE=\(file)/state"])
    let said =
      "\(file)/state/results: the folder cannot be made. Make the folder above it writable, or set GODWIT_STATE"
    #expect(outcome.error.contains(said) && !outcome.error.contains("NSCocoaErrorDomain"), "\(outcome)")
  }

  @Test("Metrics that cannot be written leave no empty file", .enabled(if: SmallDisk.isPossible))
  func metrics() throws {
    let disk = try SmallDisk(at: folder.file("disk"))
    defer { disk.unmount() }
    let (metrics, ballast) = (folder.file("disk/m.prom"), folder.file("disk/ballast"))
    _ = try? folder.paste("head -c 2M /dev/zero > \(ballast)")
    let words = ["migrate", "--manifest", list, "--metrics", metrics] + CommandFolder.models
    let outcome = try folder.run("book-migration", words)
    #expect(outcome.code == 0 && outcome.error.contains("the metrics cannot be written"), "\(outcome)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path) == ["ballast"])
  }
}
