import Streams

/// Memory for fetched objects, which several tables share by need.
final class FetchRoom {
  private let bytes: Int
  private var left: Int

  init(bytes: Int) { (self.bytes, left) = (bytes, bytes) }

  /// Takes so many bytes, if they are left.
  func take(_ bytes: Int) -> Bool {
    guard bytes <= left else { return false }
    left -= bytes
    return true
  }

  /// Nothing is kept any more.
  func empty() { left = bytes }
}

/// Fetches single rows of a source table as objects, and keeps some of the last ones: rows often lead to the same few
/// objects.
final class RowFetcher {
  /// Longer records are not kept.
  private static let longest = 256
  /// What an object takes apart from its record and the places of its columns.
  private static let overhead = 192
  /// Slots of a fetcher that has not been asked yet.
  private static let fewest = 255
  private let lookup: RowLookup
  /// Makes rows of a version between of those that are looked up.
  private let passed: (version: any PassedVersion, root: UInt32)?
  private let entityPosition: Int
  private let columns: Int
  private let room: FetchRoom
  /// By the key's remainder. The source does not change, so what is kept stays right.
  @exclusivity(unchecked) private var kept: [SourceObject?] = []
  /// How often an object took the slot of another one since the slots became more.
  @exclusivity(unchecked) private var replaced = 0
  /// Of the records that are kept.
  @exclusivity(unchecked) private var longestKept = 64

  /// Prepares for a table of that many columns. What is kept takes memory out of `room`, which several fetchers share.
  init(
    _ lookup: RowLookup, passed: (version: any PassedVersion, root: UInt32)?, entityPosition: Int, columns: Int,
    room: FetchRoom
  ) {
    self.lookup = lookup
    self.passed = passed
    self.entityPosition = entityPosition
    self.columns = columns
    self.room = room
    kept = Array(repeating: nil, count: Self.fewest)
    _ = room.take(slotBytes * Self.fewest)
  }

  private var slotBytes: Int { Self.overhead + longestKept + 16 * columns }

  /// An object found the slot of its key taken. Where that happens often, there are more slots, as long as there is room.
  private func noteReplaced() {
    replaced += 1
    guard replaced > 2 * kept.count else { return }
    replaced = 0
    // An odd number: keys of one entity often have a step, and powers of two share it.
    let count = 2 * kept.count + 1
    guard room.take(slotBytes * (count - kept.count)) else { return }
    var grown: [SourceObject?] = Array(repeating: nil, count: count)
    for case let object? in kept { grown[slot(object.key, of: count)] = object }
    kept = grown
  }

  private func slot(_ key: Int64, of count: Int) -> Int {
    Int(truncatingIfNeeded: UInt64(bitPattern: key) % UInt64(count))
  }

  /// The object of a key; nil when there is no such row. One whose entity number is unknown passes for the expected
  /// entity.
  func object(_ expected: SourceEntity, key: Int64, of graph: SourceGraph) throws -> SourceObject? {
    let place = slot(key, of: kept.count)
    if let found = kept[place] {
      if found.key == key { return found }
      noteReplaced()
    }
    let slot = slot(key, of: kept.count)
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
    longestKept = max(longestKept, record.count)
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
