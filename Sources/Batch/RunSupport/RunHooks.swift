/// A place on the way of a run.
public enum RunPhase: String, Sendable, CaseIterable {
  /// The path is planned, and the source is locked; nothing is read yet.
  case planned
  /// All objects are written.
  case copied
  /// The new store is verified.
  case proved
  /// The new store is about to get its name.
  case beforeCutOver = "before-cut-over"
  /// The new store has its name.
  case afterCutOver = "after-cut-over"

  /// The activity of a run whose cut-over is held.
  package static let waiting = "waiting for the cut-over"
}

/// What others do on the way of a run.
public struct RunHooks: Sendable {
  /// Is called when a run comes to a phase; one that is resumed may come there again. An error ends the run, which can
  /// be resumed; after the cut-over none is thrown.
  public var reached: @Sendable (RunPhase) throws -> Void

  /// Makes hooks; without arguments nobody does anything.
  public init(reached: @escaping @Sendable (RunPhase) throws -> Void = { _ in }) { self.reached = reached }
}
