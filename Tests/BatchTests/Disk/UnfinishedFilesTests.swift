import Foundation
import Streams
import Synchronization
import TestSupport
import Testing

@testable import RunSupport

@Suite("Files that are removed when a process is ended", .endsWithin(minutes: 3))
struct UnfinishedFilesTests {
  @Test("A temporary folder goes, and nothing is left of it, while another thread writes more and more files into it")
  func writtenTo() throws {
    let disk = LocalFileSystem()
    for _ in 0..<20 {
      let folder = try TemporaryFolders.make("written", in: disk)
      let written = Atomic(0)
      let worker = try Worker {
        for number in 0..<10_000_000 {
          try disk.writeAndSync([1], to: "\(folder)/\(number)")
          written.add(1, ordering: .relaxed)
        }
      }
      while written.load(ordering: .relaxed) < 20 { usleep(100) }
      UnfinishedFiles.removeInUse(folder)
      #expect(worker.join() != nil, "the folder is gone for whoever writes")
      UnfinishedFiles.forget(folder)
      #expect(try disk.statusOfName(folder) == nil)
    }
    // Another process may be ending just now: what it has there goes.
    let parent = FileManager.default.temporaryDirectory.path
    var left = Set(try disk.list(parent).filter { $0.hasPrefix("godwit-ended-") })
    for _ in 0..<100 where !left.isEmpty {
      usleep(100_000)
      left.formIntersection(try disk.list(parent))
    }
    #expect(left == [])
  }

  @Test("The end of a process waits for a folder that is being made, knows it then, and none is made after it")
  func made() throws {
    let paths = UnfinishedPaths()
    let isMaking = Atomic(false)
    let mayGoOn = Atomic(false)
    let hasEnded = Atomic(false)
    let maker = try Worker {
      try paths.addFolder("made") {
        isMaking.store(true, ordering: .releasing)
        while !mayGoOn.load(ordering: .acquiring) { usleep(100) }
      }
    }
    while !isMaking.load(ordering: .acquiring) { usleep(100) }
    let ender = try Worker {
      paths.end()
      hasEnded.store(true, ordering: .releasing)
    }
    usleep(20_000)
    let isEarly = hasEnded.load(ordering: .acquiring)
    #expect(!isEarly)
    mayGoOn.store(true, ordering: .releasing)
    #expect(maker.join() == nil && ender.join() == nil)
    #expect(throws: BatchError.self) { try paths.addFolder("late") { Issue.record("made after the end") } }
    #expect(paths.all == ["made"])
  }

  @Test("A folder that could not be made is none that goes")
  func failed() {
    let paths = UnfinishedPaths()
    #expect(throws: CocoaError.self) { try paths.addFolder("failed") { throw CocoaError(.fileWriteUnknown) } }
    #expect(paths.all.isEmpty)
  }
}
