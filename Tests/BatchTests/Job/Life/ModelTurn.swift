@testable import MigrationJobs

/// One step of one process.
struct ModelTurn {
  var world: ModelWorld
  var me: ModelProcess
  let process: Int
  let guards: ModelGuards
  var outcome: ModelOutcome?
  /// A promise that this step breaks, and how.
  var broken: (promise: ModelPromise, how: String)?

  init(_ world: ModelWorld, _ process: Int, _ guards: ModelGuards) {
    (self.world, self.process, self.guards) = (world, process, guards)
    me = world[process]
  }

  /// A command begins, with its first look.
  static func begin(_ command: LifeCommand, _ world: ModelWorld, _ process: Int, _ guards: ModelGuards) -> ModelTurn {
    var turn = ModelTurn(world, process, guards)
    turn.me = ModelProcess(command: command, stage: .look)
    switch command {
    case .resume: turn.me.stage = .resumeTake
    case .cleanAll: turn.me.stage = .cleanLook
    case .rollback: turn.me.stage = .rollbackLook
    default: break
    }
    turn.run()
    return turn
  }

  mutating func run() {
    switch me.stage {
    case .ended: break
    case .look, .settleTake, .settleLook: settle()
    case .plan, .begin, .beginLook, .compare, .writePlan: beginRun()
    case .lockSource, .make, .verify, .writeJournal: work()
    case .replace, .check, .link, .exchange: cutOver()
    case .endExchange, .exchangeBack, .endRestoring, .writeDone: endCutOver()
    case .undo, .forgetCutOver, .takeBack, .forgetTakenBack: giveUp()
    case .result, .unlinkPlan, .unlinkFiles, .unlinkJournal, .unlinkLease, .removeDirectory, .claim: end()
    case .resumeTake, .resumeLook: resume()
    case .cleanLook, .cleanTake, .cleanLookAgain: clean()
    case .rollbackLook, .rollbackTake, .rollbackLookAgain: finishRollback()
    }
    world[process] = me
  }

  /// The process ends: the kernel drops its locks.
  mutating func end(_ outcome: ModelOutcome) {
    self.outcome = outcome
    me = ModelProcess()
  }

  mutating func breaks(_ promise: ModelPromise, _ how: String) { if broken == nil { broken = (promise, how) } }

  mutating func look(isOwn: Bool) -> (life: RunLife, answer: LifeAnswer) {
    let life = world.life(isOwn: isOwn)
    return (life, guards.answer(life, me.command))
  }

  /// Takes the lease, and goes to a stage; to another one where there is no directory.
  mutating func take(_ next: ModelStage, orElse gone: ModelStage?) {
    guard world.job != nil else {
      if let gone { me.stage = gone } else { end(.ended) }
      return
    }
    guard !world.isLeased || !guards.has(.leaseExcludes) else { return end(.waits) }
    me.hasLease = true
    me.stage = next
  }

  mutating func release(_ next: ModelStage) {
    me.hasLease = false
    me.stage = next
  }

  /// The directory goes, and then: `aim`.
  mutating func remove(_ aim: ModelAim) {
    me.aim = aim
    me.stage = guards.has(.leaseLast) ? .unlinkPlan : .unlinkLease
  }

  // MARK: Before a command's own work

  private mutating func settle() {
    switch me.stage {
    case .look:
      me = ModelProcess(command: me.command, stage: .look)
      let (life, answer) = look(isOwn: false)
      switch answer {
      case .begin where life.phase == .none: me.stage = .plan
      case .begin, .giveUpFirst, .finishFirst: (me.found, me.stage) = (answer.number, .settleTake)
      case .wait: end(.waits)
      case .refuse(let way): end(.advised(way))
      case .finish where me.command == .rollback: me.stage = .rollbackLook
      default: me.stage = .plan
      }
    case .settleTake: take(.settleLook, orElse: me.command == .rollback ? .rollbackLook : .look)
    default:
      let answer = look(isOwn: true).answer
      guard answer.number == me.found || !guards.has(.lookAgainUnderLease) else { return release(.look) }
      me.aim = .again
      if me.found == LifeAnswer.finishFirst.number { finish(.again) } else { me.stage = .undo }
    }
  }

  /// Finishes a cut-over that is under way.
  mutating func finish(_ aim: ModelAim) {
    me.aim = aim
    me.hasPlan = world.job?.plan != nil
    me.stage = .replace
  }

  private mutating func resume() {
    if me.stage == .resumeTake { return take(.resumeLook, orElse: nil) }
    switch look(isOwn: true).answer {
    case .refuse(let way): end(.advised(way))
    case .finish: finish(.claim)
    case .goOn:
      (me.aim, me.stage) = (.claim, .lockSource)
      world.job?.hasFailed = false
    case .cutOverAgain where world.job?.plan == nil: end(.advised(.resume))
    case .cutOverAgain: (me.aim, me.stage) = (.claim, .takeBack)
    default: remove(.nothing)
    }
  }

  private mutating func clean() {
    if me.stage == .cleanTake { return take(.cleanLookAgain, orElse: nil) }
    let answer = look(isOwn: me.stage == .cleanLookAgain).answer
    switch answer {
    case .giveUp, .giveUpFirst, .finish: break
    case .refuse(let way): return end(.advised(way))
    default: return end(.ended)
    }
    if me.stage == .cleanLook {
      me.stage = .cleanTake
    } else if answer == .finish {
      finish(.nothing)
    } else {
      me.stage = .undo
    }
  }

  private mutating func finishRollback() {
    if me.stage == .rollbackTake { return take(.rollbackLookAgain, orElse: .look) }
    let (life, answer) = look(isOwn: me.stage == .rollbackLookAgain)
    let isWanted = life.isRollback && answer == .finish
    if me.stage == .rollbackLook {
      me.stage = isWanted ? .rollbackTake : .look
      if !isWanted { settle() }
    } else if isWanted {
      finish(.claim)
    } else {
      release(.look)
    }
  }
}
