#if PostgreSQL
  import Foundation
  import Synchronization
  import Testing

  @testable import MappingModels
  @testable import PostgresLoads

  /// The server that tests load into: `scripts/test` starts one where PostgreSQL is installed, and names it in
  /// GODWIT_POSTGRES.
  enum TestServer {
    static let url = ProcessInfo.processInfo.environment["GODWIT_POSTGRES"]

    static let isThere: ConditionTrait = .enabled(
      "GODWIT_POSTGRES names no server: `export GODWIT_POSTGRES=$(scripts/postgres-up)` starts one"
    ) { url != nil }

    static var server: PostgresServer { PostgresServer(url: url ?? "") }

    /// A schema of one's own, gone when the body ends.
    static func withSchema<R>(_ name: String, _ body: (any PostgresSession, String) throws -> R) throws -> R {
      let session = try LibpqSession(url ?? "")
      let schema = "test_\(name)_\(UInt32.random(in: 0 ... .max))"
      defer { try? session.execute("DROP SCHEMA IF EXISTS \(schema) CASCADE") }
      return try body(session, schema)
    }
  }

  /// A session that fails at a call, as if the connection were lost before it or behind it.
  final class FaultySession: PostgresSession {
    /// Counts calls over several sessions; the one at which it fails.
    final class Fuse: Sendable {
      private let state: Mutex<(calls: Int, fault: Int?)>
      let isBehind: Bool
      init(fault: Int?, isBehind: Bool) {
        state = Mutex((0, fault))
        self.isBehind = isBehind
      }

      var calls: Int { state.withLock { $0.calls } }
      /// Did it never come to that call?
      var isWhole: Bool { state.withLock { $0.fault != nil } }

      func blows() -> Bool {
        state.withLock { state in
          state.calls += 1
          guard state.calls == state.fault else { return false }
          state.fault = nil
          return true
        }
      }
    }

    private let inner: any PostgresSession
    private let fuse: Fuse

    init(_ inner: any PostgresSession, _ fuse: Fuse) { (self.inner, self.fuse) = (inner, fuse) }

    private func call<R>(_ body: () throws -> R) throws -> R {
      guard fuse.blows() else { return try body() }
      defer { inner.close() }
      if fuse.isBehind { _ = try body() }
      throw PostgresError(state: "", message: "the connection was cut by a test", isConnectionLost: true)
    }

    func execute(_ sql: String) throws { try call { try inner.execute(sql) } }
    func rows(_ sql: String) throws -> [[String?]] { try call { try inner.rows(sql) } }
    func beginCopy(_ sql: String) throws { try call { try inner.beginCopy(sql) } }
    func send(_ bytes: UnsafeRawBufferPointer) throws { try call { try inner.send(bytes) } }
    func endCopy() throws -> UInt64 { try call { try inner.endCopy() } }
    func copyOut(_ sql: String, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
      try call { try inner.copyOut(sql, body) }
    }
    func close() { inner.close() }
  }
#endif
