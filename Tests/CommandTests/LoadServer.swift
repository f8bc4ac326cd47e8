#if PostgreSQL
  import Foundation
  import Glibc
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
    /// Begins a slow load of a store, and waits until its rows are being sent, or until its status has other words.
    func loading(
      _ program: String, _ store: String, _ words: [String], rate: String = "20krows/s", until phase: String = "loading"
    ) throws -> CommandProcess {
      let process = try CommandProcess(program, words + ["--checkpoint-every", "30kB", "--throttle", rate], in: self)
      while process.isRunning, !(try run(program, ["status", store]).output.contains(phase)) { usleep(10_000) }
      return process
    }

    /// Begins a load and kills it while rows are sent.
    func killed(_ program: String, _ store: String, _ words: [String], rate: String = "5krows/s") throws {
      let process = try loading(program, store, words, rate: rate)
      process.send(SIGKILL)
      #expect(try process.wait().code == 128 + SIGKILL)
    }

    /// Pastes commands one after the other, as a person does who has set the password.
    func follow(_ commands: [String]) throws {
      #expect(!commands.isEmpty)
      let programs = URL(fileURLWithPath: try CommandProcess.path(of: "godwit")).deletingLastPathComponent().path
      let launcher = ["/usr/bin/env", "PGPASSWORD=godwit", "PATH=\(programs):/usr/bin:/bin", "bash", "-c"]
      for command in commands {
        let done = try run("godwit", [], launcher: launcher + [command])
        #expect(done.code == 0, "\(command): \(done)")
      }
    }
  }

  extension CommandProcess.Outcome {
    /// The commands between backticks in what was printed.
    var commands: [String] {
      (output + error).split(separator: "`", omittingEmptySubsequences: false).enumerated()
        .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }
  }
#endif
