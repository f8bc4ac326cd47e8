import CoreDataModel
import CoreDataStore
import Migrations
import RunSupport
import Streams

/// Writes the file of a sample: entity tables in key order, join tables, the fixed tables, indexes.
struct SampleWriter {
  let plan: SamplePlan
  let metadata: StoreMetadata
  /// The file is the prefix itself.
  let files: StepFiles

  var version = DatabaseHeader.Version.rollback

  static let pageSize = 4096
  private static let rowsPerReport: UInt64 = 1 << 14

  func write(progress report: @escaping (Double) -> Void) throws {
    let file = try files.fileSystem.open(files.prefix, .create)
    defer { file.close() }
    let header = DatabaseHeader(pageSize: Self.pageSize, autoVacuum: 2, version: version)
    let schema = StoreSchemaText.entries(plan.layout, hasIndexes: true, hasModelCache: true)
    let database = try DatabaseBuilder(file: file, header: header, schema: schema)
    var progress = SampleProgress(plan: plan, report: report)
    for table in plan.layout.entityTables.indices { try writeTable(table, database: database, progress: &progress) }
    for table in plan.layout.joinTables.indices { try writeLinks(table, database: database, progress: &progress) }
    try FixedTables(
      layout: plan.layout, metadata: metadata, largestKeys: plan.keys.map { Int64($0.count) },
      modelCache: try ModelCache.encode(plan.layout.model).content
    ).write(to: database)
    let pass = IndexPass(StoreIndex.all(plan.layout), database: database, header: header, files: files)
    try pass.run(from: 0) { progress.finishIndex($0 - 1) }
    try RTreePass(plan.layout.rtrees, layout: plan.layout, database: database, header: header, files: files).run {
      _, _ in
    }
    try database.finish()
  }

  private func builder(_ name: String, _ database: DatabaseBuilder) throws -> TableBuilder {
    guard let root = database.root(of: name) else { throw BatchError(.failed, "the schema lacks \(name)") }
    return TableBuilder(root: root, writer: database.writer)
  }

  private func writeTable(_ table: Int, database: DatabaseBuilder, progress: inout SampleProgress) throws {
    let builder = try builder(plan.layout.entityTables[table].name, database)
    let columns = try plan.columns(ofTable: table)
    let keys = plan.keys[table]
    let encoder = RecordEncoder()
    var (value, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 4096))
    var key: UInt64 = 0
    while key < keys.count {
      key += 1
      encode(key, columns: columns, keys: keys, into: encoder, using: &value)
      try Self.append(encoder, rowid: Int64(key), to: builder, &buffer)
      if key % Self.rowsPerReport == 0 { progress.advance(by: Self.rowsPerReport) }
    }
    try builder.finish()
    progress.advance(by: keys.count % Self.rowsPerReport)
  }

  private func encode(
    _ key: UInt64, columns: [SampleColumn], keys: SampleKeys, into encoder: RecordEncoder,
    using value: inout [UInt8]
  ) {
    encoder.reset()
    let position = keys.position(ofKey: key)
    for column in columns {
      guard column.owners.contains(position) else {
        encoder.appendNull()
        continue
      }
      switch column.content {
      case .nothing: encoder.appendNull()
      case .entityNumber: encoder.append(keys.entityNumber(at: position))
      case .one: encoder.append(Int64(1))
      case .attribute(let sampler): sampler.append(key: key, to: encoder, using: &value)
      case .target(let sampler):
        Self.append(sampler.target(of: position).map { Int64(sampler.keys.key(at: $0)) }, to: encoder)
      case .targetEntity(let sampler):
        Self.append(sampler.target(of: position).map { sampler.keys.entityNumber(at: $0) }, to: encoder)
      case .order(let sampler): Self.append(sampler.target(of: position).map { _ in Int64(key) * 1024 }, to: encoder)
      }
    }
  }

  private static func append(_ value: Int64?, to encoder: RecordEncoder) {
    if let value { encoder.append(value) } else { encoder.appendNull() }
  }

  private static func append(
    _ encoder: RecordEncoder, rowid: Int64, to builder: TableBuilder, _ buffer: inout [UInt8]
  ) throws {
    let length = encoder.length
    if buffer.count < length { buffer = [UInt8](repeating: 0, count: length * 2) }
    try buffer.withUnsafeMutableBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      encoder.write(to: base)
      try builder.append(rowid: rowid, record: UnsafeRawBufferPointer(rebasing: bytes[..<length]))
    }
  }

  private func writeLinks(_ table: Int, database: DatabaseBuilder, progress: inout SampleProgress) throws {
    let builder = try builder(plan.layout.joinTables[table].name, database)
    let links = plan.links(ofTable: table)
    var buffer = [UInt8](repeating: 0, count: 64)
    var rowid: Int64 = 0
    try links?.forEach { encoder in
      rowid += 1
      try Self.append(encoder, rowid: rowid, to: builder, &buffer)
      if UInt64(rowid) % Self.rowsPerReport == 0 { progress.advance(by: Self.rowsPerReport) }
    }
    try builder.finish()
  }
}
