import Foundation
import Streams

/// Passes every call on, writes down those that change something, and can fail one of them.
final class RecordingFileSystem: FileSystem, @unchecked Sendable {
  private let base = LocalFileSystem()
  private let lock = NSLock()
  private var recorded: [String] = []
  private var refused: String?
  private var corrupting = false

  /// "verb name" of every change so far, in order.
  var events: [String] { lock.withLock { recorded } }

  /// The next call whose event has this prefix throws.
  func refuse(_ prefix: String) { lock.withLock { refused = prefix } }

  /// Writes lose a bit from now on, as a failing disk would do it.
  func corruptWrites() { lock.withLock { corrupting = true } }

  var isCorrupting: Bool { lock.withLock { corrupting } }

  func record(_ verb: String, _ path: String) throws {
    let event = "\(verb) \(FilePaths.name(of: path))"
    try lock.withLock {
      recorded.append(event)
      guard let refused, event.hasPrefix(refused) else { return }
      self.refused = nil
      throw StreamsError(.inputOutput, "refused by the test", path: path)
    }
  }

  func open(_ path: String, _ mode: OpenMode) throws -> any File {
    if case .read = mode {
      try record("read", path)
    } else {
      try record("open", path)
    }
    return RecordingFile(try base.open(path, mode), self)
  }
  func rename(_ source: String, to destination: String) throws {
    try record("rename", destination)
    try base.rename(source, to: destination)
  }
  func link(_ source: String, to destination: String) throws {
    try record("link", destination)
    try base.link(source, to: destination)
  }
  func remove(_ path: String) throws {
    try record("remove", path)
    try base.remove(path)
  }
  func makeDirectory(_ path: String) throws { try base.makeDirectory(path) }
  func list(_ path: String) throws -> [String] { try base.list(path) }
  func status(_ path: String) throws -> FileStatus? { try base.status(path) }
  func syncDirectory(_ path: String) throws {
    try record("syncDirectory", path)
    try base.syncDirectory(path)
  }
  func availableSpace(_ path: String) throws -> UInt64 { try base.availableSpace(path) }
}

private final class RecordingFile: File {
  private let base: any File
  private let owner: RecordingFileSystem

  init(_ base: any File, _ owner: RecordingFileSystem) {
    self.base = base
    self.owner = owner
  }

  var path: String { base.path }
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int {
    try base.read(into: buffer, at: offset)
  }
  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {
    try owner.record("write", path)
    guard owner.isCorrupting, !bytes.isEmpty else { return try base.write(bytes, at: offset) }
    var wrong = Array(bytes)
    wrong[wrong.count / 2] ^= 1
    try wrong.withUnsafeBytes { try base.write($0, at: offset) }
  }
  func sync() throws {
    try owner.record("sync", path)
    try base.sync()
  }
  func truncate(to length: UInt64) throws { try base.truncate(to: length) }
  func size() throws -> UInt64 { try base.size() }
  func lock(_ kind: LockKind, start: UInt64, length: UInt64) throws -> Bool {
    try base.lock(kind, start: start, length: length)
  }
  func close() { base.close() }
}
