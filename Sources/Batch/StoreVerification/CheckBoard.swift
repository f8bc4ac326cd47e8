import RunSupport
import Streams
import Synchronization

/// One part of a verification, run on a connection of its own thread.
struct StoreCheck: Sendable {
  /// What is looked at, for progress.
  let name: String
  /// Its share of the work, in rows visited.
  let weight: Double
  let run: @Sendable (StoreConnection) throws -> CheckFindings
}

/// What one check found.
struct CheckFindings: Sendable {
  var violations: [Violation] = []
  var warnings: [Violation] = []
  /// The table that was walked, and its rows.
  var walked: (table: String, rows: UInt64)?
  /// Rows by entity name, for an entity table.
  var entityRows: [String: UInt64] = [:]
  /// By index name: the entries that the table asks for.
  var wanted: [String: EntrySum] = [:]
  /// By index name: the entries that there are.
  var found: [String: EntrySum] = [:]
  /// Values outside the store.
  var external: ExternalDataReport?

  /// Adds what occurred at all.
  mutating func add(_ violation: Violation, asWarning: Bool = false) {
    guard violation.count > 0 else { return }
    if asWarning { warnings.append(violation) } else { violations.append(violation) }
  }
}

/// Hands out checks to two threads, the heaviest first, and keeps what they find in the order of the checks, so that a
/// report does not depend on which thread was faster. Light ones are made on the caller's thread.
final class CheckBoard: Sendable {
  private struct State {
    var next = 0
    var done = 0.0
    var living = 0
    var findings: [CheckFindings?]
  }

  /// One thread is bound by SQLite's page reading, so the second halves the time; a third would only cost memory.
  private static let threads = 2
  /// Less than this, in rows, is not worth a thread.
  private static let leastWork = 8192.0

  private let path: String
  private let monitor: RunMonitor?
  /// Whether every cell of the file was found to lie within its page, so that SQLite need not look again at each page
  /// that it reads.
  private let knowsCells: Bool
  private let checks: [StoreCheck]
  private let order: [Int]
  private let total: Double
  private let state: Mutex<State>
  private let events = BoundedQueue<(Double, String)>(capacity: 16)

  init(path: String, checks: [StoreCheck], monitor: RunMonitor? = nil, knowsCells: Bool = false) {
    self.path = path
    self.knowsCells = knowsCells
    self.monitor = monitor
    self.checks = checks
    order = checks.indices.sorted {
      checks[$0].weight == checks[$1].weight ? $0 < $1 : checks[$0].weight > checks[$1].weight
    }
    total = max(1, checks.reduce(0) { $0 + $1.weight })
    state = Mutex(State(findings: Array(repeating: nil, count: checks.count)))
  }

  /// Runs all checks. `progress` is called on the caller's thread.
  func run(progress: (Double, String) -> Void) throws -> [CheckFindings] {
    guard total >= Self.leastWork else { return try runHere(progress) }
    state.withLock { $0.living = Self.threads }
    var workers: [Worker] = []
    for _ in 0..<Self.threads {
      do { workers.append(try Worker { try self.work() }) } catch { events.abort(error) }
    }
    var failure: (any Error)?
    do {
      // Two threads may hand in their ends in either order; what is shown never goes back.
      var shown = 0.0
      while let (fraction, name) = try events.pop() {
        shown = max(shown, fraction)
        progress(shown, name)
      }
    } catch {
      failure = error
    }
    for worker in workers { failure = failure ?? worker.join() }
    for worker in workers { _ = worker.join() }
    if let failure { throw failure }
    return state.withLock { $0.findings.map { $0 ?? CheckFindings() } }
  }

  private func runHere(_ progress: (Double, String) -> Void) throws -> [CheckFindings] {
    let connection = try connection()
    while let position = next() {
      let findings = try Self.findings(of: checks[position], on: connection)
      let done = state.withLock { state in
        state.findings[position] = findings
        state.done += checks[position].weight
        return state.done
      }
      progress(done / total, checks[position].name)
    }
    return state.withLock { $0.findings.map { $0 ?? CheckFindings() } }
  }

  private func connection() throws -> StoreConnection {
    let connection = try StoreConnection(path: path, monitor: monitor)
    if knowsCells { try connection.rows("PRAGMA cell_size_check = OFF") { _ in } }
    return connection
  }

  private func work() throws {
    do {
      let connection = try connection()
      while let position = next() {
        let check = checks[position]
        let findings = try Self.findings(of: check, on: connection)
        let done = state.withLock { state in
          state.findings[position] = findings
          state.done += check.weight
          return state.done
        }
        try events.push((done / total, check.name))
      }
    } catch {
      events.abort(error)
      throw error
    }
    let isLast = state.withLock { state in
      state.living -= 1
      return state.living == 0
    }
    if isLast { events.finish() }
  }

  private func next() -> Int? {
    state.withLock { state in
      guard state.next < order.count else { return nil }
      state.next += 1
      return order[state.next - 1]
    }
  }

  /// Damage that SQLite meets on the way is a finding like any other.
  static func findings(of check: StoreCheck, on connection: StoreConnection) throws -> CheckFindings {
    do {
      return try check.run(connection)
    } catch let failure as StoreFailure where failure.isDamage {
      let message = "\(check.name) cannot be read: \(failure.message)"
      return CheckFindings(violations: [Violation(kind: .damaged, message: message)])
    }
  }
}
