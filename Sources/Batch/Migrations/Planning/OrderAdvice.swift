import CoreDataModel
import MappingModels
import RunSupport

/// The versions that a person may name in their order if no path leads to the target.
package struct OrderAdvice: Sendable, Equatable {
  package enum Reason: Sendable {
    /// The target is older than the store.
    case back
    /// The model identifiers have another order than the names.
    case identifiers
    /// The order may be another one than was assumed: a list to change.
    case unknown
  }

  package let reason: Reason
  /// From the store's version to the target, as `--versions` takes them.
  package let versions: [String]

  /// Nil if no order leads from one version to the other. `successors` is the order that was assumed.
  init?(
    from source: ManagedObjectModel, to destination: ManagedObjectModel, library: ModelLibrary,
    mappings: [MappingModel], successors: [String: String]?
  ) {
    let (start, end, names) = (library.hashes(of: source), library.hashes(of: destination), library.names)
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
    if let places = assumed.chain(from: end, to: start) {
      guard leads(places.reversed()) else { return nil }
      (reason, versions) = (.back, places.reversed().map { names[$0] })
    } else if let places = identified?.chain(from: start, to: end), leads(places) {
      (reason, versions) = (.identifiers, places.map { names[$0] })
    } else if let places = assumed.chain(from: start, to: end) {
      (reason, versions) = (.unknown, places.map { names[$0] })
    } else {
      return nil
    }
  }
}
