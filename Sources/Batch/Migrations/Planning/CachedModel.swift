import CoreDataModel
import CoreDataStore
import RunSupport
import Streams

/// The model that a store carries in Z_MODELCACHE (B.2).
struct CachedModel {
  /// The model, if its hashes are those of the store's metadata, or if no metadata can be read.
  private(set) var model: ManagedObjectModel?
  /// The model, also where it contradicts the metadata.
  private(set) var found: ManagedObjectModel?
  /// The packed model, whether it can be used or not.
  private(set) var content: [UInt8]?
  /// `none`, `usable`, or why the cache cannot be used.
  private(set) var state = "none"

  init(_ reader: StoreReader) {
    guard let table = reader.schema.table("Z_MODELCACHE"), let position = table.position(of: "Z_CONTENT") else {
      return
    }
    do {
      content = try Self.content(reader, table: table, position: position)
      guard let content else { return }
      // The cache holds no version's name: this one stands wherever messages have one.
      var found = try ModelCache.decode(content, name: "\(FilePaths.name(of: reader.path))'s own model")
      found.markCarried()
      self.found = found
      guard reader.metadataProblem == nil else {
        (model, state) = (found, "usable, but there are no version hashes to compare it with")
        return
      }
      guard found.versionHashes == reader.metadata.versionHashes else {
        state = "it is the model of another version than the metadata's"
        return
      }
      (model, state) = (found, "usable")
    } catch let error as BatchError {
      state = error.message
    } catch {
      state = "\(error)"
    }
  }

  private static func content(_ reader: StoreReader, table: TableSchema, position: Int) throws -> [UInt8]? {
    var content: [UInt8]?
    try StoreReader.rows(reader.snapshot, root: table.rootPage) { _, decoder in
      guard content == nil, case .blob(let bytes) = try decoder.value(position) else { return }
      content = bytes
    }
    return content
  }
}
