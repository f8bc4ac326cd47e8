import Foundation
import Testing

@testable import MigrationJobs
@testable import RunSupport

/// The limits of control groups count, not those of the machine.
@Suite("Memory that a run may take")
struct MemoryLimitTests {
  private func limit(_ files: [String: String]) throws -> UInt64? { try with(files) { $0.find()?.bytes } }

  private func with<Result>(_ files: [String: String], _ body: (MemoryLimit) throws -> Result) throws -> Result {
    let root = FileManager.default.temporaryDirectory.appendingPathComponent("limits-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: root) }
    for (name, text) in files {
      let path = URL(fileURLWithPath: root + "/" + name)
      try FileManager.default.createDirectory(at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: path)
    }
    return try body(MemoryLimit(root: root))
  }

  @Test("The least of the machine, the group and the groups above it, in both versions of control groups")
  func least() throws {
    let machine = ["proc/meminfo": "MemTotal:       16384000 kB\nMemFree:  1 kB\n"]
    #expect(try limit([:]) == nil)
    #expect(try limit(machine) == 16_384_000 << 10)
    let second = machine.merging(["proc/self/cgroup": "0::/a/b\n"]) { $1 }
    #expect(try limit(second) == 16_384_000 << 10)
    #expect(try limit(second.merging(["sys/fs/cgroup/a/b/memory.max": "max\n"]) { $1 }) == 16_384_000 << 10)
    let above = ["sys/fs/cgroup/a/b/memory.max": "80000000\n", "sys/fs/cgroup/a/memory.max": "70000000\n"]
    #expect(try limit(second.merging(above) { $1 }) == 70_000_000)
    let first = machine.merging(["proc/self/cgroup": "5:cpu:/x\n4:cpuset,memory:/job\n"]) { $1 }
    #expect(
      try limit(first.merging(["sys/fs/cgroup/memory/job/memory.limit_in_bytes": "60000000\n"]) { $1 }) == 60_000_000)
    #expect(
      try limit(first.merging(["sys/fs/cgroup/memory/x/memory.limit_in_bytes": "1\n"]) { $1 }) == 16_384_000 << 10)
  }

  @Test("Files that say nothing sensible are no limit")
  func nonsense() throws {
    #expect(
      try limit(["proc/meminfo": "MemTotal: 99999999999999999999 kB\n", "proc/self/cgroup": "0::/../..\n:\nx\n"]) == nil
    )
    #expect(try limit(["proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "-3\n"]) == nil)
  }

  @Test(
    "A run is refused before anything is written where its control group allows less than it may take, or the disk has less"
  )
  func refused() throws {
    let job = MigrationJob()
    try with(["proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "\(50 << 20)\n"]) { limit in
      let error = #expect(throws: BatchError.self) {
        try job.refuseMemory(MemoryBudget(total: 64 << 20), for: "store", over: limit)
      }
      #expect(error?.code == .refused)
      #expect(error?.message == "the migration may take 64 MiB of memory, its control group allows 50 MiB")
      try job.refuseMemory(MemoryBudget(total: 48 << 20), for: "store", over: limit)
    }
    let folder = try MigrationFolder(MigrationModels.all)
    let error = #expect(throws: BatchError.self) { try job.refuseDisk(.max, for: "store", in: folder.path) }
    #expect(error?.code == .refused)
    try job.refuseDisk(1, for: "store", in: folder.path)
  }

  @Test("A sample sorts in its part of the memory, but not in so little that its runs would say nothing")
  func sample() {
    let whole = MemoryBudget.standard
    #expect(whole.sample(1) == whole && whole.sample(0.5).sortBytes == whole.sortBytes / 2)
    #expect(whole.sample(0.001).sortBytes == 2 << 20 && whole.sample(0.001).lookupBytes == whole.lookupBytes)
    #expect(abs(whole.sample(0.5, lookups: 0.5).lookupBytes - whole.lookupBytes / 2) <= 1)
    #expect(whole.sample(0.001, lookups: 0.001).lookupBytes == 128 << 10)
    #expect(whole.sample(0.001, lookups: 4).lookupBytes == whole.lookupBytes * 4)
  }
}
