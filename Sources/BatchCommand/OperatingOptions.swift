import ArgumentParser
import Batch
import Foundation
import Glibc

/// How a run is watched and controlled: the same for one that begins and one that is resumed.
struct OperatingOptions: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp("How to show progress on standard error: auto, bar, lines, json or none.", valueName: "mode"))
  var progress = ProgressMode.auto
  @Option(name: .long, help: .deadline) var deadline: Deadline?
  @Option(name: .long, help: .maxRuntime) var maxRuntime: TimeSpan?
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Write at most this many bytes per second (50MB/s), or read at most this many rows (200krows/s).",
      valueName: "rate"))
  var throttle: RunRate?
  @Flag(name: .long, help: "Work less while other programs need the machine.") var nice = false
  @Option(name: .long, help: .workers) var workers: Int?
  @Option(
    name: .long,
    help: ArgumentHelp(
      "A command to run at each phase, which GODWIT_PHASE names; it is run without a shell.", valueName: "command"))
  var onPhase: String?
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Make the new store, but put it in place only when this file is gone. Until then the old store stays locked, and a list makes no more stores than --jobs says.",
      valueName: "path"),
    completion: .file())
  var postponeCutOver: String?
  @Flag(name: .long, help: .quiet) var quiet = false
  @Flag(name: .long, help: "Print the summary as JSON, and progress as JSON lines on standard error.") var json = false

  /// Leave the account out of the summary, for a list that does not print it.
  @Flag(name: .long, help: .hidden) var brief = false

  var progressMode: ProgressMode { quiet && progress == .auto ? .none : progress.resolved(json: json) }

  func validate() throws {
    if let onPhase, (ShellLine(onPhase).whole ?? []).isEmpty {
      throw ValidationError("the command \(onPhase) has no words, or a quotation mark without a second one")
    }
    if let workers, workers < 1 { throw ValidationError("--workers is 1 or more") }
    if let deadline, deadline.date <= Date() { throw ValidationError("--deadline \(deadline.text) is over") }
  }

  /// When all has to have ended; nil for no such time.
  var end: Date? { [deadline?.date, maxRuntime.map { Date() + $0.seconds }].compactMap { $0 }.min() }

  /// What is done on the way of a store's run.
  func hooks(_ store: String) -> RunHooks {
    RunHooks { [onPhase] phase in
      let variables = ["GODWIT_PHASE": phase.rawValue, "GODWIT_STORE": store]
      guard let onPhase, let failure = Hook.run(onPhase, variables) else { return }
      // What is done is done.
      guard phase != .afterCutOver else { return Console.error("\(failure); the store is migrated") }
      // A run does not remember the command.
      let resume = ProgramName.command(["resume", store, "--on-phase", onPhase])
      throw BatchError(
        .stopped, "\(failure) at the phase \(phase.rawValue)", hint: "Correct it, and go on with \(resume)",
        next: [resume.line], path: store)
    }
  }

  /// Applies them to a run; `started` is when the process began with it.
  func apply(to monitor: RunMonitor, started: Date) {
    monitor.throttle(throttle)
    if nice {
      setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
      monitor.giveWay(to: SystemLoad())
    }
    let times = [
      deadline.map { ($0.date, "the deadline \($0.text) is near") },
      maxRuntime.map { (started + $0.seconds, "the limit of \(Console.duration($0.seconds)) is near") },
    ].compactMap { $0 }
    guard let (date, what) = times.min(by: { $0.0 < $1.0 }) else { return }
    monitor.stop(at: date - Self.margin(date.timeIntervalSince(started)), what)
  }

  /// Seconds for the last checkpoint: a stop takes one or two where the disk is slow, and the run looks at the clock
  /// twice a second.
  static func margin(_ seconds: Double) -> Double { min(10, max(0, seconds) / 4) }
}

/// The processors that this process may run on.
enum Processors {
  /// Takes all but `count` of them away from this thread and those that it will start: the one that it runs on stays,
  /// and those after it. The kernel chose that one because it had least to do, so processes that are started side by
  /// side do not all take the first.
  static func limit(to count: Int) {
    var mask = [UInt8](repeating: 0, count: 1024)
    let call = dlsym(nil, "sched_getaffinity"), set = dlsym(nil, "sched_setaffinity")
    typealias Affinity = @convention(c) (Int32, Int, UnsafeMutableRawPointer) -> Int32
    guard let call, let set, unsafeBitCast(call, to: Affinity.self)(0, mask.count, &mask) >= 0 else { return }
    let all = (0..<mask.count * 8).filter { mask[$0 / 8] & 1 << ($0 % 8) != 0 }
    let own = dlsym(nil, "sched_getcpu").map { Int(unsafeBitCast($0, to: (@convention(c) () -> Int32).self)()) } ?? 0
    let first = all.firstIndex { $0 >= own } ?? 0
    for processor in (all[first...] + all[..<first]).dropFirst(count) { mask[processor / 8] &= ~(1 << (processor % 8)) }
    _ = unsafeBitCast(set, to: Affinity.self)(0, mask.count, &mask)
  }
}
