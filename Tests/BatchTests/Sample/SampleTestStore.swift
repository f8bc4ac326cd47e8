import Foundation
import GRDB
import Streams

@testable import CoreDataModel
@testable import RunSupport
@testable import StoreSamples

/// A sample store in a directory of its own, removed when the test ends.
final class SampleTestStore {
  let folder: String
  let path: String
  let model: ManagedObjectModel
  let rows: UInt64

  init(
    _ model: ManagedObjectModel, rows: UInt64, seed: UInt64, budget: MemoryBudget = .standard,
    progress: (Double) -> Void = { _ in }
  ) throws {
    folder = try Self.makeFolder()
    path = folder + "/Sample.sqlite"
    self.model = model
    self.rows = rows
    try StoreSampler(model: model, rows: rows, seed: seed).write(
      to: path, fileSystem: LocalFileSystem(), budget: budget, progress: progress)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  static func makeFolder() throws -> String {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("godwit-sample-\(UUID().uuidString)").path
    try LocalFileSystem().makeDirectory(path)
    return path
  }

  func bytes() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

  func problems() throws -> [String] { try SampleStoreCheck.problems(path: path, model: model, rows: rows) }

  func fetch(_ sql: String) throws -> [Row] {
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }
    return try queue.inDatabase { try Row.fetchAll($0, sql: sql) }
  }

  func number(_ sql: String) throws -> Int { try fetch(sql).first?[0] ?? -1 }
}

/// A disk that lets files grow to so many bytes and no more; what is there can still be removed.
struct FullFileSystem: FileSystem {
  private let base = LocalFileSystem()
  private let room: Int
  private let sortRoom: Int

  /// `sortRoom` is for scratch files of sorting, `room` for all others.
  init(room: Int = .max, sortRoom: Int = .max) {
    self.room = room
    self.sortRoom = sortRoom
  }

  private final class FullFile: File, @unchecked Sendable {
    let base: any File
    private var room: Int
    init(_ base: any File, room: Int) {
      self.base = base
      self.room = room
    }
    var path: String { base.path }
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int {
      try base.read(into: buffer, at: offset)
    }
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {
      room -= bytes.count
      guard room >= 0 else { throw StreamsError(.diskFull, "no space is left", path: path) }
      try base.write(bytes, at: offset)
    }
    func sync() throws { try base.sync() }
    func truncate(to length: UInt64) throws { try base.truncate(to: length) }
    func size() throws -> UInt64 { try base.size() }
    func lock(_ kind: LockKind, start: UInt64, length: UInt64) throws -> Bool {
      try base.lock(kind, start: start, length: length)
    }
    func close() { base.close() }
  }

  func open(_ path: String, _ mode: OpenMode) throws -> any File {
    FullFile(try base.open(path, mode), room: path.contains(".sort") ? sortRoom : room)
  }
  func rename(_ source: String, to destination: String) throws { try base.rename(source, to: destination) }
  func link(_ source: String, to destination: String) throws { try base.link(source, to: destination) }
  func remove(_ path: String) throws { try base.remove(path) }
  func makeDirectory(_ path: String) throws { try base.makeDirectory(path) }
  func list(_ path: String) throws -> [String] { try base.list(path) }
  func status(_ path: String) throws -> FileStatus? { try base.status(path) }
  func syncDirectory(_ path: String) throws { try base.syncDirectory(path) }
  func availableSpace(_ path: String) throws -> UInt64 { try base.availableSpace(path) }
}
