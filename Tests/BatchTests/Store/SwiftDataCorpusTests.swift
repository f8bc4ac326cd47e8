import Foundation
import Streams
import Testing

@testable import CoreDataModel
@testable import CoreDataStore
@testable import Migrations
@testable import StoreVerification

// Needs real stores, which are no part of the package.
@Suite("Stores that SwiftData wrote", .enabled(if: StoreCorpus.isPresent, "no corpus (GODWIT_CORPUS)"))
struct SwiftDataCorpusTests {
  /// Copies of the nine stores: the originals are never opened.
  private static func withStores(_ body: (String) throws -> Void) throws {
    let files = FileManager.default
    let root = (StoreCorpus.root ?? "") + "/swiftdata"
    let folder = files.temporaryDirectory.appendingPathComponent("swiftdata-\(UUID().uuidString)").path
    try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? files.removeItem(atPath: folder) }
    let stores = files.enumerator(atPath: root)?.compactMap { $0 as? String }.filter { $0.hasSuffix(".store") } ?? []
    try #require(stores.count == 9)
    for store in stores.sorted() {
      let copy = folder + "/" + (store as NSString).lastPathComponent
      for suffix in ["", "-wal"] where files.fileExists(atPath: "\(root)/\(store)\(suffix)") {
        try files.copyItem(atPath: "\(root)/\(store)\(suffix)", toPath: copy + suffix)
      }
      try body(copy)
    }
  }

  @Test("Their own models ask for exactly the indexes that they have, by name, table and columns; none twice")
  func indexes() throws {
    var count = 0
    try Self.withStores { store in
      let model = try ModelLibrary(paths: [store]).versions[0]
      let reader = try SourceStore.open(store, LocalFileSystem(), locking: .none)
      defer { reader.close() }
      let own = Set(try StoreLayout(model: model).indexes.map(\.sql))
      let real = Set(
        reader.schema.indexes.filter { !FrameworkTables.isHistory(NameOrder.folded($0.table)) }.compactMap(\.sql))
      #expect(own == real, "\(store)")
      count += own.count
      let report = try StoreVerifier(path: store, model: model).verify(mode: .fast)
      #expect(!report.warnings.contains { $0.kind == .missingIndex }, "\(store)")
    }
    #expect(count == 67)
  }

  @Test("Their own models are models with their hashes, and packages written of them have the same ones")
  func models() throws {
    try Self.withStores { store in
      let model = try ModelLibrary(paths: [store]).versions[0]
      let reader = try SourceStore.open(store, LocalFileSystem(), locking: .none)
      defer { reader.close() }
      #expect(
        model.versionHashes == reader.metadata.versionHashes && TableFit(reader, in: .init(bundles: [])).isConsistent)
      let package = (store as NSString).deletingPathExtension + ".xcdatamodel"
      try ModelPackageWriter.write(model, to: package)
      let read = try ModelReader.read(path: package)[0].versions[0]
      #expect(read.versionHashes == model.versionHashes && ModelXMLWriter.omissions(of: model) == [], "\(store)")
      #expect(try StoreLayout(model: read).entityTables.map(\.sql) == StoreLayout(model: model).entityTables.map(\.sql))
    }
  }
}
