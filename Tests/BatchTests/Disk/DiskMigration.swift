import DiskSimulation
import Foundation
import GRDB
import Streams

@testable import Codecs
@testable import CoreDataStore
@testable import MigrationJobs
@testable import RunSupport
@testable import StoreVerification

/// A small migration on a simulated disk: it is disturbed, goes on, and has to come to the end that an undisturbed run
/// has.
final class DiskMigration {
  /// What must not happen.
  struct Broken: Error, CustomStringConvertible { let description: String }

  let folder: MigrationFolder
  private let template: String
  private let adjust: (inout MigrationJob.Request) -> Void
  private let isInPlace: Bool
  private let expected: Data
  private let oldContents: String
  /// Changes of the disk in an undisturbed run, each a verb and a name.
  let events: [String]

  /// For the store `template`, which is copied for every run, with the `-wal` file and the folder beside it.
  init(
    _ folder: MigrationFolder, _ template: String, inPlace: Bool = true,
    adjust: @escaping (inout MigrationJob.Request) -> Void = { _ in }
  ) throws {
    (self.folder, self.template, self.adjust, isInPlace) = (folder, template, adjust, inPlace)
    oldContents = try Self.contents(template, scratch: folder.path + "/look.sqlite")
    let stage = try Stage(folder, template, inPlace: inPlace, adjust)
    let disk = try SimulatedDisk(stage.directory)
    _ = try folder.job(disk).migrate(stage.request, monitor: RunMonitor(interval: stage.request.interval))
    events = disk.events
    expected = try MigrationFolder.bytes(stage.destination)
    try stage.remove()
  }

  /// Copies of the store and of what lies beside it, in a directory of their own.
  struct Stage {
    let directory: String
    let store: String
    let request: MigrationJob.Request
    var destination: String { request.output ?? store }

    init(_ folder: MigrationFolder, _ template: String, inPlace: Bool, _ adjust: (inout MigrationJob.Request) -> Void)
      throws
    {
      directory = try JobDirectory.resolve(
        FilePaths.directory(of: try folder.copy(template, as: "disk-\(UUID().uuidString)")))
      store = directory + "/Store.sqlite"
      let values = ExternalDataFolder(store: template).path
      if FileManager.default.fileExists(atPath: values) {
        try FileManager.default.copyItem(atPath: values, toPath: ExternalDataFolder(store: store).path)
      }
      var request = folder.request(store, output: inPlace ? nil : directory + "/New.sqlite")
      request.verification = .none
      adjust(&request)
      self.request = request
    }

    func remove() throws { try FileManager.default.removeItem(atPath: directory) }
  }

  /// A place to run in. Whoever asks for it removes it.
  func stage() throws -> Stage { try Stage(folder, template, inPlace: isInPlace, adjust) }

  /// Runs with the first faults, goes on with the next ones, and so forth; the last time without any.
  ///
  /// Throws ``Broken`` when the end is not that of an undisturbed run, when an old store is not whole at any time in
  /// between, or when a run without faults refuses to go on.
  func run(seed: UInt64, _ faults: [[Int: SimulatedFault]]) throws {
    let stage = try stage()
    let disk = try SimulatedDisk(stage.directory, seed: seed)
    var history: [String] = []
    do {
      for faults in faults + [[:]] {
        try disk.restart(faults: faults)
        try checkStores(stage)
        do {
          try proceed(stage, disk)
          history.append("done")
        } catch  where !faults.isEmpty {
          history.append("\(faults) at \(disk.events.last ?? ""): \(error)")
          guard error is BatchError || error is StreamsError else { throw error }
        }
      }
      try checkStores(stage)
      try checkEnd(stage)
    } catch {
      // The folder stays, to be looked into, until the test ends.
      throw Broken(description: "seed \(seed), \(error)\n  after " + history.joined(separator: "\n  then "))
    }
    try stage.remove()
  }

  /// Begins, or goes on, as a person would: what cannot be resumed and left nothing is begun again.
  private func proceed(_ stage: Stage, _ disk: SimulatedDisk) throws {
    let job = try JobDirectory(destination: stage.destination)
    if try disk.status(job.path) != nil {
      do {
        _ = try folder.job(disk).resume(stage.destination) { RunMonitor(interval: $0) }
        return
      } catch let error as BatchError where error.code == .refused && error.message.contains("no interrupted migration")
      {}
    }
    if try isFinished(stage) { return }
    _ = try folder.job(disk).migrate(stage.request, monitor: RunMonitor(interval: stage.request.interval))
  }

  func isFinished(_ stage: Stage) throws -> Bool {
    let path = stage.destination
    guard FileManager.default.fileExists(atPath: path), try MigrationFolder.bytes(path) == expected else {
      return false
    }
    return ["-wal", "-journal"].allSatisfy { !FileManager.default.fileExists(atPath: path + $0) }
  }

  /// Old or new, and whole (I9); beside a destination elsewhere the source is as it was (I1).
  func checkStores(_ stage: Stage) throws {
    if isInPlace {
      guard try isFinished(stage) || isOld(stage.store) else {
        throw Broken(description: "the store is neither the old one nor the new one")
      }
      return
    }
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: template + suffix) {
      guard try MigrationFolder.bytes(template + suffix) == MigrationFolder.bytes(stage.store + suffix) else {
        throw Broken(description: "the source was changed")
      }
    }
    guard try isFinished(stage) || !FileManager.default.fileExists(atPath: stage.destination) else {
      throw Broken(description: "the destination is not whole")
    }
  }

  private func isOld(_ path: String) throws -> Bool {
    guard FileManager.default.fileExists(atPath: path) else { return false }
    let isUntouched = try ["", "-wal"].allSatisfy { suffix in
      let found = FileManager.default.fileExists(atPath: path + suffix)
      guard FileManager.default.fileExists(atPath: template + suffix) == found else { return false }
      return try !found || MigrationFolder.bytes(template + suffix) == MigrationFolder.bytes(path + suffix)
    }
    return try isUntouched || Self.contents(path, scratch: folder.path + "/look.sqlite") == oldContents
  }

  private func checkEnd(_ stage: Stage) throws {
    guard try isFinished(stage) else {
      throw Broken(description: "the finished store differs from that of an undisturbed run")
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: stage.directory).filter {
      !$0.hasSuffix("_SUPPORT") && !$0.hasSuffix(".godwit-report")
    }.sorted()
    // The backup and its receipt.
    let backups = names.filter { $0.hasPrefix("Store.sqlite.backup-") }
    let wanted = isInPlace ? ["Store.sqlite"] + backups : ["New.sqlite", "Store.sqlite"]
    let source = ["-wal", "-shm"].map { "Store.sqlite" + $0 }
    guard names.filter({ isInPlace || !source.contains($0) }) == wanted, backups.count == (isInPlace ? 2 : 0) else {
      throw Broken(description: "files are left: \(names)")
    }
    for backup in backups where try !backup.hasSuffix(".json") && !isOld("\(stage.directory)/\(backup)") {
      throw Broken(description: "the backup is not the old store")
    }
    try checkValues(stage)
  }

  /// Values outside the store are where the new store looks for them.
  private func checkValues(_ stage: Stage) throws {
    let (old, new) = (ExternalDataFolder(store: template).path, ExternalDataFolder(store: stage.destination).path)
    guard let names = FileManager.default.enumerator(atPath: old)?.allObjects as? [String] else { return }
    for name in names where try LocalFileSystem().status("\(old)/\(name)")?.isDirectory == false {
      guard
        FileManager.default.contents(atPath: "\(old)/\(name)") == FileManager.default.contents(atPath: "\(new)/\(name)")
      else {
        throw Broken(description: "the value in \(name) is not there")
      }
    }
  }

  /// What SQLite finds in a store, looked at in a copy with everything beside it.
  private static func contents(_ path: String, scratch: String) throws -> String {
    let suffixes = ["", "-wal", "-journal", "-shm"]
    for suffix in suffixes { try LocalFileSystem().remove(scratch + suffix) }
    for suffix in suffixes.dropLast() where FileManager.default.fileExists(atPath: path + suffix) {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: scratch + suffix)
    }
    let queue = try DatabaseQueue(path: scratch)
    defer { try? queue.close() }
    return try queue.read { db in
      var text = try String.fetchAll(db, sql: "PRAGMA integrity_check").joined()
      for table in try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name") {
        let rows = try Row.fetchAll(db, sql: "SELECT * FROM \"\(table)\"").map { "\($0)" }
        text += "\(table) \(PlanFingerprint.hex(SHA256.hash(Array(rows.joined(separator: "\n").utf8)))) "
      }
      return text
    }
  }
}
