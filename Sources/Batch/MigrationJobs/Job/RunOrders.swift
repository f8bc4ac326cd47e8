import Foundation
import Glibc
import RunSupport
import Streams

/// What others ask of the process that runs a job: a small file in its directory, `control.json`. Layout: FORMAT.md,
/// section 8.
///
/// Orders are for that process alone: the next one removes the file with its lease, and begins without.
public struct RunOrders: Sendable, Codable, Equatable {
  /// The layout.
  public var format = 1
  /// Whether the run has to wait.
  public var paused = false
  /// A limit, as ``RunRate`` reads it; nil for the run's own, `none` for none.
  public var throttle: String?
  /// Whether the run has to stop, so that it can be resumed.
  public var stop = false

  /// Nothing.
  public init() {}

  /// What a file asks for; nil if there is none, or one that is not this user's own regular file, or means nothing.
  static func read(_ job: JobDirectory) -> RunOrders? {
    let files = LocalFileSystem()
    guard let status = try? files.statusOfName(job.control), status.mode & S_IFMT == S_IFREG, status.owner == geteuid(),
      let bytes = try? files.readAll(job.control, cap: 4096),
      let orders = try? JSONDecoder().decode(RunOrders.self, from: Data(bytes)), orders.format == 1
    else { return nil }
    return orders
  }

  func write(to job: JobDirectory) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    let bytes = [UInt8](try encoder.encode(self))
    let (files, temporary) = (LocalFileSystem(), job.control + ".new")
    // A link that waits under the temporary name is not followed, but refused by the open.
    try files.writeAndSync(bytes, to: temporary)
    try files.rename(temporary, to: job.control)
  }
}

/// What a process is at that orders are given to.
package enum OrderedRun { case migration, importing }

extension MigrationJob {
  /// Changes what is asked of the process that runs a store's migration, found by its source or its destination. It is
  /// heeded within two seconds.
  ///
  /// - Throws: ``BatchError``: `refused` if no process runs one on this machine or elsewhere.
  public func order(_ path: String, _ change: (inout RunOrders) -> Void) throws {
    try BatchError.border {
      guard let job = try JobRegistry(fileSystem).find(path) else { throw nobodyWorks(on: path) }
      try order(job, path: path, change: change)
    }
  }

  package func order(_ job: JobDirectory, path: String, change: (inout RunOrders) -> Void) throws {
    try order(job, path: path, of: .migration, change: change)
  }

  package func order(
    _ job: JobDirectory, path: String, of work: OrderedRun, change: (inout RunOrders) -> Void
  ) throws {
    guard try waitsForWork(on: job) else { throw nobodyWorks(on: path, job, work) }
    var orders = RunOrders.read(job) ?? RunOrders()
    change(&orders)
    let written = Result { try orders.write(to: job) }
    // The run may have ended meanwhile, and its directory with it: nobody heeds an order then, and a stop has nothing
    // to do.
    guard try isWorking(on: job) else {
      if orders.stop { return }
      throw nobodyWorks(on: path, nil, work)
    }
    try written.get()
  }

  private func isWorking(on job: JobDirectory) throws -> Bool {
    guard case .live = try Lease.inspect(job, fileSystem) else { return false }
    return try fileSystem.status(job.plan) != nil
  }

  /// A run has its lease before it has its plan: that one is waited for.
  private func waitsForWork(on job: JobDirectory) throws -> Bool {
    for _ in 0..<Self.mostWaits {
      if try isWorking(on: job) { return true }
      guard case .live = try Lease.inspect(job, fileSystem) else { return false }
      usleep(50_000)
    }
    return false
  }

  private static let mostWaits = 60

  private func nobodyWorks(
    on path: String, _ job: JobDirectory? = nil, _ work: OrderedRun = .migration
  ) -> BatchError {
    let look = ProgramName.command("status", path)
    if let job, case .live(let owner)? = try? Lease.inspect(job, fileSystem) {
      let who = owner.map { "process \($0.pid) on \($0.host)" } ?? "another process"
      return BatchError(
        .refused, "\(who) has this store, and does not \(work == .migration ? "migrate it" : "import") yet",
        hint: "Try again in a moment; \(look) tells how it is. The order was given to nobody", next: [look.line],
        path: path)
    }
    return BatchError(
      .refused,
      "no process \(work == .migration ? "migrates this store" : "imports into this path") just now",
      hint: "\(look) tells how it is; the order was given to nobody",
      next: [look.line], path: path)
  }
}
