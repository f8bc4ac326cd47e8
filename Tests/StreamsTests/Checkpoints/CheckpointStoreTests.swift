import Streams
import Testing

@Suite struct CheckpointStoreTests {
  let directory: FilesTestFolder
  let fileSystem = LocalFileSystem()
  let plan = sampleCheckpoint().planFingerprint
  let source = sampleCheckpoint().sourceFingerprint

  init() throws { directory = try FilesTestFolder() }

  private var store: CheckpointStore { CheckpointStore(directory: directory.file("c"), fileSystem: fileSystem) }

  private func path(_ sequence: Int) -> String { directory.file("c/checkpoint-000000000\(sequence).lz4") }

  private func damage(_ path: String) throws {
    let file = try fileSystem.open(path, .update)
    try [0xA5, 0x5A].withUnsafeBytes { try file.write($0, at: 40) }
    file.close()
  }

  private func find() throws -> FoundCheckpoint? { try store.newestValid(plan: plan, source: source) }

  @Test func noCheckpointIsNone() throws {
    #expect(try find() == nil)
    try fileSystem.makeDirectory(directory.file("c"))
    #expect(try find() == nil)
    try fileSystem.put("not ours", directory.file("c/checkpoint-1.lz4"))
    #expect(try find() == nil)
  }

  @Test func publishingIsTemporarySyncReadRenameSyncDirectoryInThatOrder() throws {
    let recording = RecordingFileSystem()
    let store = CheckpointStore(directory: directory.file("c"), fileSystem: recording)
    for sequence in 1...3 { try store.publish(sampleCheckpoint(UInt64(sequence))) }
    let name = "checkpoint-0000000003.lz4"
    #expect(
      recording.events.suffix(7) == [
        "open \(name).tmp", "write \(name).tmp", "sync \(name).tmp", "read \(name).tmp", "rename \(name)",
        "syncDirectory c", "remove checkpoint-0000000001.lz4",
      ])
  }

  @Test func theTwoNewestAreKept() throws {
    let store = store
    for sequence in 0...5 { try store.publish(sampleCheckpoint(UInt64(sequence))) }
    #expect(try fileSystem.list(directory.file("c")).map { $0 } == [path(4), path(5)].map(FilePaths.name(of:)))
    #expect(try find()?.checkpoint == sampleCheckpoint(5))
    #expect(try find()?.rejected.isEmpty == true)
  }

  @Test func numbersAreComparedAsNumbers() throws {
    let store = store
    try store.publish(sampleCheckpoint(9_999_999_999))
    try store.publish(sampleCheckpoint(10_000_000_000))
    #expect(try find()?.checkpoint.sequence == 10_000_000_000)
    try store.publish(sampleCheckpoint(.max))
    #expect(try find()?.checkpoint.sequence == .max)
  }

  @Test func anUnreadableNewestIsReportedAndTheOneBeforeItIsUsed() throws {
    let store = store
    for sequence in 1...2 { try store.publish(sampleCheckpoint(UInt64(sequence))) }
    try damage(path(2))
    let found = try #require(try find())
    #expect(found.checkpoint == sampleCheckpoint(1))
    #expect(found.rejected.map(\.path) == [path(2)])
    #expect(found.rejected.allSatisfy { !$0.reason.isEmpty })
  }

  /// Trap 17: the resume from the older one is itself interrupted at any point.
  @Test func aRunThatWentBackPublishesOverTheUnreadableOneAndKeepsTheValidOne() throws {
    for sequence in 1...2 { try store.publish(sampleCheckpoint(UInt64(sequence))) }
    try damage(path(2))
    let resumed = store
    _ = try resumed.newestValid(plan: plan, source: source)
    try resumed.publish(sampleCheckpoint(2))
    #expect(try find()?.checkpoint == sampleCheckpoint(2))
    #expect(try find()?.rejected.isEmpty == true)
    #expect(try fileSystem.list(directory.file("c")).count == 2)
  }

  @Test func allUnreadableIsAnErrorThatNamesEach() throws {
    let store = store
    for sequence in 1...2 { try store.publish(sampleCheckpoint(UInt64(sequence))) }
    try damage(path(1))
    try fileSystem.put("", path(2))
    let error = try #require(throws: StreamsError.self) { try find() }
    #expect(error.code == .damagedCheckpoint)
    #expect(error.message.contains(path(1)) && error.message.contains(path(2)))
  }

  @Test func aFileUnderAnotherNumbersNameIsRejected() throws {
    try store.publish(sampleCheckpoint(1))
    try fileSystem.rename(path(1), to: path(3))
    #expect(throws: StreamsError.self) { try find() }
  }

  /// Trap 6: not being able to look is neither "none" nor "damaged".
  @Test func aFailingSystemCallIsNotTakenForNoneOrForDamage() throws {
    for sequence in 1...2 { try store.publish(sampleCheckpoint(UInt64(sequence))) }
    let recording = RecordingFileSystem()
    recording.refuse("read checkpoint-0000000002")
    let store = CheckpointStore(directory: directory.file("c"), fileSystem: recording)
    let error = #expect(throws: StreamsError.self) { try store.newestValid(plan: plan, source: source) }
    #expect(error?.code == .inputOutput)
    #expect(try store.newestValid(plan: plan, source: source)?.checkpoint.sequence == 2)
  }

  @Test func anotherPlanOrSourceIsRefusedAndBothAreNamed() throws {
    try store.publish(sampleCheckpoint(1))
    let other = [UInt8](repeating: 0xEE, count: 32)
    for (what, plan, source) in [("plan", other, source), ("source", self.plan, other)] {
      let error = try #require(throws: StreamsError.self) { try store.newestValid(plan: plan, source: source) }
      #expect(error.code == .foreignCheckpoint)
      #expect(error.message.contains(String(repeating: "ee", count: 32)))
      #expect(error.message.contains(what == "plan" ? "000102030405" : "646566676869"))
    }
  }

  /// Trap 1: looking for a checkpoint writes nothing, and leftovers are left to the next publication.
  @Test func leftoversAreIgnoredByReadingAndRemovedByPublishing() throws {
    try store.publish(sampleCheckpoint(1))
    try fileSystem.put("half", path(2) + ".tmp")
    let recording = RecordingFileSystem()
    let store = CheckpointStore(directory: directory.file("c"), fileSystem: recording)
    #expect(try store.newestValid(plan: plan, source: source)?.checkpoint.sequence == 1)
    #expect(recording.events.allSatisfy { $0.hasPrefix("read ") })
    try store.publish(sampleCheckpoint(3))
    #expect(try fileSystem.status(path(2) + ".tmp") == nil)
  }

  /// I10, for every call that a publication makes.
  @Test(arguments: ["open", "write", "sync ", "read", "rename", "syncDirectory", "remove"])
  func afterAFailureNothingMoreIsWrittenAndTheOldOneIsUsed(event: String) throws {
    for sequence in 1...2 { try store.publish(sampleCheckpoint(UInt64(sequence))) }
    let recording = RecordingFileSystem()
    let store = CheckpointStore(directory: directory.file("c"), fileSystem: recording)
    recording.refuse(event)
    #expect(throws: StreamsError.self) { try store.publish(sampleCheckpoint(3)) }
    let before = recording.events
    let refusal = try #require(throws: StreamsError.self) { try store.publish(sampleCheckpoint(4)) }
    #expect(refusal.message == "nothing more is written after a failure: refused by the test")
    #expect(recording.events == before)
    let isPublished = ["syncDirectory", "remove"].contains(event)
    #expect(try find()?.checkpoint.sequence == (isPublished ? 3 : 2))
    // A new process goes on.
    try self.store.publish(sampleCheckpoint(9))
    #expect(try find()?.checkpoint.sequence == 9)
  }

  /// I4: a disk that stores something else is found before the old checkpoint is given up.
  @Test func whatTheDiskChangedIsNotPublished() throws {
    try store.publish(sampleCheckpoint(1))
    let recording = RecordingFileSystem()
    recording.corruptWrites()
    let store = CheckpointStore(directory: directory.file("c"), fileSystem: recording)
    #expect(throws: StreamsError.self) { try store.publish(sampleCheckpoint(2)) }
    #expect(!recording.events.contains { $0.hasPrefix("rename") })
    #expect(try find()?.checkpoint.sequence == 1)
  }

  @Test func aNumberThatDoesNotGrowIsRefusedWithoutHarm() throws {
    let store = store
    try store.publish(sampleCheckpoint(5))
    for sequence: UInt64 in [0, 4, 5] {
      let error = #expect(throws: StreamsError.self) { try store.publish(sampleCheckpoint(sequence)) }
      #expect(error?.code == .order)
    }
    #expect(throws: StreamsError.self) { try self.store.publish(sampleCheckpoint(5)) }
    try store.publish(sampleCheckpoint(6))
  }
}
