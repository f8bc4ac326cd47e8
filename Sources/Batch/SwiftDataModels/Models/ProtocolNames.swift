// What in an inheritance clause is a protocol.
extension TypeResolver {
  private static let greatestDepth = 16

  /// Whether a type is known to be a protocol: sources declare it as one, it is one of other modules that is known, or
  /// a person says so.
  func isProtocol(_ type: TypeName, in scope: Int?, at place: SourcePlace, depth: Int = 0) throws -> Bool {
    guard depth < Self.greatestDepth else { return false }
    if known.isProtocol(type) { return true }
    guard case .named(let names) = type else { return isMarked(type.text) }
    guard let found = try index.find(names, in: scope, at: place), !index.types[found].isExternal else {
      return KnownProtocols.contains(names)
    }
    let declared = index.types[found]
    guard let aliased = declared.declaration.aliased else { return declared.declaration.kind == .protocol }
    return try isProtocol(aliased, in: declared.parent, at: declared.place, depth: depth + 1)
  }

  /// `@unchecked Sendable`, `@preconcurrency P`, `~Copyable`, `A & B` of known protocols.
  private func isMarked(_ text: String) -> Bool {
    if text.hasPrefix("@") || text.hasPrefix("~") { return true }
    let parts = text.split(separator: "&")
    return parts.count > 1
      && parts.allSatisfy { part in
        let type = TypeName.named(part.split(separator: ".").map { $0.filter { !$0.isWhitespace } })
        return (try? isProtocol(type, in: nil, at: SourcePlace(path: "", line: 0))) ?? false
      }
  }
}
