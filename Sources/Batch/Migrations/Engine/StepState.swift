import CoreDataStore
import Streams

/// Where a step stands and everything the transformation has to know to continue from there (I11).
package struct StepState: Equatable {
  /// What a step does one after the other.
  package enum Phase: UInt8 {
    /// Units of the plan.
    case units = 0
    /// Tables are complete; indexes are built.
    case indexes = 1
    /// The step's store is complete and durable.
    case finished = 2
  }

  /// Rows read, kept and dropped by an entity mapping, in this step.
  struct Counts: Equatable {
    var read: UInt64 = 0
    var kept: UInt64 = 0
    var dropped: UInt64 = 0

    init() {}

    init(from reader: inout ByteReader) throws {
      (read, kept, dropped) = (try reader.readUInt64(), try reader.readUInt64(), try reader.readUInt64())
    }

    func encode(into writer: inout ByteWriter) { for number in [read, kept, dropped] { writer.writeUInt64(number) } }

    mutating func add(_ other: Counts) {
      read += other.read
      kept += other.kept
      dropped += other.dropped
    }
  }

  package var phase = Phase.units
  /// The unit, or the index, that comes next or is being worked on.
  var unit = 0
  /// The last rowid of the unit's table that is done.
  var after: Int64?
  /// Pages of the working file.
  var nextPage: UInt32 = 0
  /// Keys and link rows given out, a table each.
  var nextKeys: [Int64]
  /// By entity mapping of the plan, then by those of the steps that the pass makes before, the last of these first.
  var counts: [Counts]
  /// Source rows without an entity mapping.
  var unmapped: UInt64 = 0
  /// Rows of the source read so far, all units together.
  package var rowsRead: UInt64 = 0
  var lookups: [SpillingMap.State] = []
  var patchLength: UInt64 = 0
  var patchCount: UInt64 = 0
  var spools: [RecordSpool.State] = []
  /// Whether changes to written objects were applied. Then the working file is the one that ``PatchPass`` made.
  package var isPatched = false
  /// Rows of every table once the tables are complete: entity tables, then join tables.
  package var tableRows: [UInt64] = []
  /// What the tables must be found to hold, by name: once they are complete, and where digests are kept.
  package var digests: [String: ProofDigest] = [:]
  /// Keys that were cleared and links that were left out because a policy left out the object, by relationship.
  var lost: [String: UInt64] = [:]
  /// Links of the source that every join table was given, those that were kept, and those that were left out with an object.
  var links: [Counts]
  /// Links that were made although they were there already, and removed, by relationship.
  var repeated: [String: UInt64] = [:]
  /// What was counted of the versions that the step reads: its own, then those that the pass makes before, the last of these first.
  var tallies: [ContentTally]

  /// Objects that were rejected so far. A section of its own in checkpoints, which those of other runs lack.
  package var rejects = RejectLog.State()

  package func encode(into writer: inout ByteWriter) {
    writer.writeUInt8(phase.rawValue)
    writer.writeInt(unit)
    writer.writeOptional(after) { $0.writeInt64($1) }
    writer.writeUInt32(nextPage)
    writer.writeArray(nextKeys) { $0.writeInt64($1) }
    writer.writeArray(counts) { $1.encode(into: &$0) }
    writer.writeUInt64(unmapped)
    writer.writeUInt64(rowsRead)
    writer.writeArray(lookups) { for number in [$1.runs, $1.logLength] { $0.writeUInt64(number) } }
    writer.writeUInt64(patchLength)
    writer.writeUInt64(patchCount)
    writer.writeArray(spools) { for number in [$1.length, $1.count] { $0.writeUInt64(number) } }
    writer.writeBool(isPatched)
    writer.writeArray(tableRows) { $0.writeUInt64($1) }
    Self.encode(digests, into: &writer)
    Self.encode(lost, into: &writer)
    writer.writeArray(links) { $1.encode(into: &$0) }
    Self.encode(repeated, into: &writer)
    writer.writeArray(tallies) { $1.encode(into: &$0) }
  }

  init(plan: StepPlan) {
    nextKeys = plan.keys.firstNewKeys
    counts = Array(repeating: Counts(), count: plan.allMappings.count)
    links = Array(repeating: Counts(), count: plan.layout.joinTables.count)
    tallies = Array(repeating: ContentTally(), count: plan.depth + 1)
  }

  /// Reads what ``encode(into:)`` wrote and checks it against the plan.
  package init(from reader: inout ByteReader, plan: StepPlan) throws {
    guard let phase = Phase(rawValue: try reader.readUInt8()) else { throw reader.damaged("the step's phase") }
    self.phase = phase
    unit = try reader.readInt()
    after = try reader.readOptional { try $0.readInt64() }
    nextPage = try reader.readUInt32()
    nextKeys = try reader.readArray(elementSize: 8) { try $0.readInt64() }
    counts = try reader.readArray(elementSize: 24) {
      try Counts(from: &$0)
    }
    unmapped = try reader.readUInt64()
    rowsRead = try reader.readUInt64()
    lookups = try reader.readArray(elementSize: 16) {
      SpillingMap.State(runs: try $0.readUInt64(), logLength: try $0.readUInt64())
    }
    patchLength = try reader.readUInt64()
    patchCount = try reader.readUInt64()
    spools = try reader.readArray(elementSize: 16) {
      RecordSpool.State(length: try $0.readUInt64(), count: try $0.readUInt64())
    }
    isPatched = try reader.readBool()
    tableRows = try reader.readArray(elementSize: 8) { try $0.readUInt64() }
    digests = try Self.digests(from: &reader)
    lost = try Self.counts(from: &reader)
    links = try reader.readArray(elementSize: 24) { try Counts(from: &$0) }
    repeated = try Self.counts(from: &reader)
    tallies = try reader.readArray { try ContentTally(from: &$0) }
    guard unit >= 0, nextKeys.count == plan.keys.firstNewKeys.count, counts.count == plan.allMappings.count,
      links.count == plan.layout.joinTables.count, tallies.count == plan.depth + 1,
      phase == .units || tableRows.count == plan.tableNames.count,
      phase != .units
        || (lookups.count == plan.lookups.count && spools.count == plan.keys.kept.count { $0 } && nextPage >= 2)
    else { throw reader.damaged("the step's state") }
  }
}

extension StepState {
  /// The file that a step in this state writes, if it began with one at `path`: late changes move it to a new one.
  package func workingPath(_ path: String) -> String { isPatched ? path + ".patched" : path }

  private static func encode(_ counts: [String: UInt64], into writer: inout ByteWriter) {
    writer.writeArray(counts.sorted { $0.key < $1.key }) {
      $0.writeString($1.key)
      $0.writeUInt64($1.value)
    }
  }

  private static func counts(from reader: inout ByteReader) throws -> [String: UInt64] {
    let counts = try reader.readArray { (try $0.readString(), try $0.readUInt64()) }
    return Dictionary(counts, uniquingKeysWith: { first, _ in first })
  }

  /// Writes digests by name.
  package static func encode(_ digests: [String: ProofDigest], into writer: inout ByteWriter) {
    writer.writeArray(digests.sorted { $0.key < $1.key }) {
      $0.writeString($1.key)
      $1.value.encode(into: &$0)
    }
  }

  /// Reads what ``encode(_:into:)`` wrote.
  package static func digests(from reader: inout ByteReader) throws -> [String: ProofDigest] {
    let found = try reader.readArray { (try $0.readString(), try ProofDigest(from: &$0)) }
    return Dictionary(found) { $1 }
  }

  /// The rows that a state counts, read without its plan: for a look at a run.
  package static func rowsRead(from reader: inout ByteReader) throws -> UInt64 {
    _ = try reader.readUInt8()
    _ = try reader.readInt()
    _ = try reader.readOptional { try $0.readInt64() }
    _ = try reader.readUInt32()
    _ = try reader.readArray(elementSize: 8) { try $0.readInt64() }
    _ = try reader.readArray(elementSize: 24) { try $0.readRaw(24) }
    _ = try reader.readUInt64()
    return try reader.readUInt64()
  }
}
