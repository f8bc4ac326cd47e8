#if PostgreSQL
  import Foundation

  /// What libpq says of a connection that did not come about. It has no codes for that, SQLSTATE comes with the results
  /// of statements alone: this is the one place that reads the text of an error. A server that speaks another language
  /// is one that cannot be reached.
  enum LibpqText {
    /// The text in one line, without its stop.
    static func line(_ message: UnsafePointer<CChar>?) -> String {
      let lines = message.map { String(cString: $0) }?.split(whereSeparator: \.isNewline) ?? []
      let text = lines.map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " ")
      return text.hasSuffix(".") ? String(text.dropLast()) : text
    }

    /// Whether it is about an address that libpq cannot read: then parts of it are in the text, and a password may be
    /// among them.
    static func tellsOfAddress(_ message: String) -> Bool {
      let signs = [
        "percent-encoded", "invalid integer value", "invalid port number", " in URI", "connection info string",
        "query parameter",
        "quoted string", "IPv6", "invalid connection option",
      ]
      return signs.contains(where: message.contains)
    }

    /// The SQLSTATE that a server would give for it; empty for a connection that failed by itself.
    static func state(ofFailed message: String) -> String {
      if message.contains("password authentication failed") || message.contains("no password supplied") {
        return "28P01"
      }
      if message.contains("no pg_hba.conf entry") { return "28000" }
      if message.contains("role \"") && message.contains("does not exist") { return "28000" }
      if message.contains("database \"") && message.contains("does not exist") { return "3D000" }
      if message.contains("starting up") || message.contains("shutting down") { return "57P03" }
      return ""
    }
  }
#endif
