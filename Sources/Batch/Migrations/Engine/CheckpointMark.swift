import Streams

/// The transformation's half of a checkpoint; the writing thread adds its own half once it has come to that point (I3).
struct CheckpointMark: Sendable {
  let state: StepState
  let toSync: [any File]
  let onPublished: @Sendable () -> Void

  func finish(_ output: StepOutput, _ publish: (StepState, [UInt8]) throws -> Void) throws {
    let written = try output.checkpoint()
    for file in toSync { try file.sync() }
    var state = state
    state.nextPage = written.nextPage
    state.spools = written.spools
    try publish(state, written.builders)
    onPublished()
  }
}
