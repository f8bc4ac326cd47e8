// Who may do what: every phase, every state of the store, every command.
extension RunLife {
  /// What a command may do now.
  func answer(to command: LifeCommand) -> LifeAnswer {
    switch command {
    case .status, .report, .verify: return .look
    case .clean, .cleanAll: if isOwned { return .keep }
    case .migrate, .restart, .resume, .rollback, .fleet: if isOwned { return .wait }
    }
    switch phase {
    case .none, .leased: return answerWithoutRun(to: command)
    case .working, .failed: return answerAtWork(to: command)
    case .cutOver: return isRollback ? answerInRollback(to: command) : answerAtCutOver(to: command)
    case .renamed, .done: return answerBehindRename(to: command)
    case .unreadable: return answerUnreadable(to: command)
    }
  }

  private func answerWithoutRun(to command: LifeCommand) -> LifeAnswer {
    switch command {
    case .migrate, .restart, .rollback, .fleet: .begin
    case .resume: phase == .none ? .nothing : .giveUpFirst
    case .clean, .cleanAll: phase == .none ? .nothing : .giveUp
    case .status, .report, .verify: .look
    }
  }

  private func answerAtWork(to command: LifeCommand) -> LifeAnswer {
    let canGoOn = store == .asItWas
    switch command {
    case .migrate, .rollback:
      if command == .rollback { return .refuse(.giveUp) }
      return .refuse(store == .missing ? .putBack : canGoOn && phase == .working ? .resume : .restart)
    case .restart: return store == .missing ? .refuse(.putBack) : .giveUpFirst
    case .resume, .fleet: return canGoOn ? .goOn : .refuse(store == .missing ? .putBack : .restart)
    case .clean: return canGoOn || store == .missing ? .keep : .giveUp
    case .cleanAll: return .giveUp
    case .status, .report, .verify: return .look
    }
  }

  private func answerAtCutOver(to command: LifeCommand) -> LifeAnswer {
    switch command {
    case .migrate: .refuse(store == .asItWas ? .resume : store == .missing ? .putBack : .restart)
    case .restart: store == .missing ? .refuse(.putBack) : .giveUpFirst
    case .resume, .fleet: store == .asItWas ? .finish : store == .missing ? .refuse(.putBack) : .cutOverAgain
    case .rollback: .refuse(store == .asItWas ? .resume : .giveUp)
    case .clean: .keep
    case .cleanAll: .giveUp
    case .status, .report, .verify: .look
    }
  }

  /// The present store of a rollback has its name still, and the backup its own.
  private func answerInRollback(to command: LifeCommand) -> LifeAnswer {
    switch command {
    case .migrate, .restart, .fleet: .refuse(store == .asItWas ? .resume : .giveUp)
    case .resume: store == .asItWas ? .finish : .refuse(.rollback)
    case .rollback: store == .asItWas ? .finish : .giveUpFirst
    case .clean: .keep
    case .cleanAll: .giveUp
    case .status, .report, .verify: .look
    }
  }

  /// Nothing of the run is needed any longer, whatever has become of its result.
  private func answerBehindRename(to command: LifeCommand) -> LifeAnswer {
    switch command {
    case .migrate, .restart: .finishFirst
    case .resume, .fleet: .finish
    case .rollback: isRollback ? .finish : .finishFirst
    case .clean: phase == .done ? .giveUp : .keep
    case .cleanAll: .finish
    case .status, .report, .verify: .look
    }
  }

  private func answerUnreadable(to command: LifeCommand) -> LifeAnswer {
    switch command {
    case .migrate, .resume, .rollback, .fleet:
      .refuse(store == .missing ? .putBack : command == .migrate ? .restart : .giveUp)
    case .restart: store == .missing ? .refuse(.putBack) : .giveUpFirst
    case .clean: .keep
    case .cleanAll: store == .missing ? .refuse(.putBack) : .giveUp
    case .status, .report, .verify: .look
    }
  }

  /// Every state that differs from the others, in the table's order.
  static var all: [RunLife] {
    var lives = [RunLife(phase: .none), RunLife(phase: .leased)]
    for phase in [Phase.working, .failed, .cutOver, .renamed, .done] {
      let stores: [Store] = phase == .renamed ? [.asItWas, .written] : Store.allCases
      lives += stores.map { RunLife(phase: phase, store: $0) }
    }
    lives += Store.allCases.map { RunLife(phase: .cutOver, store: $0, isRollback: true) }
    for phase in [Phase.renamed, .done] {
      let stores: [Store] = phase == .renamed ? [.asItWas, .written] : Store.allCases
      lives += stores.map { RunLife(phase: phase, store: $0, isRollback: true) }
    }
    lives += [Store.asItWas, .missing].map { RunLife(phase: .unreadable, store: $0) }
    return lives
  }

  /// The table of ARCHITECTURE.md: the states of runs that nobody works on, and what each command does then.
  static var table: [String] {
    let commands = LifeCommand.allCases.filter { ![.status, .report, .verify].contains($0) }
    let head = ["run", "store"] + commands.map { "`\($0.rawValue)`" }
    let rows = all.map { life in
      [life.phase.rawValue + (life.isRollback ? " (rollback)" : ""), life.store.rawValue]
        + commands.map { life.answer(to: $0).text }
    }
    return ([head, head.map { _ in "---" }] + rows).map { "| " + $0.joined(separator: " | ") + " |" }
  }
}
