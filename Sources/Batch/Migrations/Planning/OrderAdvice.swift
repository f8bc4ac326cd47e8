import CoreDataModel
import MappingModels
import RunSupport

/// The versions that a person may name in their order if no path leads to the target.
package struct OrderAdvice: Sendable, Equatable {
  package enum Reason: Sendable, Equatable {
    /// The target is older than the store.
    case back
    /// By the order that was given the target comes before the store's version.
    case turned(store: String, target: String)
    /// The order that was given does not have these versions.
    case missing([String])
    /// The model identifiers have another order than the names.
    case identifiers
    /// The order may be another one than was assumed: a list to change.
    case unknown
  }

  package let reason: Reason
  /// From the store's version to the target, as `--versions` takes them.
  package let versions: [String]

  /// Nil if no order leads from one version to the other. `successors` is the order that was assumed, and `list` the one
  /// that a person gave.
  init?(
    from source: ManagedObjectModel, to destination: ManagedObjectModel, library: ModelLibrary,
    mappings: [MappingModel], successors: [String: String]?, list: [String]? = nil
  ) {
    let (start, end, names) = (library.key(of: source), library.key(of: destination), library.names)
    func leads(_ places: [Int]) -> Bool {
      let list = VersionOrder.list(places.map { names[$0] })
      let found = try? VersionPath.find(
        from: source, to: destination, library: library, mappings: mappings, order: list)
      return found != nil
    }
    let assumed = VersionGraph(library: library, successors: successors)
    let identified = (try? VersionOrder.identifiers.successors(in: library)).map {
      VersionGraph(library: library, successors: $0)
    }
    if let list, let (missing, whole) = Self.completed(list, start: start, end: end, in: library), leads(whole) {
      (reason, versions) = (.missing(missing.map { names[$0] }), whole.map { names[$0] })
    } else if let places = assumed.chain(from: end, to: start) {
      guard leads(places.reversed()) else { return nil }
      let isGiven = list != nil
      reason = isGiven ? .turned(store: source.name, target: destination.name) : .back
      versions = places.reversed().map { names[$0] }
    } else if let places = identified?.chain(from: start, to: end), leads(places) {
      (reason, versions) = (.identifiers, places.map { names[$0] })
    } else if names.count > 2, let places = assumed.chain(from: start, to: end) {
      (reason, versions) = (.unknown, places.map { names[$0] })
    } else {
      return nil
    }
  }

  /// A list from the store's version to the target, and which of the two it lacked; nil if it has both.
  private static func completed(
    _ list: [String], start: String, end: String, in library: ModelLibrary
  ) -> (missing: [Int], whole: [Int])? {
    var places = list.compactMap { name in (try? library.target(named: name)).flatMap(library.position) }
    guard places.count == list.count, let first = library.keys.firstIndex(of: start),
      let last = library.keys.firstIndex(of: end)
    else { return nil }
    let missing = [first, last].filter { place in !places.contains { library.keys[$0] == library.keys[place] } }
    if missing.contains(first) { places.insert(first, at: 0) }
    if missing.contains(last) { places.append(last) }
    guard !missing.isEmpty, let from = places.firstIndex(where: { library.keys[$0] == start }),
      let to = places.firstIndex(where: { library.keys[$0] == end }), from < to
    else { return nil }
    return (missing, Array(places[from...to]))
  }
}
