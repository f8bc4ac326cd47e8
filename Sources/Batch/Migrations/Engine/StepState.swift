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
  /// Links of the source that every join table was given, those that were kept, and those that were left out with an
  /// object.
  var links: [Counts]
  /// Links that were made although they were there already, and removed, by relationship.
  var repeated: [String: UInt64] = [:]
  /// What was counted of the versions that the step reads: its own, then those that the pass makes before, the last of
  /// these first.
  var tallies: [ContentTally]

  /// Objects that were rejected so far. A section of its own in checkpoints, which those of other runs lack.
  package var rejects = RejectLog.State()
}

extension StepState {
  /// The file that a step in this state writes, if it began with one at `path`: late changes move it to a new one.
  package func workingPath(_ path: String) -> String { isPatched ? path + ".patched" : path }
}
