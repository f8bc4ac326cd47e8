#if PostgreSQL
  import Foundation
  import Glibc
  import Streams
  import Testing

  @testable import PostgresLoads
  @testable import RunSupport

  @Suite("Sessions of libpq") struct LibpqSessionTests {
    @Test(
      "The server is told to notice within a minute that a client is gone, and to end no statement for its length",
      TestServer.isThere)
    func settings() throws {
      let session = try LibpqSession(TestServer.url ?? "")
      try SessionSettings.apply(to: session)
      let names = [
        "synchronous_commit", "tcp_keepalives_idle", "tcp_keepalives_interval", "tcp_keepalives_count",
        "statement_timeout",
      ]
      let settings = names.map { "current_setting('\($0)')" }.joined(separator: ", ")
      #expect(try session.rows("SELECT \(settings)") == [["on", "20", "10", "3", "0"]])
    }

    @Test(
      "A connection that goes away is told from a statement that is refused, at whatever call", TestServer.isThere,
      arguments: 0..<5)
    func lost(call: Int) throws {
      let session = try LibpqSession(TestServer.url ?? "")
      if call > 0 {
        try session.execute("CREATE TEMPORARY TABLE taken (number integer)")
        try session.beginCopy("COPY taken FROM STDIN")
      }
      session.close()
      let error = #expect(throws: PostgresError.self) {
        let rows = [UInt8](repeating: 0x0A, count: 1 << 20)
        for _ in 0..<(call == 2 || call == 3 ? 8 : 0) { try rows.withUnsafeBytes(session.send) }
        if call == 4 { try rows[..<10].withUnsafeBytes(session.send) }
        if [1, 3, 4].contains(call) { _ = try session.endCopy() }
        try session.execute("SELECT 1")
      }
      #expect(error?.isPassing == true, "\(String(describing: error))")
    }

    @Test(
      "A server that says much and goes away, so that libpq still has something to read, is lost",
      arguments: [0, 100, 40_000, 200_000])
    func lastWords(bytes: Int) throws {
      let server = try DyingServer(bytes)
      let session = try LibpqSession("host=\(server.folder) user=u dbname=d gssencmode=disable")
      try SessionSettings.apply(to: session)
      #expect(server.end() == nil)
      let error = #expect(throws: PostgresError.self) { try session.execute("SELECT 1") }
      #expect(error?.isPassing == true && error?.isConnectionLost == true, "\(String(describing: error))")
    }
  }

  /// Takes one client by a socket in a folder, answers its first statements, then says so many bytes of notices and is
  /// gone.
  private final class DyingServer {
    let folder: String
    private let listener: Int32
    private let worker: Worker

    init(_ bytes: Int) throws {
      folder =
        FileManager.default.temporaryDirectory.appendingPathComponent("dying-\(UInt32.random(in: 0 ... .max))").path
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      let path = Array("\(folder)/.s.PGSQL.5432".utf8)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
      let isBound = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
      guard isBound == 0, listen(listener, 1) == 0 else { throw BatchError(.failed, "no socket in \(folder)") }
      self.listener = listener
      worker = try Worker { Self.serve(listener, bytes) }
    }

    private static func serve(_ listener: Int32, _ bytes: Int) {
      let client = accept(listener, nil, nil)
      defer { close(client) }
      var taken = [UInt8](repeating: 0, count: 1 << 16)
      _ = read(client, &taken, taken.count)
      var answer = message("R", [0, 0, 0, 0]) + message("Z", Array("I".utf8))
      _ = write(client, answer, answer.count)
      _ = read(client, &taken, taken.count)
      answer = message("C", Array("SET\0".utf8)) + message("Z", Array("I".utf8))
      // A session begins with two statements.
      _ = write(client, answer, answer.count)
      _ = read(client, &taken, taken.count)
      let notice = message("N", Array("SWARNING\0C57P02\0Mterminating\0\0".utf8))
      for _ in 0..<(bytes / notice.count) { answer += notice }
      _ = write(client, answer, answer.count)
    }

    /// Waits until it is gone.
    func end() -> (any Error)? {
      defer { try? FileManager.default.removeItem(atPath: folder) }
      let error = worker.join()
      close(listener)
      return error
    }

    private static func message(_ type: Character, _ body: [UInt8]) -> [UInt8] {
      let count = UInt32(body.count + 4)
      return [type.asciiValue ?? 0] + (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) } + body
    }
  }
#endif
