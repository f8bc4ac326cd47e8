/// Where the run of a store is in its life, and what each command may do then: the one place where that is decided
/// (I15).
///
/// Commands ask ``answer(to:)`` and do what it says. ARCHITECTURE.md has the table that follows from it.
package struct RunLife: Equatable, Sendable {
  /// What the job directory says.
  package enum Phase: String, CaseIterable, Sendable {
    /// There is no directory.
    case none
    /// There is one without a plan: a run is being begun, or a kill left it at the beginning or the end.
    case leased
    /// There is a plan, and perhaps a checkpoint.
    case working
    /// The same, and the last process ended with an error that follows from plan and source alone.
    case failed
    /// The cut-over was begun; the new store does not have its name yet.
    case cutOver = "cut-over"
    /// The new store has its name, and the journal does not say so yet.
    case renamed
    /// The journal says that all is done: the directory is being removed.
    case done
    /// Plan or journal cannot be read, or are those of another release.
    case unreadable
  }

  /// What has become of the store that the phase is about: up to the rename the old one, after it the new one. A folder
  /// that was moved as a whole changes nothing.
  enum Store: String, CaseIterable, Sendable {
    /// It is as the run knows it.
    case asItWas = "as it was"
    /// It is the same file, and was written to since.
    case written
    /// Another file has its name; of an output, something has come into its place.
    case replaced
    /// Nothing has its name.
    case missing
  }

  /// What the directory says.
  package var phase: Phase
  /// What has become of the store.
  var store = Store.asItWas
  /// Whether a live process has the lease.
  var isOwned = false
  /// Whether it is a rollback that was begun, and no migration.
  var isRollback = false
}

/// What somebody wants of a store and its run.
enum LifeCommand: String, CaseIterable, Sendable {
  case migrate
  /// `migrate --restart`
  case restart = "migrate --restart"
  case resume
  case rollback
  case clean
  /// `clean --all`
  case cleanAll = "clean --all"
  case status
  case report
  case verify
  /// What a task of a fleet does with a store that is its own.
  case fleet
}

/// What a command may do.
enum LifeAnswer: Equatable, Sendable {
  /// Which command leads on.
  enum WayOut: String, CaseIterable, Sendable {
    case resume
    case restart = "migrate --restart"
    case giveUp = "clean --all"
    case rollback
    /// Put the store back first; then resume, or give the run up.
    case putBack = "put it back"
  }

  /// Begin: a leftover goes first.
  case begin
  /// Go on from the newest checkpoint.
  case goOn
  /// Finish the cut-over and the removal, look at the store, and say what is there.
  case finish
  /// The same, then ask again.
  case finishFirst
  /// The cut-over was for another file: take back what it made, then continue from the newest checkpoint, which looks
  /// at the source.
  case cutOverAgain
  /// Remove all that the run made and no data depends on.
  case giveUp
  /// The same, then ask again.
  case giveUpFirst
  /// Look only: nothing is written.
  case look
  /// Leave it as it is, and say why.
  case keep
  /// There is nothing to do.
  case nothing
  /// Another process is at work: 21.
  case wait
  /// Refuse, and name the command that leads on.
  case refuse(WayOut)

  /// A word or two for the table.
  var text: String {
    switch self {
    case .begin: "begin"
    case .goOn: "go on"
    case .finish: "finish"
    case .finishFirst: "finish, ask again"
    case .cutOverAgain: "cut over again"
    case .giveUp: "give up"
    case .giveUpFirst: "give up, ask again"
    case .look: "look"
    case .keep: "keep"
    case .nothing: "nothing"
    case .wait: "21"
    case .refuse(let way): "refuse: \(way.rawValue)"
    }
  }
}
