/// A few threads, the caller's among them, that share the work of several stages: each takes whatever stage can go on.
///
/// With a thread for each stage nearly every page puts one thread to sleep and wakes another, which the kernel may start
/// on the processor of the thread that woke it, while another processor idles. The threads of a crew sleep only when
/// there is nothing to do. A stage is the work of one thread at a time, and takes its elements in order.
public final class Crew: @unchecked Sendable {
  // Sendable: helpers are set once; the board guards everything else.
  let board = CrewBoard()
  private var helpers: [Worker] = []

  /// Starts `helpers` threads beside the caller's. They end with the crew.
  ///
  /// - Throws: ``StreamsError`` where a thread cannot be started.
  public init(helpers: Int) throws {
    do {
      for _ in 0..<helpers { self.helpers.append(try Worker { [board] in board.help() }) }
    } catch {
      end()
      throw error
    }
  }

  deinit { end() }

  private func end() {
    board.end()
    for helper in helpers { _ = helper.join() }
  }

  /// Threads that may work at the same time.
  var threads: Int { helpers.count + 1 }

  /// Does several things, of which the caller's thread does the first, and whoever has nothing else to do the others.
  /// On return all are done, and nobody works at any; those that were not begun before an error are left out. They may
  /// hand nothing on. For whoever works at a stage.
  ///
  /// - Throws: what one of them threw.
  func share(_ parts: [() throws -> Void]) throws {
    let shares = parts.dropFirst().map { CrewShare($0) }
    board.offer(shares)
    var failure: (any Error)?
    do { try parts.first?() } catch { failure = error }
    board.finish(shares, isNeeded: failure == nil)
    if let failure = failure ?? shares.lazy.compactMap(\.failure).first { throw failure }
  }

  /// Ends all work with an error, which every call throws from now on; the first one counts. On return nobody works any
  /// more.
  func fail(_ error: any Error) {
    board.fail(error)
    board.settle()
  }
}

/// A stage as its crew sees it. All calls but ``run()`` are made with the board locked.
protocol CrewWork: AnyObject {
  /// Whether there is something to do, nobody does it, and what comes of it has a place.
  var isReady: Bool { get }
  var isBusy: Bool { get }
  /// Takes what is to be done.
  func begin()
  func run() throws
  func end()
}

/// What the threads of a crew share: the stages, and what ended the work.
final class CrewBoard: @unchecked Sendable {
  // Sendable: all that changes is guarded by the lock.
  let lock = ThreadLock()
  private let changed = ThreadCondition()
  private var waiting = 0
  /// The last ones of a flow first: what has come far is finished first.
  private var stages: [any CrewWork] = []
  private var isEnding = false
  private(set) var failure: (any Error)?

  /// Wakes those who wait for work or for its end; the board is locked.
  func wake() { if waiting > 0 { lock.wake(changed) } }

  /// Waits until something was done or came; the board is locked.
  private func wait() {
    waiting += 1
    lock.wait(for: changed)
    waiting -= 1
  }

  /// What is added first is done first: of a flow that is the last stage.
  func add(_ stage: any CrewWork) { lock.locked { stages.append(stage) } }

  /// Takes a stage out when nobody works at it any more.
  func remove(_ stage: any CrewWork) {
    lock.locked {
      stages.removeAll { $0 === stage }
      while stage.isBusy { wait() }
    }
  }

  /// Takes in parts of what a thread does, ahead of all stages.
  func offer(_ shares: [CrewShare]) {
    lock.locked {
      stages.insert(contentsOf: shares, at: 0)
      wake()
    }
  }

  /// Takes them out, does those that nobody has begun unless there was an error, and waits for the others.
  func finish(_ shares: [CrewShare], isNeeded: Bool) {
    lock.locked {
      stages.removeAll { stage in shares.contains { $0 === stage } }
      for share in shares where share.isReady && isNeeded && shares.allSatisfy({ $0.failure == nil }) {
        share.begin()
        lock.unlocked { share.run() }
        share.end()
      }
      while shares.contains(where: \.isBusy) { wait() }
    }
  }

  func fail(_ error: any Error) {
    lock.locked {
      if failure == nil { failure = error }
      wake()
    }
  }

  func end() {
    lock.locked {
      isEnding = true
      wake()
    }
  }

  /// What a helper does until the crew ends.
  func help() {
    lock.locked {
      while !isEnding {
        if !performOne() { wait() }
      }
    }
  }

  /// Works, or waits while there is nothing to do, until `isDone` says so; gives what `result` takes then. Throws what
  /// ended the work.
  func work<R>(until isDone: () -> Bool, _ result: () -> R) throws -> R {
    try lock.locked {
      while true {
        if let failure { throw failure }
        if isDone() { return result() }
        if !performOne() { wait() }
      }
    }
  }

  /// Waits until nobody works at any stage: after an error nothing more is begun.
  func settle() {
    lock.locked { while stages.contains(where: { $0.isBusy }) { wait() } }
  }

  /// Works on one element of a stage that can go on; false where there is none. Locked at the beginning and at the end.
  private func performOne() -> Bool {
    guard failure == nil, let stage = stages.first(where: { $0.isReady }) else { return false }
    stage.begin()
    let thrown = lock.unlocked { () -> (any Error)? in
      do { try stage.run() } catch { return error }
      return nil
    }
    stage.end()
    if failure == nil { failure = thrown }
    wake()
    return true
  }
}
