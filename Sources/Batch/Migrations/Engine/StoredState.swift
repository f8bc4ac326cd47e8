import Streams

/// How a state is kept in checkpoints, and that it is one of the step's plan.
extension StepState {
  init(plan: StepPlan) {
    nextKeys = plan.keys.firstNewKeys
    counts = Array(repeating: Counts(), count: plan.allMappings.count)
    links = Array(repeating: Counts(), count: plan.layout.joinTables.count)
    tallies = Array(repeating: ContentTally(), count: plan.depth + 1)
  }

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
    writer.writeCounts(lost)
    writer.writeArray(links) { $1.encode(into: &$0) }
    writer.writeCounts(repeated)
    writer.writeArray(tallies) { $1.encode(into: &$0) }
    for tally in tallies { tally.encodeRest(into: &writer) }
    for tally in tallies { tally.encodeLost(into: &writer) }
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
    lost = try reader.readCounts()
    links = try reader.readArray(elementSize: 24) { try Counts(from: &$0) }
    repeated = try reader.readCounts()
    tallies = try Self.tallies(from: &reader)
    guard fits(plan) else { throw reader.damaged("the step's state") }
  }

  /// Reads tallies with what states of earlier versions lack.
  private static func tallies(from reader: inout ByteReader) throws -> [ContentTally] {
    var tallies = try reader.readArray { try ContentTally(from: &$0) }
    if reader.remaining > 0 { for index in tallies.indices { try tallies[index].readRest(from: &reader) } }
    let hasLost = reader.remaining > 0
    for index in tallies.indices {
      if hasLost { try tallies[index].readLost(from: &reader) } else { tallies[index].moveLost() }
    }
    return tallies
  }

  private func fits(_ plan: StepPlan) -> Bool {
    guard unit >= 0, nextKeys.count == plan.keys.firstNewKeys.count, counts.count == plan.allMappings.count,
      links.count == plan.layout.joinTables.count, tallies.count == plan.depth + 1,
      tallies[0].cleared.keys.allSatisfy(plan.has)
    else { return false }
    guard phase == .units else { return tableRows.count == plan.tableNames.count }
    return lookups.count == plan.lookups.count && spools.count == plan.keys.kept.count { $0 } && nextPage >= 2
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
