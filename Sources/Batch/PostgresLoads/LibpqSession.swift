import MappingModels
import RunSupport

#if PostgreSQL
  import CPostgreSQL
  import Glibc

  /// A connection by libpq.
  final class LibpqSession: PostgresSession {
    private let pq: Libpq
    private let connection: OpaquePointer
    /// A descriptor of its own for the connection's socket: libpq closes its one on its own thread.
    private let socket: Int32

    /// Connects. Throws ``PostgresError``, whose text has no part of a password, and `refused` for an address that
    /// cannot be read.
    init(_ url: String) throws {
      let address = PostgresAddress(url)
      guard !address.isAmbiguous else { throw Self.unreadable }
      let pq = try Libpq.loaded.get()
      guard let made = Self.open(url, pq) else {
        throw PostgresError(state: "", message: "no memory for a connection", isConnectionLost: true)
      }
      guard pq.PQstatus(made) == CONNECTION_OK else {
        let message = LibpqText.line(pq.PQerrorMessage(made))
        pq.PQfinish(made)
        guard !LibpqText.tellsOfAddress(message) else { throw Self.unreadable }
        let state = LibpqText.state(ofFailed: message)
        throw PostgresError(state: state, message: address.scrubbed(message), isConnectionLost: state.isEmpty)
      }
      (self.pq, connection, socket) = (pq, made, fcntl(pq.PQsocket(made), F_DUPFD_CLOEXEC, 0))
      // Notices would go to standard error.
      _ = pq.PQsetNoticeProcessor(made, { _, _ in }, nil)
    }

    /// A server that went away without a word is noticed within a minute. libpq takes the last of several settings: the
    /// URL's own win.
    private static func open(_ url: String, _ pq: Libpq) -> OpaquePointer? {
      let words = [
        ("application_name", ProgramName.current), ("connect_timeout", "10"), ("keepalives_idle", "20"),
        ("keepalives_interval", "10"), ("keepalives_count", "3"), ("tcp_user_timeout", "60000"), ("dbname", url),
      ]
      var (names, values) = (words.map { strdup($0.0) }, words.map { strdup($0.1) })
      defer { for text in names + values { free(text) } }
      names.append(nil)
      values.append(nil)
      return names.withUnsafeBufferPointer { names in
        values.withUnsafeBufferPointer { values in
          names.withMemoryRebound(to: UnsafePointer<CChar>?.self) { names in
            values.withMemoryRebound(to: UnsafePointer<CChar>?.self) {
              pq.PQconnectdbParams(names.baseAddress, $0.baseAddress, 1)
            }
          }
        }
      }
    }

    deinit {
      pq.PQfinish(connection)
      if socket >= 0 { Glibc.close(socket) }
    }

    func close() {
      // The server ends the transaction at once, and not when its next message cannot be sent.
      if socket >= 0 { shutdown(socket, Int32(SHUT_RDWR)) }
    }

    func execute(_ sql: String) throws { pq.PQclear(try run(sql)) }

    func rows(_ sql: String) throws -> [[String?]] {
      let result = try run(sql)
      defer { pq.PQclear(result) }
      return (0..<pq.PQntuples(result)).map { row in
        (0..<pq.PQnfields(result)).map { column in
          pq.PQgetisnull(result, row, column) == 1
            ? nil : pq.PQgetvalue(result, row, column).map { String(cString: $0) }
        }
      }
    }

    private func run(_ sql: String, wanting wanted: ExecStatusType? = nil) throws -> OpaquePointer? {
      let result = pq.PQexec(connection, sql)
      let status = pq.PQresultStatus(result)
      guard status == wanted ?? (status == PGRES_TUPLES_OK ? PGRES_TUPLES_OK : PGRES_COMMAND_OK) else {
        defer { pq.PQclear(result) }
        throw error(result)
      }
      return result
    }

    func beginCopy(_ sql: String) throws { pq.PQclear(try run(sql, wanting: PGRES_COPY_IN)) }

    func send(_ bytes: UnsafeRawBufferPointer) throws {
      guard let base = bytes.baseAddress, !bytes.isEmpty else { return }
      guard pq.PQputCopyData(connection, base.assumingMemoryBound(to: CChar.self), Int32(bytes.count)) == 1 else {
        throw endOfCopy()
      }
    }

    /// What the server said that made it take no more.
    private func endOfCopy() -> PostgresError {
      _ = pq.PQputCopyEnd(connection, "given up")
      let result = pq.PQgetResult(connection)
      defer { drain(result) }
      return error(result)
    }

    func endCopy() throws -> UInt64 {
      guard pq.PQputCopyEnd(connection, nil) == 1 else { throw error(nil) }
      let result = pq.PQgetResult(connection)
      defer { drain(result) }
      guard pq.PQresultStatus(result) == PGRES_COMMAND_OK else { throw error(result) }
      return pq.PQcmdTuples(result).flatMap { UInt64(String(cString: $0)) } ?? 0
    }

    func copyOut(_ sql: String, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
      pq.PQclear(try run(sql, wanting: PGRES_COPY_OUT))
      while true {
        var message: UnsafeMutablePointer<CChar>?
        let count = pq.PQgetCopyData(connection, &message, 0)
        guard count >= 0 else { break }
        defer { pq.PQfreemem(message) }
        try body(UnsafeRawBufferPointer(start: message, count: Int(count)))
      }
      let result = pq.PQgetResult(connection)
      defer { drain(result) }
      guard pq.PQresultStatus(result) == PGRES_COMMAND_OK else { throw error(result) }
    }

    /// A statement is over when it has no more results.
    private func drain(_ result: OpaquePointer?) {
      pq.PQclear(result)
      guard result != nil else { return }
      while let next = pq.PQgetResult(connection) { pq.PQclear(next) }
    }

    private func error(_ result: OpaquePointer?) -> PostgresError {
      // 'C', PG_DIAG_SQLSTATE: a macro of a character, which Swift does not see.
      let state = result.flatMap { pq.PQresultErrorField($0, 0x43) }.map { String(cString: $0) } ?? ""
      let primary = result.flatMap { pq.PQresultErrorField($0, 0x4D) }.map { String(cString: $0) }
      // Values that come twice are user data: the constraint's name is enough.
      let detail =
        state == "23505"
        ? "" : result.flatMap { pq.PQresultErrorField($0, 0x44) }.map { ": \(String(cString: $0))" } ?? ""
      let message = primary.map { $0 + detail } ?? LibpqText.line(pq.PQerrorMessage(connection))
      // What has no code was not said by the server. libpq calls a connection good that it could not write to, while
      // there is something to read.
      let isLost = state.isEmpty || pq.PQstatus(connection) != CONNECTION_OK
      return PostgresError(state: state, message: message, isConnectionLost: isLost)
    }

    private static var unreadable: BatchError {
      BatchError(
        .refused, "the address of the server cannot be read",
        hint:
          "Write it as postgres://USER@HOST:PORT/DATABASE, and give the password by PGPASSWORD; within the address /, @, :, % and ? "
          + "of a password are written %2F, %40, %3A, %25 and %3F", effect: .nothingWritten)
    }
  }
#endif
