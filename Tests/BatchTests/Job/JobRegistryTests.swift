import Foundation
import Glibc
import Streams
import Synchronization
import Testing

@testable import MigrationJobs
@testable import RunSupport

@Suite struct JobRegistryTests {
  let folder: JobTestFolder
  let fileSystem = LocalFileSystem()
  let registry: JobRegistry

  init() throws {
    folder = try JobTestFolder()
    registry = JobRegistry(fileSystem, directory: folder.file("state/deep/jobs"))
    try fileSystem.writeAndSync([], to: folder.file("source.sqlite"))
  }

  @Test func aJobIsFoundByItsDestinationAndByItsSource() throws {
    #expect(try registry.find(folder.destination) == nil)
    let job = try folder.job()
    #expect(try registry.find(folder.destination) == job)
    #expect(try registry.find(folder.file("source.sqlite")) == nil)
    #expect(registry.record(source: folder.file("source.sqlite"), job: job) == nil)
    #expect(try registry.find(folder.file("source.sqlite")) == job)
    #expect(registry.forget(source: folder.file("source.sqlite"), job: job) == nil)
    #expect(registry.forget(source: folder.file("source.sqlite"), job: job) == nil)
    #expect(try registry.find(folder.file("source.sqlite")) == nil)
  }

  @Test("Of two runs of one source the newer one is found, and when that is over, the one that still waits")
  func twoRuns() throws {
    let (source, first) = (folder.file("source.sqlite"), try folder.job())
    let second = try JobDirectory(destination: folder.file("Second.sqlite"))
    let lease = try Lease.begin(second, fileSystem)
    for job in [first, second] { #expect(registry.record(source: source, job: job) == nil) }
    #expect(try registry.find(source) == second)
    #expect(registry.forget(source: source, job: second) == nil)
    try second.remove(fileSystem, under: lease)
    lease.release()
    #expect(try registry.find(source) == first)
    #expect(registry.forget(source: source, job: second) == nil)
    #expect(try registry.find(source) == first)
    #expect(registry.forget(source: source, job: first) == nil)
    #expect(try registry.find(source) == nil)
  }

  @Test func aMigrationInPlaceNeedsNoEntry() throws {
    let job = try folder.job()
    #expect(registry.record(source: folder.destination, job: job) == nil)
    #expect(try fileSystem.status(try #require(registry.directory)) == nil)
  }

  @Test func anEntryWhoseJobIsGoneOrThatIsDamagedIsNone() throws {
    let job = try folder.job()
    registry.record(source: folder.file("source.sqlite"), job: job)
    try job.remove(fileSystem)
    #expect(try registry.find(folder.file("source.sqlite")) == nil)
    let directory = try #require(registry.directory)
    let name = try #require(try fileSystem.list(directory).first)
    #expect(name.count == 21)
    _ = try folder.job()
    try fileSystem.writeAndSync(Array("garbage".utf8), to: FilePaths.join(directory, name))
    #expect(try registry.find(folder.file("source.sqlite")) == nil)
  }

  @Test func aRegistryThatCannotBeWrittenIsReportedAndEndsNothing() throws {
    let blocked = JobRegistry(fileSystem, directory: folder.file("source.sqlite/jobs"))
    #expect(blocked.record(source: folder.file("source.sqlite"), job: try folder.job()) != nil)
  }

  @Test func theDirectoryFollowsTheEnvironment() {
    #expect(JobRegistry.defaultDirectory(["GODWIT_STATE": "/g", "XDG_STATE_HOME": "/x", "HOME": "/h"]) == "/g/jobs")
    #expect(JobRegistry.defaultDirectory(["XDG_STATE_HOME": "/x", "HOME": "/h"]) == "/x/godwit/jobs")
    #expect(JobRegistry.defaultDirectory(["XDG_STATE_HOME": "x", "HOME": "/h"]) == "/h/.local/state/godwit/jobs")
    #expect(JobRegistry.defaultDirectory(["GODWIT_STATE": "", "HOME": "/h"]) == "/h/.local/state/godwit/jobs")
    // The standard's own test values of FNV-1a.
    #expect(JobRegistry.hex("") == "cbf29ce484222325")
    #expect(JobRegistry.hex("foobar") == "85944171f73967e8")
  }
}
