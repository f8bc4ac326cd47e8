import Streams

/// Fetches single rows of a source table as objects, and keeps some of the last ones: rows often lead to the same few
/// objects.
final class RowFetcher {
  /// Longer records are not kept.
  private static let longest = 256
  /// What an object takes apart from its record and the places of its columns.
  private static let overhead = 192
  private let lookup: RowLookup
  /// Makes rows of a version between of those that are looked up.
  private let passed: (version: any PassedVersion, root: UInt32)?
  private let entityPosition: Int
  private let columns: Int
  /// By the key's remainder. The source does not change, so what is kept stays right.
  @exclusivity(unchecked) private var kept: [SourceObject?]

  /// Prepares for a table of that many columns. `memoryBytes` bounds the objects that are kept.
  init(
    _ lookup: RowLookup, passed: (version: any PassedVersion, root: UInt32)?, entityPosition: Int, columns: Int,
    memoryBytes: Int
  ) {
    (self.lookup, self.passed) = (lookup, passed)
    self.entityPosition = entityPosition
    self.columns = columns
    let fitting = memoryBytes / (Self.overhead + Self.longest + 16 * columns)
    // An odd number: keys of one entity often have a step, and powers of two share it.
    kept = Array(repeating: nil, count: max(16, min(1 << 16, fitting)) | 1)
  }

  /// The object of a key; nil when there is no such row. One whose entity number is unknown passes for the expected
  /// entity.
  func object(_ expected: SourceEntity, key: Int64, of graph: SourceGraph) throws -> SourceObject? {
    let slot = Int(truncatingIfNeeded: UInt64(bitPattern: key) % UInt64(kept.count))
    if let found = kept[slot], found.key == key { return found }
    return try lookup.withRecord(key) { record in
      guard let passed else { return try object(expected, key: key, record: record, slot: slot, graph: graph) }
      return try passed.version.make(key, record, of: passed.root).flatMap {
        try object(expected, key: key, record: $0, slot: slot, graph: graph)
      }
    } ?? nil
  }

  private func object(
    _ expected: SourceEntity, key: Int64, record: UnsafeRawBufferPointer, slot: Int, graph: SourceGraph
  ) throws -> SourceObject? {
    guard record.count <= Self.longest else { return try make(expected, key: key, record: record, graph: graph) }
    if kept[slot]?.entity === expected, isKnownUniquelyReferenced(&kept[slot]), let used = kept[slot] {
      kept[slot] = nil
      try used.take(record, key: key)
      if used.decoder.integer(entityPosition) == Int64(expected.number) {
        kept[slot] = used
        return used
      }
    }
    let object = try make(expected, key: key, record: record, graph: graph)
    if object.decoder.integer(entityPosition) == Int64(object.entity.number) { kept[slot] = object }
    return object
  }

  private func make(_ expected: SourceEntity, key: Int64, record: UnsafeRawBufferPointer, graph: SourceGraph)
    throws
    -> SourceObject
  {
    let object = try SourceObject(entity: expected, graph: graph, key: key, record: record, columns: columns)
    guard let number = object.decoder.integer(entityPosition), number != Int64(expected.number), number > 0,
      number < Int64(graph.byNumber.count), let actual = graph.byNumber[Int(number)]
    else { return object }
    return try SourceObject(entity: actual, graph: graph, key: key, record: record, columns: columns)
  }
}
