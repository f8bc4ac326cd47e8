import CoreDataModel
import RunSupport

/// Which version follows which, where no mapping model says so: inference goes from a version to the next one.
public enum VersionOrder: Sendable {
  /// Says which of the other versions of the library follows `current`; nil if none does. It is called once for every
  /// version when a migration is planned; a resumed run keeps the answers.
  public typealias Rule =
    @Sendable (_ current: ManagedObjectModel, _ candidates: [ManagedObjectModel]) throws -> ManagedObjectModel?

  /// The versions of a bundle by name, numbers compared by value.
  case names
  /// By the model identifiers that Xcode's inspector sets: `2` follows `1`, `Library 10` follows `Library 9`; within a
  /// bundle.
  case identifiers
  /// These versions, by `Version` or `Bundle/Version`. Without another target the last one is the version to reach.
  case list([String])
  /// By checksums (A.6): each version's with that of the version that follows. Of versions with one checksum all
  /// are meant, where they come first, and the first, where they follow.
  case successors([String: String])
  /// As the caller says.
  case rule(Rule)
  /// Stages: they alone say which versions are passed, and how.
  case stages(StagedMigration)

  /// Keys of versions, each with that of the version that follows (``ModelLibrary/placeKeys``); nil if the bundles or stages say it.
  ///
  /// Throws ``BatchError`` (`noModel`) if the order names a version that is not there, or is ambiguous.
  func successors(in library: ModelLibrary) throws -> [String: String]? {
    switch self {
    case .stages: nil
    case .names: library.isInOrderOfNames ? nil : Self.byBundle(library)
    case .successors(let successors): successors
    case .identifiers: try Self.byIdentifier(library)
    case .list(let names): try Self.chain(names, library)
    case .rule(let rule): try Self.byRule(rule, library)
    }
  }

  /// The stages, if there are any.
  package var stages: StagedMigration? {
    if case .stages(let staged) = self { staged } else { nil }
  }

  /// The list, if a person gave one.
  package var given: [String]? { if case .list(let names) = self { names } else { nil } }

  /// The order that a person gave, and all other versions; without one, those that are known.
  func knownVersions(in library: ModelLibrary) -> String {
    guard let given else { return library.knownVersions }
    let others = library.names.filter { name in
      library.version(named: name).map { !library.holds($0, in: given) } ?? false
    }
    return "The order that was given: \(ModelLibrary.list(given))"
      + (others.isEmpty ? "" : "; versions besides: \(ModelLibrary.list(others))")
  }

  private static func chain(_ names: [String], _ library: ModelLibrary) throws -> [String: String] {
    var (next, seen): ([String: String], Set<String>) = ([:], [])
    var last: ManagedObjectModel?
    for name in names {
      let version = try library.target(named: name)
      defer { last = version }
      // A version that changes nothing is the same place, from which its own names lead on.
      if let last, library.key(of: last) == library.key(of: version) { continue }
      guard seen.insert(library.key(of: version)).inserted else {
        throw BatchError(.noModel, "the list of versions comes back to \(name)", hint: "Name every version once")
      }
      if let last { next[library.placeKey(of: last)] = library.placeKey(of: version) }
    }
    return next
  }

  private static func byRule(_ rule: Rule, _ library: ModelLibrary) throws -> [String: String] {
    var next: [String: String] = [:]
    for (place, version) in library.versions.enumerated() {
      let candidates = zip(library.versions, library.keys).filter { $0.1 != library.keys[place] }.map(\.0)
      guard let found = try rule(version, candidates) else { continue }
      guard candidates.contains(found) else {
        throw BatchError(
          .noModel, "the rule says that \(found.name) follows \(version.name), which is none of the candidates",
          hint: library.knownVersions)
      }
      next[library.placeKeys[place]] = library.placeKey(of: found)
    }
    return next
  }

  /// The order that bundles have themselves: a migration plan in the sources of SwiftData says it, not the names.
  private static func byBundle(_ library: ModelLibrary) -> [String: String] {
    let pairs = library.bundles.flatMap { zip($0.versions, $0.versions.dropFirst()) }
      .filter { library.key(of: $0) != library.key(of: $1) }.map {
        (library.placeKey(of: $0), library.placeKey(of: $1))
      }
    return Dictionary(pairs) { first, _ in first }
  }

  private static func byIdentifier(_ library: ModelLibrary) throws -> [String: String] {
    var next: [String: String] = [:]
    for bundle in library.bundles {
      let numbered = bundle.versions.map { ($0, Set($0.versionIdentifiers.compactMap(NumberedIdentifier.init))) }
      for (version, identifiers) in numbered {
        let (key, wanted) = (library.key(of: version), Set(identifiers.compactMap(\.next)))
        let found = numbered.filter { !wanted.isDisjoint(with: $0.1) && library.key(of: $0.0) != key }.map(\.0)
        guard Set(found.map { library.key(of: $0) }).count < 2 else {
          throw BatchError(
            .noModel,
            "by their identifiers \(found.map(\.name).joined(separator: " and ")) both follow \(version.name)",
            hint: "Give every version an identifier of its own, or name the versions in their order", path: bundle.path)
        }
        if let first = found.first { next[library.placeKey(of: version)] = library.placeKey(of: first) }
      }
    }
    return next
  }
}

/// A model identifier that ends with a number.
private struct NumberedIdentifier: Hashable {
  let prefix: String
  let number: Int

  init(prefix: String, number: Int) { (self.prefix, self.number) = (prefix, number) }

  init?(_ identifier: String) {
    let digits = identifier.reversed().prefix { $0.isASCII && $0.isNumber }.count
    // A number too large for any counter is a text.
    guard digits > 0, let number = Int(identifier.suffix(digits)) else { return nil }
    self.init(prefix: String(identifier.dropLast(digits)), number: number)
  }

  var next: NumberedIdentifier? { number < .max ? NumberedIdentifier(prefix: prefix, number: number + 1) : nil }
}
