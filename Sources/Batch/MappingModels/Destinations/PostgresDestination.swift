/// Where a result goes that leaves SQLite.
public struct PostgresDestination: Sendable, Equatable {
  /// The server.
  public var server: PostgresServer
  /// How its tables are to be.
  public var options: PostgresOptions

  /// Names a server and how its tables are to be.
  public init(server: PostgresServer, options: PostgresOptions = PostgresOptions()) {
    (self.server, self.options) = (server, options)
  }
}

/// A server and its database, as libpq names them: `postgres://user@host:port/database`, or `host=… dbname=…`.
public struct PostgresServer: Sendable, Equatable {
  /// As a person gave it.
  public let url: String

  /// Names a server. Nothing is connected.
  public init(url: String) { self.url = url }

  /// What of it may be shown, for messages and files: host, port, database, user, and settings that are known to be
  /// harmless. Who gave a password there gives it again, or by PGPASSWORD or ~/.pgpass.
  public var withoutPassword: String {
    let shown = address.shown
    return shown.isEmpty ? "the server" : shown
  }

  package var address: PostgresAddress { PostgresAddress(url) }
}
