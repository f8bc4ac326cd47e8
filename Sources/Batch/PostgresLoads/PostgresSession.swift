/// A connection to a server of PostgreSQL, as a load needs it. One thread at a time.
protocol PostgresSession: AnyObject {
  /// Runs a statement that gives no rows. Throws ``PostgresError``.
  func execute(_ sql: String) throws
  /// Runs a query and gives its rows as text; nil for NULL. For a few rows.
  func rows(_ sql: String) throws -> [[String?]]
  /// Begins a COPY … FROM STDIN; pieces of its data follow, then ``endCopy()``.
  func beginCopy(_ sql: String) throws
  /// Sends a piece of the data.
  func send(_ bytes: UnsafeRawBufferPointer) throws
  /// Ends the data; returns how many rows the server says that it has taken. They are durable with their transaction.
  func endCopy() throws -> UInt64
  /// Runs a COPY … TO STDOUT and gives its data message by message.
  func copyOut(_ sql: String, _ body: (UnsafeRawBufferPointer) throws -> Void) throws
  /// Ends the connection, on any thread: a call that is under way on another one fails. What was not committed is
  /// undone by the server.
  func close()
}

/// What a server, or the way to it, has said.
struct PostgresError: Error, CustomStringConvertible {
  /// The code (PostgreSQL, Appendix A), empty where the connection itself failed.
  var state: String
  var message: String
  /// Whether the connection is gone, or never existed.
  var isConnectionLost: Bool

  var description: String { state.isEmpty ? message : "\(message) (\(state))" }

  /// Whether the same work may succeed a little later without anybody's help: the server restarts, or is full of
  /// others.
  var isPassing: Bool {
    isConnectionLost || ["57P01", "57P02", "57P03", "53300", "40001", "40P01", "55P03"].contains(state)
      || state.hasPrefix("08")
  }
  /// Whether the server is short of room: disk or memory.
  var isOutOfRoom: Bool { ["53100", "53200", "53000"].contains(state) }
}

/// What a load's session is like, whatever the URL, the user or the database have set.
enum SessionSettings {
  private static let all = [
    "client_encoding = 'UTF8'", "standard_conforming_strings = on", "timezone = 'UTC'", "statement_timeout = 0",
    "lock_timeout = '60s'",
    "idle_in_transaction_session_timeout = 0", "synchronous_commit = on",
    // A server that lost sight of a client would keep its lock for two hours.
    "tcp_keepalives_idle = 20", "tcp_keepalives_interval = 10", "tcp_keepalives_count = 3",
  ]

  static func apply(to session: any PostgresSession) throws {
    try session.execute(all.map { "SET \($0)" }.joined(separator: "; "))
    // Nor does it stay for long with a statement that nobody waits for, if it can look: from 14 on, not on all systems.
    _ = try? session.rows(
      "SELECT set_config(name, '5s', false) FROM pg_catalog.pg_settings WHERE name = 'client_connection_check_interval'"
    )
  }
}
