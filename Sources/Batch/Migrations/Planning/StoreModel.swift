import CoreDataModel
import CoreDataStore
import RunSupport

/// Finds the model that a store was written with.
public enum StoreModel {
  /// The version of the library whose hashes are those of the store, else the model that the store carries itself.
  ///
  /// - Throws: ``BatchError`` (`noModel`) that names the nearest version, or asks for models when there is no library;
  ///   if the store's own model cannot be used it says why.
  public static func find(of reader: StoreReader, in library: ModelLibrary?) throws -> ManagedObjectModel {
    let hashes = reader.metadata.versionHashes
    if let model = library?.model(matching: hashes) { return model }
    let cache = CachedModel(reader)
    if let model = cache.model { return model }
    if let library, !library.versions.isEmpty { throw library.noModel(for: hashes, path: reader.path) }
    let why = cache.state == "none" ? "it carries none" : cache.state
    throw BatchError(
      .noModel, "the store's model is not known (\(why))", hint: "Give --models with the version that wrote the store",
      path: reader.path)
  }
}
