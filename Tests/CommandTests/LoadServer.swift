#if PostgreSQL
  import Foundation
  import Testing

  @testable import PostgresLoads

  /// The server that `scripts/test` starts where PostgreSQL is installed.
  enum LoadServer {
    private static let address = ProcessInfo.processInfo.environment["GODWIT_POSTGRES"]
    static let isThere: ConditionTrait = .enabled(
      "GODWIT_POSTGRES names no server: `export GODWIT_POSTGRES=$(scripts/postgres-up)` starts one"
    ) { address != nil }

    static var url: String { address ?? "" }

    /// A session, and the name of a schema that is gone when the body ends.
    static func withSchema(_ body: (any PostgresSession, String) throws -> Void) throws {
      let session = try LibpqSession(url)
      let schema = "command_\(UInt32.random(in: 0 ... .max))"
      defer { try? session.execute("DROP SCHEMA IF EXISTS \(schema) CASCADE") }
      try body(session, schema)
    }
  }

  extension CommandFolder {
    /// Begins a slow load of a store, and waits until its rows are being sent.
    func loading(_ program: String, _ store: String, _ words: [String], rate: String = "20krows/s") throws
      -> CommandProcess
    {
      let process = try CommandProcess(program, words + ["--checkpoint-every", "30kB", "--throttle", rate], in: self)
      while process.isRunning, !(try run(program, ["status", store]).output.contains("loading")) { usleep(10_000) }
      return process
    }
  }
#endif
