import Streams

/// A store of a version without objects, in memory: it stands for the one that a step will leave, so that what the next step does can be
/// decided before anything is written.
enum EmptyStore {
  /// Opens such a store. Throws what a ``StoreLayout`` throws.
  static func reader(of model: ManagedObjectModel) throws -> StoreReader {
    let file = MemoryFile()
    let layout = try StoreLayout(model: model)
    let header = DatabaseHeader(pageSize: 4096, autoVacuum: 0, version: .rollback)
    let database = try DatabaseBuilder(
      file: file, header: header, schema: StoreSchemaText.entries(layout, hasIndexes: false, hasModelCache: false))
    for name in layout.entityTables.map(\.name) + layout.joinTables.map(\.name) {
      guard let root = database.root(of: name) else { throw BatchError(.failed, "the schema lacks \(name)") }
      try TableBuilder(root: root, writer: database.writer).finish()
    }
    let metadata = StoreMetadata.new(
      uuid: "00000000-0000-0000-0000-000000000000", versionHashes: model.versionHashes, identifiers: model.versionIdentifiers)
    try FixedTables(layout: layout, metadata: metadata, largestKeys: layout.entityTables.map { _ in 0 }).write(to: database)
    try database.finish()
    return try StoreReader(path: "the store of \(model.name)", fileSystem: MemoryDisk(file: file), locking: .none)
  }
}

/// A file without a disk. One thread at a time.
private final class MemoryFile: File, @unchecked Sendable {
  let path = "memory"
  private var bytes: [UInt8] = []

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int {
    guard let start = Int(exactly: offset), start < bytes.count else { return 0 }
    let part = bytes[start...].prefix(buffer.count)
    buffer.copyBytes(from: part)
    return part.count
  }

  func write(_ data: UnsafeRawBufferPointer, at offset: UInt64) throws {
    let start = Int(offset)
    if bytes.count < start + data.count { try truncate(to: UInt64(start + data.count)) }
    bytes.replaceSubrange(start..<start + data.count, with: data)
  }

  func truncate(to length: UInt64) throws {
    let length = Int(length)
    bytes = length < bytes.count ? Array(bytes[..<length]) : bytes + [UInt8](repeating: 0, count: length - bytes.count)
  }

  func size() throws -> UInt64 { UInt64(bytes.count) }
  func sync() throws {}
  func lock(_ kind: LockKind, start: UInt64, length: UInt64) throws -> Bool { true }
  func close() {}
}

/// A disk with one file, under whatever name.
private struct MemoryDisk: FileSystem {
  let file: MemoryFile

  private var refusal: StreamsError { StreamsError(.unsupported, "this file is in memory alone") }
  func open(_ path: String, _ mode: OpenMode) throws -> any File { file }
  func status(_ path: String) throws -> FileStatus? { nil }
  func list(_ path: String) throws -> [String] { [] }
  func availableSpace(_ path: String) throws -> UInt64 { 0 }
  func remove(_ path: String) throws { throw refusal }
  func rename(_ source: String, to destination: String) throws { throw refusal }
  func link(_ source: String, to destination: String) throws { throw refusal }
  func makeDirectory(_ path: String) throws { throw refusal }
  func syncDirectory(_ path: String) throws { throw refusal }
}
