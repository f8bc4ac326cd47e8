import CoreDataModel
import CoreDataStore
import MappingModels

/// Which version of its model a store has; where none fits, the nearest one and what differs. Read-only.
public struct StoreIdentification: Sendable, Codable {
  /// A version of a bundle.
  public struct Version: Sendable, Codable {
    /// The version's name.
    public var name: String
    /// The bundle's name.
    public var bundle: String
    /// The bundle's path.
    public var path: String
  }

  /// An entity in which store and version differ.
  public struct Difference: Sendable, Codable {
    /// How they differ.
    public enum Kind: String, Sendable, Codable {
      /// Both have the entity, with different version hashes.
      case hash
      /// The hashes are equal, but the tables are not as the version asks for.
      case tables
      /// Only the store has it.
      case onlyInStore = "only-in-store"
      /// Only the version has it.
      case onlyInVersion = "only-in-version"
    }
    /// The entity.
    public var entity: String
    /// How they differ.
    public var kind: Kind
    /// Properties of the version for which the store has no column or join table.
    public var missing: [String] = []
    /// Attributes whose column has another type, as `pages: VARCHAR instead of INTEGER`.
    public var retyped: [String] = []
  }

  /// The store's path.
  public var path: String
  /// NSStoreModelVersionIdentifiers.
  public var versionIdentifiers: [String]
  /// The checksum of the store's hashes (A.6).
  public var versionChecksum: String
  /// The versions whose hashes are the store's; empty when none fits.
  public var versions: [Version]
  /// The version with the fewest entities that differ; nil when one fits.
  public var nearest: Version?
  /// What makes the store's own model the nearest version, as somebody seems to have edited it since; empty if one fits
  /// or the store carries no model.
  public var edits: [ModelEdit] = []
  /// What differs from the version that fits, or from the nearest one; by entity.
  public var differences: [Difference]
  /// Columns in the tables of entities that differ which the version does not know, as `ZBOOK.ZISBN VARCHAR`.
  public var unknownColumns: [String]

  /// Looks for the store's version in a library.
  public init(_ reader: StoreReader, in library: ModelLibrary) {
    let hashes = reader.metadata.versionHashes
    path = reader.path
    versionIdentifiers = reader.metadata.versionIdentifiers
    versionChecksum = ManagedObjectModel.versionChecksum(hashes)
    let known = Self.known(library)
    versions = known.indices.filter { library.hashes[$0] == hashes }.map { known[$0] }
    (differences, unknownColumns) = ([], [])
    if let model = library.model(matching: hashes) {
      compareTables(reader, model, entities: model.entities.map(\.name), kind: .tables)
      differences.removeAll { $0.missing.isEmpty && $0.retyped.isEmpty }
      if differences.isEmpty { unknownColumns = [] }
      return
    }
    guard let found = library.nearest(to: hashes, like: CachedModel(reader).model) else { return }
    edits = found.edits
    nearest = library.versions.firstIndex(of: found.model).map { known[$0] }
    compareTables(reader, found.model, entities: found.different, kind: .hash)
    differences += found.onlyInStore.map { Difference(entity: $0, kind: .onlyInStore) }
    differences += found.onlyInModel.map { Difference(entity: $0, kind: .onlyInVersion) }
    differences.sort { NameOrder.codeUnits($0.entity, $1.entity) }
  }

  /// In the library's order of versions.
  private static func known(_ library: ModelLibrary) -> [Version] {
    library.bundles.flatMap { bundle in
      bundle.versions.map { Version(name: $0.name, bundle: bundle.name, path: bundle.path) }
    }
  }

  private mutating func compareTables(
    _ reader: StoreReader, _ model: ManagedObjectModel, entities: [String], kind: Difference.Kind
  ) {
    // A version that no store can have says nothing about columns; that it differs is known without.
    let columns = (try? StoreLayout(model: model, purpose: .reading)).map {
      StoreColumns(layout: $0, schema: reader.schema)
    }
    var unknown: Set<String> = []
    for entity in entities.sorted(by: NameOrder.codeUnits) {
      var difference = Difference(entity: entity, kind: kind)
      difference.missing = columns?.missing(entity) ?? []
      difference.retyped = columns?.retyped(entity) ?? []
      unknown.formUnion(columns?.unknown(entity) ?? [])
      differences.append(difference)
    }
    unknownColumns = unknown.sorted(by: NameOrder.codeUnits)
  }
}
