import CoreDataStore
import RunSupport
import Streams

/// Writes Z_PRIMARYKEY and Z_METADATA of a finished store.
package struct FixedTables {
  package let layout: StoreLayout
  package let metadata: StoreMetadata
  /// The largest key of every entity table, or a larger one: keys of deleted objects are not given out again.
  package let largestKeys: [Int64]
  /// Names that differ from the entities' (B.3), by Z_ENT.
  var names: [Int64: String] = [:]
  /// The model for Z_MODELCACHE; nil for a store without that table.
  package var modelCache: [UInt8]?
  /// Rows of Z_PRIMARYKEY that are not the model's.
  var foreignKeys: [StoreReader.PrimaryKey] = []

  package init(
    layout: StoreLayout, metadata: StoreMetadata, largestKeys: [Int64], names: [Int64: String] = [:],
    modelCache: [UInt8]? = nil,
    foreignKeys: [StoreReader.PrimaryKey] = []
  ) {
    self.layout = layout
    self.metadata = metadata
    self.largestKeys = largestKeys
    self.names = names
    self.modelCache = modelCache
    self.foreignKeys = foreignKeys
  }

  /// Writes the tables; returns what each must be found to hold.
  @discardableResult
  package func write(to database: DatabaseBuilder) throws -> [String: ProofDigest] {
    var digests: [String: ProofDigest] = [:]
    let roots = layout.entityTables.map(\.rootEntity)
    let maxima = Dictionary(zip(roots, largestKeys), uniquingKeysWith: max)
    let rows = PrimaryKeyTable(layout: layout, maxima: maxima).rows
    digests["Z_PRIMARYKEY"] = try table("Z_PRIMARYKEY", in: database) { append in
      for row in rows {
        try append(
          Int64(row.entityNumber),
          [
            .null, .text(names[Int64(row.entityNumber)] ?? row.name), .integer(Int64(row.superNumber)),
            .integer(row.maximum),
          ])
      }
      for key in foreignKeys.sorted(by: { $0.entityNumber < $1.entityNumber }) {
        try append(key.entityNumber, [.null, .text(key.name), .integer(key.superNumber), .integer(key.maximum)])
      }
    }
    digests["Z_METADATA"] = try table("Z_METADATA", in: database) { append in
      try append(1, [.null, .text(metadata.uuid), .blob(metadata.encoded())])
    }
    if let modelCache {
      digests["Z_MODELCACHE"] = try table("Z_MODELCACHE", in: database) { append in try append(1, [.blob(modelCache)]) }
    }
    return digests
  }

  private func table(
    _ name: String, in database: DatabaseBuilder, _ body: (_ append: (Int64, [Value]) throws -> Void) throws -> Void
  ) throws -> ProofDigest? {
    guard let root = database.root(of: name) else { throw BatchError(.failed, "the schema lacks \(name)") }
    let builder = TableBuilder(root: root, writer: database.writer, keepsDigest: true)
    let encoder = RecordEncoder()
    try body { rowid, values in
      encoder.reset()
      for value in values { encoder.append(value) }
      try withUnsafeTemporaryAllocation(byteCount: encoder.length, alignment: 8) { bytes in
        guard let base = bytes.baseAddress else { return }
        encoder.write(to: base)
        try builder.append(rowid: rowid, record: UnsafeRawBufferPointer(bytes))
      }
    }
    try builder.finish()
    return builder.digest
  }
}
