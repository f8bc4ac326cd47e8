@testable import MigrationJobs

/// What the person does by hand.
enum ModelDeed: UInt8, CaseIterable {
  case putBackupBack, putOwnCopy, delete
}

/// What led from one world to the next.
enum ModelMove {
  case begin(LifeCommand)
  case step(LifeCommand, ModelStage)
  case kill(LifeCommand, ModelStage)
  case fail(LifeCommand)
  case write
  case deed(ModelDeed)
}

/// A promise that was found broken, and the shortest way there.
struct ModelFinding {
  var promise: ModelPromise
  var text: String
}

/// Goes through all worlds that can be reached, breadth first.
struct ModelExplorer {
  static let commands: [LifeCommand] = [.migrate, .restart, .resume, .rollback, .cleanAll]

  let guards: ModelGuards
  private(set) var finding: ModelFinding?
  private var worlds: [ModelWorld] = []
  private var ways: [(before: Int, move: ModelMove)?] = []
  private var seen: Set<ModelWorld> = []
  private var wayOut: ModelWayOut
  /// The world that is looked at just now.
  private var place = 0

  /// How many worlds were seen.
  var count: Int { worlds.count }

  init(_ guards: ModelGuards) {
    self.guards = guards
    wayOut = ModelWayOut(guards)
  }

  /// Ends at the first promise that is broken.
  mutating func explore(_ starts: [ModelWorld]) {
    for var start in starts {
      start.knowsRename = guards.has(.overBehindRename)
      add(start, nil)
    }
    while place < worlds.count, finding == nil {
      let world = worlds[place]
      goOn(world)
      if world.isQuiet, finding == nil, let found = wayOut.look(world) { tell(found.promise, found.how, found.command) }
      place += 1
    }
  }

  private mutating func goOn(_ world: ModelWorld) {
    for process in 0..<2 { goOn(world, process) }
    if world.writes > 0, let next = world.written() { add(next, .write) }
    if world.deeds > 0 { for deed in ModelDeed.allCases { world.done(deed).map { add($0, .deed(deed)) } } }
  }

  private mutating func goOn(_ world: ModelWorld, _ process: Int) {
    let me = world[process]
    guard me.stage != .ended else {
      guard world.commands > 0, process == 0 || world.first.stage != .ended else { return }
      var next = world
      next.commands -= 1
      for command in Self.commands { add(ModelTurn.begin(command, next, process, guards), .begin(command)) }
      return
    }
    var turn = ModelTurn(world, process, guards)
    turn.run()
    add(turn, .step(me.command, me.stage))
    guard world.kills > 0, me.hasLease else { return }
    turn = ModelTurn(world, process, guards)
    turn.world.kills -= 1
    turn.world[process] = ModelProcess()
    add(turn.world, .kill(me.command, me.stage))
    guard me.stage == .verify, me.command != .rollback else { return }
    turn.fail()
    add(turn.world, .fail(me.command))
  }

  private mutating func add(_ turn: ModelTurn, _ move: ModelMove) {
    guard finding == nil else { return }
    add(turn.world, move)
    if let broken = turn.broken { tell(broken.promise, broken.how, nil, move) }
  }

  private mutating func add(_ world: ModelWorld, _ move: ModelMove?) {
    guard finding == nil else { return }
    let world = world.inOrder()
    guard seen.insert(world).inserted else { return }
    worlds.append(world)
    ways.append(move.map { (place, $0) })
    if world.owed & ~world.rows != 0, let move { tell(.noLoss, "rows are lost that nobody asked to remove", nil, move) }
  }

  private mutating func tell(_ promise: ModelPromise, _ how: String, _ command: String?, _ move: ModelMove? = nil) {
    var lines: [String] = []
    var at = place
    while let way = ways[at] {
      lines.append("\(way.move)")
      at = way.before
    }
    lines.append("at first: \(worlds[at].text)")
    let last = ([move.map { "\($0)" }, command] as [String?]).compactMap { $0 }
    finding = ModelFinding(
      promise: promise,
      text: "\(how):\n" + (lines.reversed() + last + ["before: \(worlds[place].text)"]).joined(separator: "\n"))
  }
}

extension ModelWorld {
  /// What a person reads of it.
  var text: String {
    let names = backups.map { "\($0.isSetAside ? "set aside" : "backup") \($0.file)" }.joined(separator: ", ")
    return "store \(store.map { "\($0)" } ?? "missing"); \(names); job \(job.map { "\($0)" } ?? "none")"
  }

  /// The application writes to the store, under all its names; nil where it cannot.
  func written() -> ModelWorld? {
    guard let store, !isLocked(store) else { return nil }
    var next = self
    let row = ModelFile.written[Int(writes) - 1]
    func write(_ file: inout ModelFile) { if file.number == store.number { file.rows |= row } }
    next.writes -= 1
    next.owed |= row
    next.store?.rows |= row
    for index in next.backups.indices { write(&next.backups[index].file) }
    if next.job?.made?.number == store.number { next.job?.made?.rows |= row }
    return next
  }

  /// The person does something by hand; nil where it cannot be done. What goes with the old file was asked for.
  func done(_ deed: ModelDeed) -> ModelWorld? {
    var next = self
    next.deeds -= 1
    switch deed {
    case .putBackupBack:
      guard let index = backups.lastIndex(where: { !$0.isSetAside }) else { return nil }
      next.store = next.backups.remove(at: index).file
    case .putOwnCopy: next.store = ModelFile(number: next.nextNumber(), version: 1, rows: ModelFile.own)
    case .delete:
      guard store != nil else { return nil }
      next.store = nil
    }
    // The backup that a rollback is putting back is the store's second name.
    let left = next.backups.filter { $0.name != job?.journal?.restores || $0.file.number != store?.number }
    let rows = left.reduce(next.store?.rows ?? 0) { $0 | $1.file.rows }
    if let store { next.owed &= ~(store.rows & ~rows) }
    next.owed |= next.store?.rows ?? 0
    return next
  }
}
