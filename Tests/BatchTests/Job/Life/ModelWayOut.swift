@testable import MigrationJobs

/// Follows what commands advise, where nobody else is at work, until no run is left.
struct ModelWayOut {
  private static let mostCommands = 3
  private static let mostSteps = 300

  private let guards: ModelGuards
  /// Worlds that were looked at, without what may happen yet.
  private var seen: Set<ModelWorld> = []

  init(_ guards: ModelGuards) { self.guards = guards }

  /// A promise that is broken where somebody begins with a command and does as told.
  mutating func look(_ world: ModelWorld) -> (promise: ModelPromise, how: String, command: String)? {
    var world = world
    (world.commands, world.kills, world.writes, world.deeds) = (0, 0, 0, 0)
    guard seen.insert(world).inserted else { return nil }
    for command in ModelExplorer.commands {
      if let broken = follow(command, world) { return (broken.promise, broken.how, "alone: \(broken.commands)") }
    }
    return nil
  }

  private func follow(_ first: LifeCommand, _ start: ModelWorld) -> (
    promise: ModelPromise, how: String, commands: String
  )? {
    var (world, command, told) = (start, first, "")
    for _ in 0..<Self.mostCommands {
      let (next, outcome, broken) = alone(command, world)
      world = next
      told += " \(command.rawValue) (\(outcome.map { "\($0)" } ?? "without end"))"
      if let broken { return (broken.promise, broken.how, told) }
      guard world.job != nil else { return nil }
      guard case .advised(let way) = outcome else { break }
      if way == .putBack, let back = putBack(world) { world = back }
      command = Self.command(way)
    }
    return (.wayOut, "a run is left that no advice leads out of", told)
  }

  /// Puts the run's own store back where a backup has it, or else another one.
  private func putBack(_ world: ModelWorld) -> ModelWorld? {
    guard world.store == nil else { return nil }
    var world = world
    world.deeds = 1
    let old = world.job?.journal?.old ?? world.job?.plan
    guard let backup = world.backups.first(where: { $0.file.hasContents(of: old) }) else {
      return world.done(.putOwnCopy)
    }
    world.store = backup.file
    return world
  }

  private static func command(_ way: LifeAnswer.WayOut) -> LifeCommand {
    switch way {
    case .resume, .putBack: .resume
    case .restart: .restart
    case .giveUp: .cleanAll
    case .rollback: .rollback
    }
  }

  private func alone(
    _ command: LifeCommand, _ world: ModelWorld
  ) -> (ModelWorld, ModelOutcome?, (promise: ModelPromise, how: String)?) {
    var turn = ModelTurn.begin(command, world, 0, guards)
    for _ in 0..<Self.mostSteps where turn.outcome == nil && turn.broken == nil {
      turn.run()
      if turn.world.owed & ~turn.world.rows != 0 { turn.breaks(.noLoss, "rows are lost that nobody asked to remove") }
    }
    return (turn.world, turn.outcome, turn.broken)
  }
}
