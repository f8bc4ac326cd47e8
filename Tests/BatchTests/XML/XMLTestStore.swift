import Foundation
import Streams

@testable import CoreDataModel
@testable import CoreDataStore
@testable import Migrations
@testable import RunSupport
@testable import StoreExports
@testable import StoreImports

/// An XML store with a text of a test, in a folder of its own.
final class XMLTestStore {
  let folder: String
  var path: String { folder + "/Store.xml" }
  var output: String { folder + "/Store.sqlite" }
  let library: ModelLibrary

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("xml-\(UUID().uuidString)").path
    try LocalFileSystem().makeDirectory(folder)
    library = ModelLibrary(bundles: [ModelBundle(path: "", name: "Shop", versions: [Self.model])])
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  static let model = ManagedObjectModel(
    name: "Shop",
    entities: [
      StoreModels.entity(
        "Customer", [("firstName", .string), ("age", .integer16), ("photo", .binaryData)],
        [StoreModels.link("orders", "Order", "customer", many: true, ordered: true)]),
      StoreModels.entity("Order", [("total", .double)], [StoreModels.link("customer", "Customer", "orders")]),
    ])

  static let hashes = model.versionHashes.map {
    "<key>\($0.key)</key><data>\(Data($0.value).base64EncodedString())</data>"
  }.joined()

  /// A store with these objects, of which the first one begins in line 6.
  static func text(_ objects: String, hashes: String = hashes, nextID: Int = 900) -> String {
    """
    <?xml version="1.0" standalone="yes"?>
    <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">
    <database><databaseInfo><version>134481920</version><UUID>0C5F6F0A-0C8E-4B0E-9F63-3D1B7C9A2E41</UUID>
    <nextObjectID>\(nextID)</nextObjectID><metadata><plist version="1.0"><dict>
    <key>NSStoreModelVersionHashes</key><dict>\(hashes)</dict></dict></plist></metadata></databaseInfo>
    \(objects)
    </database>
    """
  }

  func write(_ text: String) throws { try write(Array(text.utf8)) }
  func write(_ bytes: [UInt8]) throws { try Data(bytes).write(to: URL(fileURLWithPath: path)) }

  func convert(memory: MemoryBudget = .standard) throws -> XMLStore.Conversion {
    try? FileManager.default.removeItem(atPath: output)
    return try XMLStore(path).convert(to: output, models: library, memory: memory)
  }

  /// The error of a conversion, after which nothing may be left; nil if there is none.
  func error(_ text: String, memory: MemoryBudget = .standard) throws -> BatchError? {
    try write(text)
    do { _ = try convert(memory: memory) } catch let error as BatchError { return error }
    return nil
  }

  func exported() throws -> String { try ExportTestStore(path: output, model: Self.model).export(toMany: true).text }

  func files() throws -> [String] { try LocalFileSystem().list(folder) }
}
