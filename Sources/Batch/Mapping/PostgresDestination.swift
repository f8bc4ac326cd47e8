import Foundation

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

  /// The same without a password, for messages and files. Who gave one there gives it again, or by PGPASSWORD or ~/.pgpass.
  public var withoutPassword: String {
    var text = url
    for (pattern, replacement) in Self.passwords {
      text = text.replacingOccurrences(of: pattern, with: replacement, options: [.regularExpression, .caseInsensitive])
    }
    return text
  }

  private static let passwords = [
    // user:password@ as libpq reads it, and what of a password follows an @ that is not escaped.
    ("^([a-z]+://[^:@/]*):[^@/]*@", "$1@"), ("^([a-z]+://[^:@/]*@)[^@/?]*@", "$1"),
    // One with a / that is not escaped, which libpq takes for the end of the host.
    ("^([a-z]+://[^:@/]*):[^@?]*/[^@?]*@", "$1@"),
    // ?password=…&
    ("([?&])(ssl)?password=[^&#]*&?", "$1"),
    // password=… among words
    ("(^|\\s)(ssl)?password\\s*=\\s*('([^'\\\\]|\\\\.)*'|[^\\s'](\\\\.|[^\\s\\\\])*)", "$1"),
  ]
}
