/// The URIs of objects, `x-coredata://UUID/Entity/p7`. All that an import reads name one store.
final class ImportURIs {
  private static let scheme = "x-coredata://"

  /// The UUID in the URIs of the lines before.
  var store: String?
  /// The same with that of the line at hand, which may turn out to be wrong.
  private var found: String?

  /// A line begins.
  func begin() { found = store }

  /// The line at hand is taken.
  func take() { store = found }

  /// The entity and the key of a URI. Throws ``ImportProblem``.
  func read(_ uri: String) throws -> (entity: String, key: Int64) {
    let parts = uri.hasPrefix(Self.scheme) ? uri.dropFirst(Self.scheme.count).split(separator: "/") : []
    guard parts.count >= 3, let last = parts.last, last.first == "p",
      let key = Int64(last.dropFirst()), key > 0, last == "p\(key)"
    else { throw ImportProblem("\(uri.prefix(80)) is no URI of an object: \(Self.scheme)UUID/Entity/p7") }
    let uuid = parts.dropLast(2).joined(separator: "/")
    if let found, found.lowercased() != uuid.lowercased() {
      throw ImportProblem(
        "the URI is of the store \(uuid.prefix(40)), and those before are of \(found.prefix(40)): "
          + "leave the URIs out of objects of several stores")
    }
    found = found ?? uuid
    return (String(parts[parts.count - 2]), key)
  }

  /// What stands before the number in the URIs of an entity's objects; nil as long as no URI was read.
  func prefix(_ entity: String) -> [UInt8]? {
    store.map { Array("\(Self.scheme)\($0)/\(entity)/p".utf8) }
  }
}
