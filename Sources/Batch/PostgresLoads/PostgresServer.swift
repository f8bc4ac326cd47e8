import MappingModels
import RunSupport

#if !PostgreSQL
  import RunSupport
#endif

extension PostgresServer {
  func connect() throws -> any PostgresSession {
    #if PostgreSQL
      return try LibpqSession(url)
    #else
      throw BatchError(
        .refused, "this program was built without PostgreSQL",
        hint: "Build it with --traits default,PostgreSQL, which takes libpq (Debian: libpq-dev)",
        effect: .nothingWritten)
    #endif
  }
}
