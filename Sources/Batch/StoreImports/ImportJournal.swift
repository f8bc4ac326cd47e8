import MigrationJobs
import RunSupport
import Streams

/// The checkpoints of an import.
final class ImportJournal {
  /// What is done of an import.
  enum Phase: UInt8 {
    case reading, tables, indexes
    /// The store is whole.
    case built
  }

  /// A checkpoint to go on from.
  struct Found {
    let phase: Phase
    let checkpoint: Checkpoint

    init(_ checkpoint: Checkpoint) throws {
      self.checkpoint = checkpoint
      guard var reader = checkpoint.reader(of: "import"), let phase = Phase(rawValue: try reader.readUInt8()) else {
        throw StreamsError(.damagedCheckpoint, "the checkpoint is not that of an import")
      }
      self.phase = phase
      // All go on with what was read.
      _ = try section("reader")
    }

    /// A section that is always there.
    func section(_ name: String) throws -> ByteReader {
      guard let reader = checkpoint.reader(of: name) else {
        throw StreamsError(.damagedCheckpoint, "the checkpoint lacks the section \(name)")
      }
      return reader
    }

    /// The same; all of it must be read.
    func read<Result>(_ section: String, _ body: (inout ByteReader) throws -> Result) throws -> Result {
      var reader = try self.section(section)
      let result = try body(&reader)
      try reader.finish()
      return result
    }
  }

  private let place: ImportPlace
  private let note: ImportNote
  private let lease: Lease
  private let monitor: RunMonitor
  private let fileSystem: any FileSystem
  private let store: CheckpointStore
  private let request: [UInt8]
  private let model: [UInt8]
  private var clock: CheckpointClock
  private var sequence: UInt64 = 0
  /// Whether there is a checkpoint.
  private(set) var isBegun = false
  private(set) var phase = Phase.reading
  /// Whether it is written down that the store lacks nothing but its name.
  private(set) var isMade = false
  /// The state of what was read; nil if it cannot be continued.
  private(set) var reader: [UInt8]?
  private let encodeReader: (inout ByteWriter) throws -> Void
  private let syncReader: () throws -> Void

  /// `request` and `model` are the fingerprints of what is asked for; `encode` writes the state of what was read, and
  /// `sync` makes durable what that speaks of.
  init(
    _ place: ImportPlace, note: ImportNote, request: [UInt8], model: [UInt8], lease: Lease, monitor: RunMonitor,
    fileSystem: any FileSystem, encode: @escaping (inout ByteWriter) throws -> Void, sync: @escaping () throws -> Void
  ) {
    (encodeReader, syncReader) = (encode, sync)
    (self.place, self.note, self.lease, self.monitor, self.fileSystem) = (place, note, lease, monitor, fileSystem)
    (self.request, self.model) = (request, model)
    store = CheckpointStore(directory: place.job.checkpoints, fileSystem: fileSystem)
    clock = CheckpointClock(monitor.interval)
  }

  /// The newest checkpoint; nil if there is none, or the import has ended as its plan is gone. Throws `refused` if it is
  /// that of another import.
  func find() throws -> Found? {
    guard let found = try Found.newest(at: place, of: note, request: request, model: model, fileSystem) else {
      return nil
    }
    (sequence, isBegun, phase) = (found.checkpoint.sequence, true, found.phase)
    return found
  }

  /// What an earlier process made, of files with these digests, if it lacked nothing but its name; nil if there is none.
  func made() throws -> (summary: ImportSummary, digests: [[UInt8]])? {
    guard let found = ImportNote.read(place.job, fileSystem), let made = found.made, [UInt8](made.request) == request,
      [UInt8](made.model) == model, let summary = found.summary
    else { return nil }
    try place.scratch.refuseLinks()
    isMade = true
    return (summary, made.digests.map { [UInt8]($0) })
  }

  /// Begins an import. What another one left is removed.
  func begin() throws {
    (isBegun, isMade, phase) = (false, false, .reading)
    try place.scratch.empty()
    try store.removeAll()
  }

  /// Writes down, durably, that the store lacks nothing but its name.
  func end(_ summary: ImportSummary, digests: [[UInt8]]) throws {
    try lease.throwIfReplaced()
    try note.of(summary, digests: digests, request: request, model: model)
      .write(to: place.job, isDurable: true, fileSystem)
    isMade = true
  }

  /// Writes down what is imported, for whoever asks.
  func write(isDurable: Bool) throws { try note.write(to: place.job, isDurable: isDurable, fileSystem) }

  /// Keeps the state of what was read for the checkpoints that follow. Everything in it goes to the disk.
  func keepReader() throws {
    var state = ByteWriter()
    try encodeReader(&state)
    reader = state.bytes
  }

  /// Counts finished bytes. True if a checkpoint is due, also because the import is to stop.
  func isDue(adding bytes: Int) -> Bool { clock.isDue(adding: bytes) || monitor.isStopRequested }

  /// Publishes a checkpoint; what was read becomes durable, all else that it speaks of is. Throws `stopped` behind it, if
  /// a stop was asked for.
  func publish(_ phase: Phase, _ sections: [String: ByteWriter] = [:]) throws {
    try lease.throwIfReplaced()
    if !isBegun {
      try write(isDurable: true)
      for folder in [place.scratch.path, FilePaths.directory(of: place.scratch.path)] {
        try fileSystem.syncDirectory(folder)
      }
    }
    if reader == nil { try keepReader() }
    try syncReader()
    var (all, head) = (sections.mapValues(\.bytes), ByteWriter())
    head.writeUInt8(phase.rawValue)
    (all["import"], all["reader"]) = (head.bytes, reader)
    sequence += 1
    // Files that a run was spilled into since have new names.
    try fileSystem.syncDirectory(place.scratch.path)
    try store.publish(
      Checkpoint(sequence: sequence, planFingerprint: request, sourceFingerprint: model, sections: all))
    (isBegun, self.phase) = (true, phase)
    monitor.note { $0.checkpoints += 1 }
    try monitor.throwIfStopRequested()
  }
}
