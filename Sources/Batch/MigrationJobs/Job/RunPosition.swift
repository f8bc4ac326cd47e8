import Foundation
import Migrations
import Streams

/// Where a run is resumed: the step, the store that it reads, and the state within it (I11).
struct RunPosition: Equatable {
  /// A step's own state and the open pages of its builders.
  struct State: Equatable {
    var step: [UInt8]
    var builders: [UInt8]
  }

  /// The step at work, from 0; the number of steps when all are done.
  var step: Int
  /// The name in the job directory of the store that the step before left; nil for the source.
  var previousStore: String?
  /// Rows that were written into that store's tables: of entities, of links, and those that were carried.
  var rows: [String: UInt64] = [:]
  /// What that store's tables must be found to hold, where the last step wrote it.
  var digests: [String: ProofDigest] = [:]
  /// What became of the rows of finished steps, for the report.
  var accounts: [StepAccount] = []
  /// Nil at the beginning of a step.
  var state: State?
  /// Objects that were rejected so far; nil if the first one ends the run.
  var rejects: RejectLog.State?

  init(
    step: Int, previousStore: String?, rows: [String: UInt64], digests: [String: ProofDigest], accounts: [StepAccount],
    rejects: RejectLog.State? = nil
  ) {
    self.rejects = rejects
    self.step = step
    self.digests = digests
    self.accounts = accounts
    self.previousStore = previousStore
    self.rows = rows
  }

  /// The beginning of a run, or what a checkpoint says.
  init(_ checkpoint: Checkpoint?, steps: Int) throws {
    step = 0
    guard let checkpoint else { return }
    guard var position = checkpoint.reader(of: "position") else {
      throw StreamsError(.damagedCheckpoint, "the checkpoint does not say where the run stands")
    }
    step = try position.readInt()
    previousStore = try position.readOptional { try $0.readString(cap: 255) }
    let tables = try position.readArray { (try $0.readString(), try $0.readUInt64()) }
    rows = Dictionary(tables, uniquingKeysWith: { first, _ in first })
    digests = try StepState.digests(from: &position)
    guard step >= 0, step <= steps, previousStore?.contains("/") != true else { throw position.damaged("the step") }
    if let bytes = checkpoint.sections["accounts"] {
      guard let found = try? JSONDecoder().decode([StepAccount].self, from: Data(bytes)) else {
        throw position.damaged("the accounts")
      }
      accounts = found
    }
    if let bytes = checkpoint.sections["rejects"] {
      guard let found = try? JSONDecoder().decode(RejectLog.State.self, from: Data(bytes)) else {
        throw position.damaged("the rejects")
      }
      rejects = found
    }
    if let state = checkpoint.sections["state"], let builders = checkpoint.sections["builders"] {
      self.state = State(step: state, builders: builders)
    }
  }

  /// The sections of a checkpoint.
  func sections() throws -> [String: [UInt8]] {
    var writer = ByteWriter()
    writer.writeInt(step)
    writer.writeOptional(previousStore) { $0.writeString($1) }
    writer.writeArray(rows.sorted { $0.key < $1.key }) {
      $0.writeString($1.key)
      $0.writeUInt64($1.value)
    }
    StepState.encode(digests, into: &writer)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    var sections = ["position": writer.bytes, "accounts": [UInt8](try encoder.encode(accounts))]
    if let rejects { sections["rejects"] = [UInt8](try encoder.encode(rejects)) }
    if let state { (sections["state"], sections["builders"]) = (state.step, state.builders) }
    return sections
  }

  func restart(plan: StepPlan) throws -> StepRestart? {
    guard let state else { return nil }
    var reader = ByteReader(state.step, subject: "state")
    var restart = StepRestart(state: try StepState(from: &reader, plan: plan), builders: state.builders)
    restart.state.rejects = rejects ?? RejectLog.State(mappings: Array(repeating: 0, count: plan.mappings.count))
    guard restart.state.rejects.mappings.count == plan.mappings.count else { throw reader.damaged("the rejects") }
    return restart
  }
}
