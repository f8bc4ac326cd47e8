import Streams
import Synchronization
import Testing

@testable import MappingModels
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport

/// What a resumed run shows begins where the process before has ended.
@Suite("Progress of resumed runs")
struct ResumedProgressTests {
  /// What a run that is stopped has shown last, and what it shows when it is resumed.
  private static func resumed(stopAt isPlace: @escaping @Sendable (MigrationProgress) -> Bool) throws -> (
    before: MigrationProgress, after: [MigrationProgress]
  ) {
    let folder = try MigrationFolder(MigrationModels.all)
    let source = try folder.sample("V1", rows: 3000, seed: 3)
    var request = folder.request(source)
    request.fuses = false
    let first = Mutex<RunMonitor?>(nil)
    let seen = Mutex<[MigrationProgress]>([])
    let monitor = RunMonitor(interval: .bytes(1)) { progress in
      seen.withLock { $0.append(progress) }
      if isPlace(progress) { first.withLock { $0 }?.requestStop() }
    }
    first.withLock { $0 = monitor }
    let error = #expect(throws: BatchError.self) { try folder.job().migrate(request, monitor: monitor) }
    #expect(error?.code == .stopped)
    let before = try #require(seen.withLock { $0 }.last)
    seen.withLock { $0 = [] }
    _ = try folder.job().resume(request.output ?? source) { interval in
      RunMonitor(interval: interval) { progress in seen.withLock { $0.append(progress) } }
    }
    return (before, seen.withLock { $0 })
  }

  @Test("Rows that a process before has read are none that this one read in no time, and the fraction goes on")
  func resumedRows() throws {
    let (before, after) = try Self.resumed { $0.objects > 500 }
    let first = try #require(after.first { $0.estimate.entries[0].began != nil })
    let entry = first.estimate.entries[0]
    #expect(entry.part == .rows(step: 1) && entry.doneBefore > 0.8 * entry.done, "\(entry)")
    #expect(first.fraction >= before.fraction - 0.001, "\(first.fraction) after \(before.fraction)")
  }

  @Test("Indexes that a process before has written are none that this one wrote in no time, and the fraction goes on")
  func resumedIndexes() throws {
    let (before, after) = try Self.resumed { Self.indexes($0) != nil }
    let first = try #require(after.first { Self.indexes($0) != nil })
    let entry = try #require(Self.indexes(first))
    #expect(entry.done == entry.doneBefore && entry.done < entry.work, "\(entry)")
    #expect(first.fraction >= before.fraction - 0.001, "\(first.fraction) after \(before.fraction)")
  }

  private static func indexes(_ progress: MigrationProgress) -> ProgressEstimate.Entry? {
    progress.estimate.entries.first { $0.part == .indexes && $0.done > 0 }
  }
}
