import CoreDataModel
import CoreDataStore
import RunSupport

/// Finds the model that a store was written with.
public enum StoreModel {
  /// The version of the library whose hashes are those of the store, else the model that the store carries itself. Of
  /// several such versions, the one whose columns hold what they hold in that model, else the first.
  ///
  /// - Throws: ``BatchError`` (`noModel`) that names the nearest version, or asks for models when there is no library;
  ///   if the store's own model cannot be used it says why.
  public static func find(of reader: StoreReader, in library: ModelLibrary?) throws -> ManagedObjectModel {
    let hashes = reader.metadata.versionHashes
    if let library, let first = library.model(matching: hashes) { return own(reader, in: library) ?? first }
    let cache = CachedModel(reader)
    if let model = cache.model { return model }
    if let library, !library.versions.isEmpty { throw library.noModel(for: hashes, path: reader.path) }
    let why = cache.state == "none" ? "it carries none" : cache.state
    throw BatchError(
      .noModel, "the store's model is not known (\(why))", hint: "Give --models with the version that wrote the store",
      path: reader.path)
  }

  /// Of versions with the store's hashes whose columns hold different properties, the one that the store's own model
  /// says; nil if there are no such versions, or it says none of them.
  static func own(_ reader: StoreReader, in library: ModelLibrary) -> ManagedObjectModel? {
    let alike = library.models(matching: reader.metadata.versionHashes)
    guard isAmbiguous(alike), let own = CachedModel(reader).model else { return nil }
    return alike.first { $0.hasColumns(of: own) }
  }

  /// What a person should know of a store that may have any of several versions; nil if it has one.
  static func doubt(_ reader: StoreReader, in library: ModelLibrary) -> String? {
    let alike = library.models(matching: reader.metadata.versionHashes)
    if alike.count == 1, alike[0].hasComposites, let own = CachedModel(reader).model, !own.hasColumns(of: alike[0]) {
      return
        "the store's own model has other attributes in its columns than \(alike[0].name), though their version hashes are "
        + "equal: values may get the names of others. Name the sources of the store's version, too"
    }
    guard isAmbiguous(alike), own(reader, in: library) == nil else { return nil }
    return "\(ModelLibrary.list(alike.map(\.name))) have the same version hashes, but their columns hold different "
      + "attributes, and no model in the store says which version it has: check that values have the right names"
  }

  private static func isAmbiguous(_ versions: [ManagedObjectModel]) -> Bool {
    versions.dropFirst().contains { !versions[0].hasColumns(of: $0) }
  }
}
