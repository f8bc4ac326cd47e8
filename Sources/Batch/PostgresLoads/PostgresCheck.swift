import Glibc
import MigrationJobs
import RunSupport
import Streams

/// What a server must be, before anything is asked of it.
struct PostgresCheck {
  let session: any PostgresSession
  let schema: String

  /// The least version: it has sha256().
  private static let leastVersion = 110_000

  func run() throws {
    let found = try session.rows(
      "SELECT current_setting('server_version_num'), current_setting('server_encoding'), current_setting('server_version')"
    )
    guard let row = found.first, row.count == 3, let version = row[0].flatMap({ Int($0) }) else {
      throw BatchError(
        .refused, "the server does not say which version it is", hint: "Is it PostgreSQL?", effect: .nothingWritten)
    }
    guard version >= Self.leastVersion else {
      throw BatchError(
        .refused, "the server is PostgreSQL \(row[2] ?? "")", hint: "It takes version 11 or later",
        effect: .nothingWritten)
    }
    guard row[1] == "UTF8" else {
      throw BatchError(
        .refused, "the database's encoding is \(row[1] ?? "unknown")",
        hint: "Texts of a store need a database in UTF8: CREATE DATABASE … ENCODING 'UTF8'", effect: .nothingWritten)
    }
    try lock()
  }

  /// One process at a time: the server keeps the lock as long as the session is there.
  private func lock() throws {
    let number = Int64(bitPattern: UInt64(JobRegistry.hex("godwit \(schema)"), radix: 16) ?? 0)
    // The session of a process that was killed may be there for a moment.
    for attempt in 0..<50 {
      if try session.rows("SELECT pg_try_advisory_lock(\(number))").first?.first == "t" { return }
      if attempt < 49 { usleep(100_000) }
    }
    throw BatchError(
      .leaseHeld, "another process loads into the schema \(schema) of this database",
      hint: "Wait for it to end; pg_stat_activity tells where it runs")
  }
}
