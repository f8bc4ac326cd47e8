/// A database that the result of a migration goes to, instead of a store. A case for each kind: the compiler names
/// every place that has to know a new one.
public enum LoadDestination: Sendable, Equatable {
  /// A server of PostgreSQL.
  case postgres(PostgresDestination)
  /// A file of ordinary tables.
  case plain(PlainDestination)

  /// The database and the place there, without secrets.
  public var place: String {
    switch self {
    case .postgres(let destination): "\(destination.server.withoutPassword), schema \(destination.options.schema)"
    case .plain(let destination): destination.path
    }
  }
}
