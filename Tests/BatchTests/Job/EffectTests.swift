import Foundation
import Streams
import Testing

@testable import CoreDataStore
@testable import MigrationJobs
@testable import RunSupport

@Suite("What errors say of the data")
struct EffectTests {
  private static func folder() throws -> (MigrationFolder, store: String) {
    let folder = try MigrationFolder(MigrationModels.all)
    return (folder, try folder.sample("V1", rows: 120, seed: 3))
  }

  private static func version(_ store: String) throws -> String { try StoreIdentity(store).version }

  private static func resume(_ store: String) -> String { ProgramName.command("resume", store).line }

  /// Migrates with a disk that dies at a call, and returns the error; nil if there was none.
  private func fail(_ folder: MigrationFolder, _ store: String, at call: Int) -> BatchError? {
    do {
      let job = folder.job(DyingFileSystem(at: call))
      _ = try job.migrate(folder.request(store), monitor: RunMonitor(interval: .bytes(1 << 13)))
      return nil
    } catch let error as BatchError { return error } catch {
      Issue.record("call \(call): another error than BatchError: \(error)")
      return nil
    }
  }

  @Test(
    "I9: whatever call of a migration fails, the effect is what the disk has, and the first command of next leads to the end"
  )
  func everyCall() throws {
    let (folder, source) = try Self.folder()
    let counting = DyingFileSystem()
    let whole = try folder.copy(source, as: "whole")
    _ = try folder.job(counting).migrate(folder.request(whole), monitor: RunMonitor(interval: .bytes(1 << 13)))
    let (old, new) = (try Self.version(source), try Self.version(whole))
    var seen: Set<BatchError.Effect> = []
    // The first and the last calls one by one: there the effects meet.
    for call in 1...counting.calls where call < 25 || call > counting.calls - 45 || call % 17 == 0 {
      let store = try folder.copy(source, as: "call-\(call)")
      guard let error = fail(folder, store, at: call) else { continue }
      let effect = try #require(error.effect, "call \(call): \(error)")
      seen.insert(effect)
      #expect(error.exitCode == 1 && "\(error)".contains("the process died here"), "call \(call): \(error)")
      #expect(try Self.version(store) == (effect == .done ? new : old), "call \(call): \(error)")
      if effect == .nothingWritten {
        #expect(error.next.isEmpty, "call \(call): \(error)")
        #expect(try folder.job().status(store).state == .none, "call \(call): \(error)")
        _ = try folder.migrate(folder.request(store))
      } else if error.next.first != Self.resume(store) {
        // The run's files are gone, or the last of them are a leftover.
        #expect(
          effect == .done && [[], [ProgramName.command("clean", store).line]].contains(error.next),
          "call \(call): \(error)")
        _ = try folder.job().clean(store)
        #expect(
          try !LocalFileSystem().list(FilePaths.directory(of: store)).contains { $0.hasSuffix(".godwit") },
          "call \(call)")
      } else {
        _ = try folder.job().resume(store) { RunMonitor(interval: $0) }
      }
      #expect(try Self.version(store) == new, "call \(call): \(error)")
    }
    #expect(seen == [.nothingWritten, .resumable, .done])
  }

  @Test("What is refused has written nothing, and next leads on from the run that is there")
  func refused() throws {
    let (folder, store) = try Self.folder()
    let error = #expect(throws: BatchError.self) { try folder.job().resume(store) { RunMonitor(interval: $0) } }
    #expect(error?.effect == .nothingWritten && error?.exitCode == 20)
    let stopped = RunMonitor(interval: .bytes(1 << 13))
    stopped.requestStop()
    let first = #expect(throws: BatchError.self) { try folder.job().migrate(folder.request(store), monitor: stopped) }
    #expect(first?.code == .stopped && first?.exitCode == 75)
    guard first?.effect == .resumable else {
      #expect(first?.effect == .nothingWritten)
      return
    }
    let second = #expect(throws: BatchError.self) { try folder.migrate(folder.request(store)) }
    #expect(second?.code == .refused && second?.effect == .nothingWritten && second?.next.first == Self.resume(store))
  }

  @Test("Whom another process keeps away has written nothing; next takes the run over")
  func held() throws {
    let (folder, store) = try Self.folder()
    let lease = try Lease.begin(try JobDirectory(destination: store), LocalFileSystem())
    defer { lease.release() }
    let error = #expect(throws: BatchError.self) { try folder.migrate(folder.request(store)) }
    #expect(error?.code == .leaseHeld && error?.exitCode == 21 && error?.effect == .nothingWritten)
    #expect(error?.next == [ProgramName.command("resume", "--take-over", store).line])
  }

  @Test("If the files of a run cannot be seen the effect is unknown, and next looks again")
  func unseen() throws {
    let error = MigrationJob(fileSystem: BlindFileSystem()).settled(BatchError(.failed, "no"), at: "/tmp/Store.sqlite")
    #expect(error.effect == .unknown && error.next == [ProgramName.command("status", "/tmp/Store.sqlite").line])
  }

  @Test("Errors of lower layers leave with their code, their path and their text, and keep the error below")
  func wrapped() throws {
    let below = StreamsError(.damagedDatabase, "a page is damaged", path: "/a", page: 3, cell: 2, hint: "Look")
    let error = BatchError(wrapping: below)
    #expect("\(error)" == "\(below)" && error.exitCode == 30 && error.code == BatchError.Code(.damagedDatabase))
    #expect(error.path == "/a" && error.cause is StreamsError && BatchError(wrapping: error).cause is StreamsError)
    let missing = BatchError(
      wrapping: CocoaError(.fileNoSuchFile, userInfo: [NSUnderlyingErrorKey: POSIXError(.ENOENT)]))
    #expect(missing.code == BatchError.Code(.inputOutput), "\(missing)")
  }
}

/// A disk on which nothing can be looked at.
private final class BlindFileSystem: FileSystem {
  private static var blind: StreamsError { StreamsError(.inputOutput, "cannot look") }

  func open(_ path: String, _ mode: OpenMode) throws -> any File { throw Self.blind }
  func rename(_ source: String, to destination: String) throws { throw Self.blind }
  func link(_ source: String, to destination: String) throws { throw Self.blind }
  func remove(_ path: String) throws { throw Self.blind }
  func makeDirectory(_ path: String) throws { throw Self.blind }
  func removeDirectory(_ path: String) throws { throw Self.blind }
  func list(_ path: String) throws -> [String] { throw Self.blind }
  func status(_ path: String) throws -> FileStatus? { throw Self.blind }
  func statusOfName(_ path: String) throws -> FileStatus? { throw Self.blind }
  func syncDirectory(_ path: String) throws { throw Self.blind }
  func availableSpace(_ path: String) throws -> UInt64 { throw Self.blind }
  func adopt(_ status: FileStatus, on path: String) throws { throw Self.blind }
}
