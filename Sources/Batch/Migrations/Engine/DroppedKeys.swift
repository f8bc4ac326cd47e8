import RunSupport
import Streams

/// Keys of the source objects that got no object of their own from a policy or past a filter, so that
/// ``EntityMigrationPolicy`` is not asked for relationships of objects that do not exist. One file an entity mapping,
/// an entry a key, ascending; how many of them count is in the checkpoint already, as the mapping's number of dropped
/// rows. An entry is the key and the hash of key and place, eight bytes each, little-endian.
final class DroppedKeys {
  private final class Keys {
    let file: any File
    var length: UInt64
    var pending: [UInt8] = []
    var window: [UInt8] = []
    /// Bytes before the window.
    var windowStart: UInt64 = 0
    var next = 0

    init(_ file: any File, length: UInt64) {
      self.file = file
      self.length = length
    }

    deinit { file.close() }
  }

  private static let windowBytes = 1 << 15
  private static let entryLength = 16
  private var keys: [Keys?]

  /// Makes the files of the mappings that are read again, or continues those whose lengths a checkpoint names.
  init(of isReadAgain: [Bool], files: StepFiles, restoring counts: [StepState.Counts]?) throws {
    keys = try isReadAgain.enumerated().map { index, isReadAgain in
      guard isReadAgain else { return nil }
      let path = files.path("dropped.\(index)")
      let file = try files.fileSystem.open(path, counts == nil ? .create : .updateOrCreate)
      let (length, overflow) = (counts?[index].dropped ?? 0).multipliedReportingOverflow(by: UInt64(Self.entryLength))
      guard !overflow, try file.size() >= length else {
        throw Self.damage("is shorter than its checkpoint says", path)
      }
      try file.truncate(to: length)
      return Keys(file, length: length)
    }
  }

  /// Adds a key; larger than all before.
  func append(_ key: Int64, mapping: Int) throws {
    guard let keys = keys[mapping] else { return }
    let place = keys.length / UInt64(Self.entryLength) + UInt64(keys.pending.count / Self.entryLength)
    withUnsafeBytes(of: key.littleEndian) { keys.pending.append(contentsOf: $0) }
    withUnsafeBytes(of: Self.check(key, place).littleEndian) { keys.pending.append(contentsOf: $0) }
    if keys.pending.count >= Self.windowBytes { try flush(keys) }
  }

  private static func check(_ key: Int64, _ place: UInt64) -> UInt64 {
    withUnsafeBytes(of: (key.littleEndian, place.littleEndian)) { hashBytes($0) }
  }

  private static func damage(_ what: String, _ path: String) -> StreamsError {
    StreamsError(
      .damagedCheckpoint, "the list of objects that were left out \(what)", path: path,
      hint: "Check the disk, then remove the job directory and start again")
  }

  private func flush(_ keys: Keys) throws {
    guard !keys.pending.isEmpty else { return }
    try keys.pending.withUnsafeBytes { try keys.file.write($0, at: keys.length) }
    keys.length += UInt64(keys.pending.count)
    keys.pending.removeAll(keepingCapacity: true)
  }

  /// Whether this object was dropped. Call it with ascending keys, after the last ``append(_:mapping:)``.
  func contains(_ key: Int64, mapping: Int) throws -> Bool {
    guard let keys = keys[mapping] else { return false }
    try flush(keys)
    while true {
      if keys.next >= keys.window.count, try !load(keys) { return false }
      let (found, check) = keys.window.withUnsafeBytes {
        (
          Int64(littleEndian: $0.loadUnaligned(fromByteOffset: keys.next, as: Int64.self)),
          UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: keys.next + 8, as: UInt64.self))
        )
      }
      let place = (keys.windowStart + UInt64(keys.next)) / UInt64(Self.entryLength)
      guard check == Self.check(found, place) else { throw Self.damage("is damaged", keys.file.path) }
      if found >= key { return found == key }
      keys.next += Self.entryLength
    }
  }

  private func load(_ keys: Keys) throws -> Bool {
    keys.windowStart += UInt64(keys.window.count)
    let count = Int(min(UInt64(Self.windowBytes), keys.length - keys.windowStart))
    keys.window = [UInt8](repeating: 0, count: count)
    keys.next = 0
    let read = try keys.window.withUnsafeMutableBytes { try keys.file.read(into: $0, at: keys.windowStart) }
    guard read == count else {
      throw Self.damage("is shorter than it was", keys.file.path)
    }
    return count > 0
  }

  /// Writes what is pending; returns the files to sync before a checkpoint is published.
  func checkpoint() throws -> [any File] {
    try keys.compactMap { keys in
      guard let keys else { return nil }
      try flush(keys)
      return keys.file
    }
  }
}
