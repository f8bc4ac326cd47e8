import CoreDataStore
import Streams

/// What the proof takes of a processor, tried on a rehearsal's store: pages, digests and indexes, without the rules
/// between tables.
struct RehearsedProof {
  /// Seconds of a processor that a byte of the store takes if nothing else is at work; and those of them that indexes
  /// take, which are finished last of all.
  let secondsOfByte: Double
  let indexSecondsOfByte: Double
  /// How many times as long it takes beside its like: about 1 where each processor is a core of its own, more where two
  /// are one, 2 where there is but one.
  let crowding: Double

  /// Proves the store in memory once alone and twice at a time.
  init(_ store: StoreReader, on disk: any FileSystem, limit: Int) throws {
    var groups = Dictionary(grouping: store.schema.indexes) { $0.table }
    let tables = store.schema.tables.filter { !$0.isWithoutRowid }.map { schema in
      var table = ProofTable(name: schema.name, root: schema.rootPage)
      table.columnCount = schema.columns.count
      table.indexes = (groups.removeValue(forKey: schema.name) ?? []).map {
        ProofIndex(name: $0.name, root: $0.rootPage, columns: nil, isUnique: $0.isUnique)
      }
      return table
    }
    let path = store.path
    let all = [ProofTable(name: "sqlite_schema", root: 1)] + tables
    let names = Set(store.schema.indexes.map(\.name))
    let prove: @Sendable (_ isIndex: Bool) throws -> Void = { isIndex in
      let file = try ProofFile(path: path, fileSystem: disk, isDense: true)
      let proof = Proof(file, tables: all, trees: [], largestKeys: [], window: 0..<64, limit: limit)
      for job in try proof.jobs() where names.contains(job.name) == isIndex { try proof.run(job) }
    }
    let indexes = try ProcessorSpeed.seconds { try prove(true) }
    let alone = try ProcessorSpeed.seconds { try prove(false) }
    let together = try ProcessorSpeed.seconds {
      let workers = try Worker.startAll(Array(repeating: { try prove(false) }, count: 2))
      if let failure = workers.compactMap({ $0.join() }).first { throw failure }
    }
    let bytes = Double(store.snapshot.pageCount) * Double(store.snapshot.geometry.pageSize)
    (secondsOfByte, indexSecondsOfByte) = ((alone + indexes) / max(1, bytes), indexes / max(1, bytes))
    crowding = min(2, max(1, together / max(1e-9, alone)))
  }
}
