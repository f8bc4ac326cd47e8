/// Finds the model that a store was written with.
public enum StoreModel {
  /// The version of the library whose hashes are those of the store.
  ///
  /// Throws ``BatchError`` (`noModel`) that names the nearest version, or asks for models when there is no library.
  public static func find(of reader: StoreReader, in library: ModelLibrary?) throws -> ManagedObjectModel {
    let hashes = reader.metadata.versionHashes
    if let model = library?.model(matching: hashes) { return model }
    if let library { throw library.noModel(for: hashes, path: reader.path) }
    throw BatchError(
      .noModel, "the store's model is not known", hint: "Give --models with the version that wrote the store",
      path: reader.path)
  }
}
