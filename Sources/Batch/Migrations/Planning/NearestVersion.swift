import CoreDataModel
import CoreDataStore
import MappingModels
import RunSupport

/// The version that comes near to what a store holds, if none fits.
extension ModelLibrary {
  private static let mostCompared = 20

  /// A version that comes near to what a store holds.
  public struct Nearest: Sendable, Equatable {
    /// The version.
    public var model: ManagedObjectModel
    /// Entities that both have, but with different hashes; sorted.
    public var different: [String]
    /// Entities that only the store has; sorted.
    public var onlyInStore: [String]
    /// Entities that only the version has; sorted.
    public var onlyInModel: [String]
    /// What makes the store's own model this version; empty if the store carries none.
    public var edits: [ModelEdit] = []
  }

  /// The version with the fewest entities that differ, for a message; nil in an empty library. Of several the one with
  /// the fewest edits from `model`, the store's own.
  public func nearest(to hashes: [String: [UInt8]], like model: ManagedObjectModel? = nil) -> Nearest? {
    let all = versions.indices.map { position -> Nearest in
      let known = self.hashes[position]
      return Nearest(
        model: versions[position],
        different: known.filter { hashes[$0.key] != nil && hashes[$0.key] != $0.value }.keys.sorted(),
        onlyInStore: hashes.keys.filter { known[$0] == nil }.sorted(),
        onlyInModel: known.keys.filter { hashes[$0] == nil }.sorted())
    }
    // Of two that are equally near the later one: a store is rather new than old.
    let least = all.map(\.distance).min()
    var near = all.reversed().filter { $0.distance == least }
    guard let model else { return near.first }
    near = Array(near.prefix(Self.mostCompared))
    for index in near.indices { near[index].edits = ModelEdit.list(from: model, to: near[index].model) }
    return near.min { $0.edits.count < $1.edits.count }
  }

  /// The error for a store that no version fits: it names the nearest version and what differs; property by property if
  /// the store carries its own `model`.
  public func noModel(
    for hashes: [String: [UInt8]], like model: ManagedObjectModel? = nil, path: String? = nil
  ) -> BatchError {
    var message = "no version of the model fits the store"
    if let nearest = nearest(to: hashes, like: model) {
      message += "; the nearest is \(nearest.model.name)"
      message += nearest.edits.isEmpty ? nearest.entities : "; " + ModelEdit.text(nearest.edits)
    }
    return BatchError(.noModel, message, hint: "Supply the version that wrote the store. \(knownVersions)", path: path)
  }

  /// What a store is whose own model stands in for the version that is missing; nil if a version fits, or if there is no
  /// such model.
  func unknownVersion(_ reader: StoreReader) -> String? {
    let hashes = reader.metadata.versionHashes
    guard !versions.isEmpty, model(matching: hashes) == nil, let own = CachedModel(reader).model else { return nil }
    return noModel(for: hashes, like: own).message
  }
}

extension ModelLibrary.Nearest {
  fileprivate var distance: Int { different.count + onlyInStore.count + onlyInModel.count }

  /// Which entities differ, by their names.
  fileprivate var entities: String {
    [("differing", different), ("only in the store", onlyInStore), ("only in the version", onlyInModel)]
      .filter { !$0.1.isEmpty }.map { "; \($0): \($1.joined(separator: ", "))" }.joined()
  }
}
