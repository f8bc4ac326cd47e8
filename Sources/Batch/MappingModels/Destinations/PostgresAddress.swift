import Foundation
import Streams

/// What an address of a server says, as libpq reads it: which parts may be shown, and which are secret.
///
/// Only what is known to be harmless is shown; all else counts as secret.
package struct PostgresAddress {
  /// Host, port, database, user and harmless settings, in a form that libpq takes; empty if there is none of these.
  package private(set) var shown = ""
  /// Passwords, and all parts that may belong to one, as they were written and as libpq decodes them.
  private(set) var secrets: [String] = []
  /// Whether libpq would take a part of a password for something else. Then it must not get the address: it would look
  /// up that part as a host.
  package private(set) var isAmbiguous = false

  package init(_ text: String) {
    if let scheme = Self.scheme(of: text) {
      takeURL(text.dropFirst(scheme.count + 3), scheme: scheme)
    } else if text.contains("=") {
      takeWords(text)
    } else if text.contains("@") || text.contains(":") {
      // An address without its beginning.
      takeURL(text[...], scheme: nil)
    } else {
      shown = text
    }
  }

  /// A text of others without what is secret. What the address shows anyway is left as it is.
  package func scrubbed(_ text: String) -> String {
    let names = Set(
      shown.split { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != "-" && $0 != "." }.map(String.init))
    let hidden = Set(secrets).filter { !$0.isEmpty && !names.contains($0) }.sorted { ($1.count, $0) < ($0.count, $1) }
    return hidden.reduce(text) { text, secret in
      guard secret.count < Self.shortest else { return text.replacing(secret, with: "***") }
      // A letter or two are part of many words.
      let pattern = "(?<![\\p{L}\\p{N}])\(NSRegularExpression.escapedPattern(for: secret))(?![\\p{L}\\p{N}])"
      return text.replacingOccurrences(of: pattern, with: "***", options: .regularExpression)
    }
  }

  private static let shortest = 4

  /// libpq's keywords whose values are no secrets.
  static let harmless: Set<String> = [
    "application_name", "channel_binding", "client_encoding", "connect_timeout", "dbname", "fallback_application_name",
    "gssdelegation", "gssencmode", "gsslib", "host", "hostaddr", "keepalives", "keepalives_count", "keepalives_idle",
    "keepalives_interval", "krbsrvname", "load_balance_hosts", "max_protocol_version", "min_protocol_version",
    "options",
    "passfile", "port", "replication", "require_auth", "requirepeer", "requiressl", "service", "ssl",
    "ssl_max_protocol_version",
    "ssl_min_protocol_version", "sslcert", "sslcertmode", "sslcompression", "sslcrl", "sslcrldir", "sslkey", "sslmode",
    "sslnegotiation", "sslrootcert", "sslsni", "target_session_attrs", "tcp_user_timeout", "user",
  ]
  /// Those with secrets.
  private static let guarded: Set<String> = [
    "password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key",
  ]

  private static func scheme(of text: String) -> String? {
    guard let mark = text.firstRange(of: "://") else { return nil }
    let scheme = text[..<mark.lowerBound]
    let isScheme = !scheme.isEmpty && scheme.utf8.allSatisfy { isPlain($0) || $0 == UInt8(ascii: "+") }
    return isScheme ? String(scheme) : nil
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "._-".utf8.contains(byte)
    }
  }

  private mutating func hide(_ part: some StringProtocol) {
    guard !part.isEmpty else { return }
    for text in [String(part), part.removingPercentEncoding ?? ""] where !text.isEmpty {
      secrets.append(text)
      // libpq may cut it at each of these.
      secrets += text.split { "@:/?#&=,".contains($0) }.map(String.init)
    }
  }
}

// postgres://user:password@host:port,host:port/database?key=value&key=value
extension PostgresAddress {
  private mutating func takeURL(_ rest: Substring, scheme: String?) {
    let (user, place, query) = split(rest)
    var text = ""
    if let user {
      let end = user.firstIndex { $0 == ":" || $0 == "@" } ?? user.endIndex
      if end < user.endIndex { hide(user[user.index(after: end)...]) }
      if user[..<end].contains(where: { "?=".contains($0) || $0.isWhitespace }) {
        isAmbiguous = true
        hide(user[..<end])
      } else {
        text += user[..<end] + "@"
      }
    }
    text += shownPlace(place)
    let settings = (query?.split(separator: "&") ?? []).compactMap { shownSetting($0) }
    if !settings.isEmpty { text += "?" + settings.joined(separator: "&") }
    shown = (scheme.map { "\($0)://" } ?? "") + text
  }

  /// libpq takes an @ before the first / for the end of user and password. One that comes later is in a password that
  /// is not escaped.
  private mutating func split(_ rest: Substring) -> (user: Substring?, place: Substring, query: Substring?) {
    let mark = rest.firstIndex { $0 == "@" || $0 == "/" }
    let at = mark.flatMap { rest[$0] == "@" ? $0 : nil }
    let place = at.map { rest[rest.index(after: $0)...] } ?? rest
    let question = place.firstIndex(of: "?")
    let query = question.map { place[place.index(after: $0)...] }
    let isQuery = query?.split(separator: "&").allSatisfy(Self.isSetting) ?? true
    let main = place[..<(question ?? place.endIndex)]
    guard let last = isQuery ? main.lastIndex(of: "@") : place.lastIndex(of: "@") else {
      return (at.map { rest[..<$0] }, main, query)
    }
    isAmbiguous = true
    let behind = isQuery ? place[place.index(after: last)...] : rest[rest.index(after: last)...]
    let next = behind.firstIndex(of: "?")
    return (
      rest[..<last], behind[..<(next ?? behind.endIndex)], next.map { behind[behind.index(after: $0)...] }
    )
  }

  private static func isSetting(_ text: Substring) -> Bool {
    guard let equals = text.firstIndex(of: "="), let key = text[..<equals].removingPercentEncoding else { return false }
    return harmless.contains(key) || guarded.contains(key)
  }

  private mutating func shownPlace(_ place: Substring) -> String {
    let slash = place.firstIndex(of: "/") ?? place.endIndex
    let isHost = place[..<slash].split(separator: ",", omittingEmptySubsequences: false).allSatisfy { host in
      var name = host
      if host.hasPrefix("["), let end = host.firstIndex(of: "]") {
        name = host[host.index(after: end)...]
        guard host[..<end].dropFirst().utf8.allSatisfy({ Self.isPlain($0) || ":%".utf8.contains($0) }) else {
          return false
        }
      }
      let parts = name.split(separator: ":", omittingEmptySubsequences: false)
      return parts.count <= 2
        && (parts.first ?? "").utf8.allSatisfy { Self.isPlain($0) || $0 == UInt8(ascii: "%") || $0 >= 0x80 }
        && parts.dropFirst().allSatisfy { $0.allSatisfy(\.isNumber) }
    }
    guard isHost else {
      // user:password without an @
      isAmbiguous = true
      let end = place.firstIndex(of: ":") ?? place.startIndex
      hide(place[end...].drop { $0 == ":" })
      return String(place[..<end])
    }
    return String(place)
  }

  private mutating func shownSetting(_ text: Substring) -> Substring? {
    let equals = text.firstIndex(of: "=") ?? text.endIndex
    let key = text[..<equals].removingPercentEncoding
    if let key, Self.harmless.contains(key), Self.isHarmless(text[equals...]) { return text }
    hide(equals < text.endIndex ? text[text.index(after: equals)...] : text)
    return nil
  }

  /// Whether a value is not an address with a password of its own.
  private static func isHarmless(_ value: some StringProtocol) -> Bool {
    let text = (value.removingPercentEncoding ?? String(value)).lowercased()
    return !text.contains("password") && !text.contains("://")
  }
}

// host=… password='…' dbname=…
extension PostgresAddress {
  private mutating func takeWords(_ text: String) {
    var rest = Substring(text)
    var words: [String] = []
    while let word = Self.nextWord(&rest) {
      if Self.harmless.contains(word.key), Self.isHarmless(word.value) {
        words.append("\(word.key)=\(Self.quoted(word.value))")
      } else {
        hide(word.value)
      }
    }
    // What cannot be read may be the end of a password.
    if !rest.isEmpty {
      isAmbiguous = true
      hide(rest)
      for piece in rest.split(whereSeparator: { $0.isWhitespace || $0 == "'" || $0 == "\\" }) { hide(piece) }
    }
    shown = words.joined(separator: " ")
  }

  /// Takes a word off the text, which stays as it is where libpq would take none.
  private static func nextWord(_ text: inout Substring) -> (key: String, value: String)? {
    text = text.drop(while: \.isWhitespace)
    let key = text.prefix { $0 != "=" && !$0.isWhitespace }
    var rest = text[key.endIndex...].drop(while: \.isWhitespace)
    guard !key.isEmpty, rest.popFirst() == "=" else { return nil }
    rest = rest.drop(while: \.isWhitespace)
    let isQuoted = rest.first == "'"
    if isQuoted { rest = rest.dropFirst() }
    var value = ""
    while let next = rest.first, isQuoted ? next != "'" : !next.isWhitespace {
      rest = rest.dropFirst()
      if next != "\\" { value.append(next) } else if let escaped = rest.popFirst() { value.append(escaped) }
    }
    guard !isQuoted || rest.popFirst() != nil else { return nil }
    text = rest
    return (String(key), value)
  }

  private static func quoted(_ value: String) -> String {
    let isPlain =
      !value.isEmpty && !value.unicodeScalars.contains { $0.properties.isWhitespace || $0 == "'" || $0 == "\\" }
    return isPlain ? value : "'" + value.replacing(["\\": "\\\\", "'": "\\'"]) + "'"
  }
}
