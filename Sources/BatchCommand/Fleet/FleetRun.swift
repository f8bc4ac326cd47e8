import ArgumentParser
import Batch
import Foundation
import Streams
import Synchronization

/// One task of a fleet: works off its own stores, then those of tasks that died.
final class FleetRun: Sendable {
  /// A store that is another's, as it was when it was first seen.
  private struct Watched {
    var number: Int
    var sign: FleetClaims.Sign
    var since: ContinuousClock.Instant
  }

  private struct Shared {
    var queue: ArraySlice<Int> = []
    var watched: [Watched] = []
    var results: [FleetStoreRun.Result] = []
    var total = 0
  }

  struct Summary: Encodable {
    var format = 1
    var plan: String
    var task: Int
    /// Those that this process worked on, in their order.
    var stores: [FleetStoreRun.Result]
    /// The task's stores that have ended, whoever worked on them, by how: `done`, `rejected`, `failed`.
    var ended: [String: Int]
    /// The task's stores that have not ended.
    var open: Int
    var seconds: Double
  }

  private let plan: FleetPlan
  private let state: FleetState
  private let task: Int
  private let jobs: Int
  private let patience: Double
  private let tells: Bool
  private let store: FleetStoreRun
  private let processes = StoreProcesses()
  private let shared = Mutex(Shared())

  /// `tells`: says every store's end on standard error. `options` are added to those of the plan.
  init(
    _ plan: FleetPlan, _ state: FleetState, task: Int, jobs: Int, patience: Double, tells: Bool, deadline: Date?,
    options: [String]
  ) {
    (self.plan, self.state, self.task, self.jobs, self.patience, self.tells) = (
      plan, state, task, jobs, patience, tells
    )
    store = FleetStoreRun(plan: plan, state: state, processes: processes, deadline: deadline, options: options)
  }

  /// Works until all is done that this task can do, or until it is stopped.
  func run() throws -> Summary {
    let started = ContinuousClock.now
    do {
      try state.create()
      try processes.withStopSignals(workOff)
    } catch let error where ExitCodes.code(of: error) == 1 {
      // Nothing that became of a store: whoever comes next may find the storage as it was.
      throw BatchError(
        .stopped, "the fleet's state cannot be used now", hint: "Start the task again", path: state.directory,
        cause: error)
    }
    let ends = try ends()
    let counts = FleetEnd.Outcome.allCases.map { outcome in (outcome.rawValue, ends.count { $0.outcome == outcome }) }
    return Summary(
      plan: plan.id, task: task, stores: shared.withLock(\.results), ended: Dictionary(uniqueKeysWithValues: counts),
      open: plan.shard(task).count - ends.count,
      seconds: ((ContinuousClock.now - started) / .milliseconds(1)).rounded() / 1000)
  }

  private func workOff() throws {
    let tasks = FleetTasks(state.claims, own: task, patience: patience)
    // Another process of the same task needs no sign of its own: stores have their claims.
    let sign = try tasks.signOfLife()
    defer {
      tasks.stop()
      sign?.release()
    }
    try work(off: plan.shard(task))
    // Once, and not until nobody is dead: a task that comes again does its own.
    try tasks.takeOverDead { if !processes.isStopped { try work(off: plan.shard($0)) } }
  }

  /// 75 as long as a store of the task has not ended; otherwise the worst code of those that failed: rejects are what
  /// was allowed.
  func code(_ summary: Summary) throws -> Int32 {
    guard summary.open == 0 else { return ExitCodes.stopped }
    return ExitCodes.worst(try ends().map { $0.outcome == .failed ? $0.exitCode : 0 })
  }

  /// How the task's stores have ended.
  private func ends() throws -> [FleetEnd] { try plan.shard(task).compactMap { try state.end($0) } }

  private func work(off numbers: [Int]) throws {
    let ended = try state.ended()
    let left = numbers.filter { !ended.contains($0) }
    guard !left.isEmpty else { return }
    shared.withLock { ($0.queue, $0.total) = (left[...], $0.total + left.count) }
    let workers = try Worker.startAny(
      Array(repeating: { while let number = self.next() { try self.attempt(number) } }, count: min(jobs, left.count)))
    for error in workers.map({ $0.join() }) { if let error { throw error } }
    try takeOverWatched()
  }

  private func next() -> Int? { processes.isStopped ? nil : shared.withLock { $0.queue.popFirst() } }

  /// Works on a store, if it can be claimed; else keeps an eye on it.
  private func attempt(_ number: Int) throws {
    let epoch = ((try? state.ledger(number))?.attempts.last?.epoch ?? 0) &+ 1
    switch try state.claims.take(FleetState.name(number), epoch: epoch) {
    case .taken(let claim): work(number, claim)
    case .held(let sign):
      shared.withLock { $0.watched.append(Watched(number: number, sign: sign, since: .now)) }
    }
  }

  private func work(_ number: Int, _ claim: FleetClaim) {
    defer { claim.release() }
    guard let result = store.run(number, claim) else { return }
    let (count, total) = shared.withLock { shared in
      shared.results.append(result)
      return (shared.results.count, shared.total)
    }
    guard tells else { return }
    let reason = result.reason.map { ": \($0)" } ?? ""
    Console.error(
      "[\(count)/\(total)] \(result.store): \(result.outcome)\(reason), \(Console.duration(result.seconds))")
  }

  /// Replaces owners on other machines that have given no sign of life since they were first seen.
  private func takeOverWatched() throws {
    while let next = shared.withLock({ $0.watched.isEmpty ? nil : $0.watched.removeFirst() }) {
      guard try isSilent(next, FleetState.name(next.number)), !processes.isStopped else { continue }
      let epoch = (try state.ledger(next.number).attempts.last?.epoch ?? 0) &+ 1
      if case .taken(let claim) = try state.claims.takeOver(FleetState.name(next.number), next.sign, epoch: epoch) {
        work(next.number, claim)
      }
    }
  }

  /// Waits until a sign would have come, and says whether none has. An owner that lives here, as the kernel says, is
  /// not waited for.
  private func isSilent(_ watched: Watched, _ name: String) throws -> Bool {
    if watched.sign.owner?.isOnThisMachine == true, try state.claims.isLocked(name) { return false }
    while ContinuousClock.now - watched.since < .seconds(patience) {
      guard !processes.isStopped, try state.claims.sign(name) == watched.sign else { return false }
      usleep(200_000)
    }
    return try state.claims.sign(name) == watched.sign
  }
}

struct FleetRunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Carries out one task of a plan: its stores, then those of tasks that died.",
    discussion: """
      The exit code is 0 if all stores of the task ended as done or rejected, 75 if one has not ended, and otherwise the worst code of \
      those that failed. A store that has ended is not touched again; an interrupted migration is resumed.
      """)

  @OptionGroup var fleet: FleetArguments
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Which task of the plan, as 0/4. Default: by SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX or AWS_BATCH_JOB_ARRAY_INDEX.",
      valueName: "task"))
  var shard: String?
  @Option(name: .long, help: .jobs) var jobs = 1
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Peak memory, for example 256M; at least \(ByteCount.leastMemory). Default: that of the plan.", valueName: "size"),
    transform: ByteCount.memory)
  var memory: ByteCount?
  @Option(name: .long, help: .workers) var workers: Int?
  @Option(name: .long, help: .deadline) var deadline: Deadline?
  @Option(name: .long, help: .maxRuntime) var maxRuntime: TimeSpan?
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Replace an owner on another machine after this many seconds without a sign of life.", valueName: "seconds"))
  var patience = Seconds(FleetClaims.patience)
  @Flag(name: .long, help: .json) var json = false
  @Flag(name: .long, help: .quiet) var quiet = false

  func validate() throws {
    guard jobs >= 1, workers ?? 1 >= 1 else { throw ValidationError("--jobs and --workers are 1 or more") }
    guard patience.number >= 3, patience.number < 1e6 else {
      throw ValidationError("--patience is 3 or more: a sign comes once a second")
    }
  }

  func run() throws {
    let (plan, state) = try fleet.open()
    let task = try FleetTask(shard: shard, tasks: plan.tasks, environment: ProcessInfo.processInfo.environment).index
    _ = try FleetMigrationOptions(of: plan, path: fleet.planPath)
    let end = [deadline?.date, maxRuntime.map { Date() + $0.seconds }].compactMap(\.self).min()
    let run = FleetRun(
      plan, state, task: task, jobs: jobs, patience: patience.number, tells: !quiet, deadline: end,
      options: (memory.map { ["--memory", "\($0.bytes)"] } ?? []) + (workers.map { ["--workers", "\($0)"] } ?? []))
    let summary = try run.run()
    if json { Console.print(try JSONOutput.text(summary)) } else if !quiet { Console.print(Self.text(summary, plan)) }
    let code = try run.code(summary)
    if code != 0 { throw ExitCode(code) }
  }

  private static func text(_ summary: FleetRun.Summary, _ plan: FleetPlan) -> String {
    let counts = FleetEnd.Outcome.allCases.map { "\(summary.ended[$0.rawValue] ?? 0) \($0)" }
    let all = (counts + ["\(summary.open) open"]).joined(separator: ", ")
    let own = Set(plan.shard(summary.task).map { plan.stores[$0].path })
    let now = summary.stores.count { $0.outcome != "open" && own.contains($0.store) }
    let before = summary.ended.values.reduce(0, +) - now
    return
      "task \(summary.task) of \(plan.tasks): \(all), in \(Console.duration(summary.seconds))"
      + (before == 0 ? "" : "; \(before) had ended before")
      + (summary.open == 0 ? "" : "; \(summary.open) of its stores have not ended: start the task again")
  }
}
