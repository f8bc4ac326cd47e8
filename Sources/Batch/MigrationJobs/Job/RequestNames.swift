import CoreDataModel
import Migrations
import RunSupport

/// The entities and properties that a request names have to be in some version of the model: a misspelt one would do
/// nothing, and nobody would notice.
struct RequestNames {
  private let versions: [ManagedObjectModel]

  init(_ library: ModelLibrary, store: ManagedObjectModel?) {
    versions = library.bundles.flatMap(\.versions) + [store].compactMap { $0 }
  }

  /// Throws `refused` with what may have been meant.
  func check(_ request: MigrationJob.Request) throws {
    try check(request.consent)
    for object in request.explains { try check(object.entity, option: "--explain") }
  }

  /// The same of what may be lost.
  func check(_ consent: LossConsent) throws {
    for name in consent.dropped.sorted() { try check(name, option: "--drop") }
  }

  private func check(_ path: String, option: String) throws {
    // An element of a composite has the attribute's name before it.
    let parts = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    let entities = Set(versions.flatMap { $0.entities.map(\.name) }).sorted()
    guard entities.contains(parts[0]) else {
      throw unknown(
        parts[0], of: option, "no version of the model has an entity", among: entities,
        called: "The entities are")
    }
    guard parts.count > 1 else { return }
    let properties = versions.filter { $0.entity(parts[0]) != nil }.flatMap { version in
      version.attributes(of: parts[0]).map(\.name) + version.relationships(of: parts[0]).map(\.name)
    }
    guard !properties.contains(parts[1]) else { return }
    throw unknown(
      parts[1], of: option, "no version of \(parts[0]) has a property", among: Set(properties).sorted(),
      called: "\(parts[0]) has")
  }

  private func unknown(_ name: String, of option: String, _ what: String, among known: [String], called list: String)
    -> BatchError
  {
    let near = NearName.question(name, in: known)
    let (some, rest) = (known.prefix(20).joined(separator: ", "), known.count > 20 ? " and others" : "")
    return BatchError(
      .refused, "\(option): \(what) \(name)\(near)", hint: "\(list) \(some)\(rest)", effect: .nothingWritten)
  }
}
