import Foundation
import Streams
import Synchronization
import Testing

@testable import MigrationJobs
@testable import PostgresLoads
@testable import RunSupport

@Suite("What a load keeps beside its store") struct LoadFolderTests {
  @Test("Of loads that begin and give up at a time one has the folder, and none loses what it wrote there")
  func rivals() throws {
    let files = LocalFileSystem()
    let place = FileManager.default.temporaryDirectory.appendingPathComponent("load-\(UUID().uuidString)").path
    try files.makeDirectory(place)
    defer { try? FileManager.default.removeItem(atPath: place) }
    let store = place + "/Store.sqlite"
    #expect(FileManager.default.createFile(atPath: store, contents: nil))
    let folder = try #require(try LoadFolder(store: store, files))
    let inside = Atomic(0)
    let begun = Atomic(0)
    let workers = try (0..<4).map { number in
      try Worker {
        for round in 0..<60 {
          let lease: Lease
          do { lease = try folder.begin() } catch let error as BatchError where error.code == .leaseHeld { continue }
          defer { lease.release() }
          #expect(inside.add(1, ordering: .sequentiallyConsistent).newValue == 1)
          begun.add(1, ordering: .sequentiallyConsistent)
          let file = folder.job.file("model")
          try files.writeDurably(Array("\(number) \(round)".utf8), to: file)
          usleep(UInt32(number) * 200)
          #expect(try files.readAll(file, cap: 100) == Array("\(number) \(round)".utf8))
          inside.subtract(1, ordering: .sequentiallyConsistent)
          _ = try folder.remove(rejects: nil)
        }
      }
    }
    for worker in workers { if let error = worker.join() { throw error } }
    #expect(begun.load(ordering: .sequentiallyConsistent) > 10)
    #expect(try FileManager.default.contentsOfDirectory(atPath: place) == ["Store.sqlite"])
  }
}
