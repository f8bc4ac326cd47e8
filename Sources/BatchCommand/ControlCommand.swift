import ArgumentParser
import Batch
import Glibc

struct ControlCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ctl", abstract: "Pauses, throttles or stops a migration that another process runs.",
    discussion: """
      The path is that of the source or of the destination. What is asked is heeded within two seconds, and only by the process that \
      runs the migration now: one that resumes it begins without.
      """,
    subcommands: [PauseCommand.self, GoOnCommand.self, ThrottleCommand.self, StopCommand.self])
}

/// What all of them need.
protocol OrderCommand: StoreCommand {
  var store: String { get }
}

extension OrderCommand {
  var changed: String? { nil }

  fileprivate func order(_ text: String, _ change: (inout RunOrders) -> Void, until isDone: (JobStatus) -> Bool) throws {
    let job = MigrationJob(policies: GodwitCommand.policies)
    if try !job.orderLoad(store, change) { try job.order(store, change) }
    // A person wants to know that it was heeded.
    for _ in 0..<30 {
      usleep(100_000)
      let status = try StatusCommand.status(job, store)
      if status.state != .running || isDone(status) { return Console.print("\(store): \(text)") }
    }
    Console.print("\(store): asked; the process has not answered yet")
  }
}

struct PauseCommand: OrderCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause", abstract: "Holds the run up at its next page of rows. It keeps its locks.")
  @Argument(help: .run, completion: .store) var store: String

  func run() throws { try order("paused", { $0.paused = true }, until: { $0.progress?.paused == true }) }
}

struct GoOnCommand: OrderCommand {
  static let configuration = CommandConfiguration(commandName: "resume", abstract: "Lets a paused run go on.")
  @Argument(help: .run, completion: .store) var store: String

  func run() throws { try order("goes on", { $0.paused = false }, until: { $0.progress?.paused == false }) }
}

struct ThrottleCommand: OrderCommand {
  static let configuration = CommandConfiguration(
    commandName: "throttle", abstract: "Limits what the run writes or reads in a second.")
  @Argument(help: "50MB/s, 200krows/s, or none.", completion: .list(["none"])) var rate: String
  @Argument(help: .run, completion: .store) var store: String

  func validate() throws {
    guard rate == "none" || RunRate(rate) != nil else { throw ValidationError("a rate is 50MB/s, 200krows/s, or none") }
  }

  func run() throws {
    try order(rate == "none" ? "not throttled" : "throttled to \(rate)", { $0.throttle = rate }, until: { $0.progress != nil })
  }
}

struct StopCommand: OrderCommand {
  static let configuration = CommandConfiguration(
    commandName: "stop", abstract: "Has the run publish a checkpoint and end with 75, so that it can be resumed.")
  @Argument(help: .run, completion: .store) var store: String

  func run() throws { try order("stopped", { $0.stop = true }, until: { _ in false }) }
}
