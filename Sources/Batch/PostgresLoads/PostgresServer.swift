import Foundation
import MappingModels
import RunSupport

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

  /// The command that creates the database which the address names; nil if it names none.
  var creatingDatabase: AdvisedCommand? {
    let shown = address.shown
    let (place, name): (String, Substring)
    if let parts = shown.wholeMatch(of: /(.*:\/\/[^\/]*)\/([^?]+)(\?.*)?/) {
      (place, name) = ("\(parts.1)/postgres\(parts.3 ?? "")", parts.2)
    } else if let word = shown.firstMatch(of: /\bdbname=([^'\s]+)/) {
      (place, name) = ("\(shown) dbname=postgres", word.1)
    } else {
      return nil
    }
    let database = name.removingPercentEncoding ?? String(name)
    return AdvisedCommand(line: ShellWords.line(["createdb", "--maintenance-db=\(place)", database]))
  }
}
