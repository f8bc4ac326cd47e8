import Streams

/// Keys of the source objects that got no object of their own from a policy or past a filter, so that ``EntityMigrationPolicy`` is not asked
/// for relationships of objects that do not exist. One file an entity mapping, eight bytes a key, little-endian, ascending;
/// how many of them count is in the checkpoint already, as the mapping's number of dropped rows.
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

  private static let windowBytes = 1 << 14
  private var keys: [Keys?]

  /// Makes the files, or goes on with those whose lengths a checkpoint tells.
  init(plan: StepPlan, files: StepFiles, restoring counts: [StepState.Counts]?) throws {
    keys = try plan.mappings.enumerated().map { index, mapping in
      guard mapping.policy?.policy.createsRelationships == true || !plan.late[index].isEmpty else { return nil }
      let path = files.path("dropped.\(index)")
      let file = try files.fileSystem.open(path, counts == nil ? .create : .updateOrCreate)
      let (length, overflow) = (counts?[index].dropped ?? 0).multipliedReportingOverflow(by: 8)
      guard !overflow, try file.size() >= length else {
        throw StreamsError(
          .damagedCheckpoint, "the list of dropped objects is shorter than its checkpoint says", path: path)
      }
      try file.truncate(to: length)
      return Keys(file, length: length)
    }
  }

  /// Adds a key; larger than all before.
  func append(_ key: Int64, mapping: Int) throws {
    guard let keys = keys[mapping] else { return }
    withUnsafeBytes(of: key.littleEndian) { keys.pending.append(contentsOf: $0) }
    if keys.pending.count >= Self.windowBytes { try flush(keys) }
  }

  private func flush(_ keys: Keys) throws {
    guard !keys.pending.isEmpty else { return }
    try keys.pending.withUnsafeBytes { try keys.file.write($0, at: keys.length) }
    keys.length += UInt64(keys.pending.count)
    keys.pending.removeAll(keepingCapacity: true)
  }

  /// Was this object dropped? Asked for ascending keys, after the last ``append(_:mapping:)``.
  func contains(_ key: Int64, mapping: Int) throws -> Bool {
    guard let keys = keys[mapping] else { return false }
    try flush(keys)
    while true {
      if keys.next >= keys.window.count, try !load(keys) { return false }
      let found = keys.window.withUnsafeBytes {
        Int64(littleEndian: $0.loadUnaligned(fromByteOffset: keys.next, as: Int64.self))
      }
      if found >= key { return found == key }
      keys.next += 8
    }
  }

  private func load(_ keys: Keys) throws -> Bool {
    keys.windowStart += UInt64(keys.window.count)
    let count = Int(min(UInt64(Self.windowBytes), keys.length - keys.windowStart))
    keys.window = [UInt8](repeating: 0, count: count)
    keys.next = 0
    let read = try keys.window.withUnsafeMutableBytes { try keys.file.read(into: $0, at: keys.windowStart) }
    guard read == count else {
      throw StreamsError(.damagedCheckpoint, "the list of dropped objects is shorter than it was", path: keys.file.path)
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
