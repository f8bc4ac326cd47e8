import ArgumentParser
import Batch
import Glibc

struct ControlCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ctl", abstract: "Pauses, resumes, throttles or stops a migration that another process runs.",
    discussion: """
      Name the source or the destination. The process that runs the migration obeys within two seconds. A process that resumes the \
      migration later starts without these settings.
      """,
    subcommands: [PauseCommand.self, GoOnCommand.self, ThrottleCommand.self, StopCommand.self])
}

/// What all of them need.
protocol OrderCommand: StoreCommand {
  var store: String? { get }
  var manifest: String? { get }
}

extension OrderCommand {
  var changed: String? { nil }

  fileprivate func check() throws {
    guard (store == nil) != (manifest == nil) else {
      throw ValidationError("Name a store, or a list of stores with --manifest")
    }
  }

  /// Tells the process of the store, or that of the list. `ended` says what it means that the run has ended since.
  fileprivate func order(
    _ text: String, to list: ListOrders.Order, _ change: (inout RunOrders) -> Void, until isDone: (JobStatus) -> Bool,
    ended: (StandingDocument) throws -> String? = { _ in nil }
  ) throws {
    guard let store else { return try give(list, text) }
    let job = MigrationJob(policies: Program.policies)
    do {
      if try !job.orderImport(store, change), try !job.orderLoad(store, change) { try job.order(store, change) }
    } catch let error as BatchError where error.code == .refused {
      if try StoreLook.status(job, store).state == .none { try MissingStore.refuse(store) }
      throw error
    }
    // A person wants to know that it was heeded; on a busy machine that takes longer than the two seconds.
    for _ in 0..<60 {
      usleep(100_000)
      let status = try StoreLook.status(job, store)
      if isDone(status) { return Console.print("\(store): \(text)") }
      guard status.state != .running else { continue }
      return Console.print("\(store): \(try ended(StandingDocument(status, of: store, by: job)) ?? text)")
    }
    Console.print("\(store): the order is given, but the process has not answered yet")
  }

  private func give(_ order: ListOrders.Order, _ text: String) throws {
    let list = try Manifest(path: manifest ?? "")
    let isTaken = try ListOrders(list).give(order, to: list)
    Console.print("\(list.path): \(isTaken ? text : "the order is given, but the process has not answered yet")")
  }
}

struct PauseCommand: OrderCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause", abstract: "Pauses the run at its next page of rows. The run keeps its locks.")
  @Argument(help: .run, completion: .store) var store: String?
  @Option(name: .long, help: .manifest, completion: .file()) var manifest: String?

  func validate() throws { try check() }
  func run() throws {
    try order("paused", to: .pause, { $0.paused = true }, until: { $0.progress?.paused == true }) { _ in
      let look = ProgramName.command("status", store ?? "")
      throw BatchError(
        .refused, "the run ended before it could be paused", hint: "\(look) tells how it is", next: [look.line],
        path: store)
    }
  }
}

struct GoOnCommand: OrderCommand {
  static let configuration = CommandConfiguration(commandName: "resume", abstract: "Resumes a paused run.")
  @Argument(help: .run, completion: .store) var store: String?
  @Option(name: .long, help: .manifest, completion: .file()) var manifest: String?

  func validate() throws { try check() }
  func run() throws {
    try order("resumed", to: .resume, { $0.paused = false }, until: { $0.progress?.paused == false })
  }
}

struct ThrottleCommand: OrderCommand {
  static let configuration = CommandConfiguration(
    commandName: "throttle", abstract: "Limits how much the run writes or reads per second.")
  @Argument(help: "50MB/s, 200krows/s, or none.", completion: .list(["none"])) var rate: String
  @Argument(help: .run, completion: .store) var store: String?
  @Option(name: .long, help: .manifest, completion: .file()) var manifest: String?

  func validate() throws {
    try check()
    guard rate == "none" || RunRate(rate) != nil else { throw ValidationError("a rate is 50MB/s, 200krows/s, or none") }
  }

  func run() throws {
    try order(
      rate == "none" ? "not throttled" : "throttled to \(rate)", to: .throttle(rate), { $0.throttle = rate },
      until: { $0.progress != nil })
  }
}

struct StopCommand: OrderCommand {
  static let configuration = CommandConfiguration(
    commandName: "stop", abstract: "Stops the run with a checkpoint, so that it can be resumed. Its exit code is 75.")
  @Argument(help: .run, completion: .store) var store: String?
  @Option(name: .long, help: .manifest, completion: .file()) var manifest: String?

  func validate() throws { try check() }
  func run() throws {
    try order("stopped", to: .stop, { $0.stop = true }, until: { _ in false }) {
      [.done, .rejects].contains($0.standing) ? "it was done before the stop reached it" : nil
    }
  }
}
