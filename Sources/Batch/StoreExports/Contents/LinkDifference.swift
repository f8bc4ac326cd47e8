import CoreDataStore
import RunSupport
import Streams

/// Compares the rows of join tables: pairs of keys, sorted in temporary files if they are many.
struct LinkDifference {
  let old: StoreReader
  let new: StoreReader
  let memory: MemoryBudget
  let fileSystem: any FileSystem

  func run(
    _ tables: LinkTables, into summary: inout ContentsDifference.Summary, _ body: (ContentsChange) throws -> Void,
    meter: ContentsMeter
  ) throws {
    summary.notes += tables.notes
    for pair in tables.pairs {
      summary.counts[pair.name, default: .init()] += try compare(pair, body, meter: meter)
    }
  }

  private static let keyLength = 16

  /// A key has both ends, each eight bytes, then the state, and the numbers of either end in an ordered list.
  private func compare(
    _ pair: LinkPair, _ body: (ContentsChange) throws -> Void, meter: ContentsMeter
  ) throws -> ContentsCount {
    let path = UnfinishedFiles.temporaryPath("links")
    let sorter = ExternalSorter(memoryBytes: memory.sortBytes, path: path, fileSystem: fileSystem)
    if let table = pair.old { try add(table, old, state: 0, to: sorter, meter: meter) }
    if let table = pair.new { try add(table, new, state: 1, to: sorter, meter: meter) }
    let (name, ends, lists) = (pair.name, (pair.new ?? pair.old)?.ends ?? [], Self.lists(pair))
    let places = ContentsPlaces(memory: memory, fileSystem: fileSystem)
    var (count, waiting) = (ContentsCount(), [UInt8]?.none)
    func tell(_ key: [UInt8], isOld: Bool) throws {
      if isOld { count.removed += 1 } else { count.added += 1 }
      let values = key.withUnsafeBytes { Self.values(ends, $0, isOld: isOld, isNew: !isOld) }
      try body(
        ContentsChange(kind: isOld ? .removed : .added, entity: name, oldKey: nil, newKey: nil, values: values))
    }
    try sorter.drain { bytes in
      if let before = waiting {
        waiting = nil
        if before.prefix(Self.keyLength).elementsEqual(bytes[..<Self.keyLength]), bytes[Self.keyLength] == 1 {
          count.same += 1
          try before.withUnsafeBytes { try Self.note(old: $0, new: bytes, lists: lists, in: places) }
          return
        }
        try tell(before, isOld: true)
      }
      if bytes[Self.keyLength] == 0 { waiting = Array(bytes) } else { try tell(Array(bytes), isOld: false) }
    }
    if let waiting { try tell(waiting, isOld: true) }
    count.moved = try findMoved(of: name, ends: ends, in: places, body)
    return count
  }

  /// Calls `body` with each link that stands in another place, and counts them.
  private func findMoved(
    of name: String, ends: [LinkTable.End], in places: ContentsPlaces, _ body: (ContentsChange) throws -> Void
  ) throws -> UInt64 {
    var count: UInt64 = 0
    try places.find { mark, before, place in
      count += 1
      let moved = ContentsChange.Value(
        name: ends[Int(mark[Self.keyLength])].name + "@place", old: "\(before)", new: "\(place)")
      let values = Self.values(ends, mark, isOld: true, isNew: true) + [moved]
      try body(ContentsChange(kind: .moved, entity: name, oldKey: nil, newKey: nil, values: values))
    }
    return count
  }

  private static func values(
    _ ends: [LinkTable.End], _ key: UnsafeRawBufferPointer, isOld: Bool, isNew: Bool
  ) -> [ContentsChange.Value] {
    ends.enumerated().map { place, end in
      let text = "\(key.ordered(at: place * 8))"
      return .init(name: end.name, old: isOld ? text : nil, new: isNew ? text : nil)
    }
  }

  /// Notes the places of a link that both states have: of each end that is ordered, in the list of the other one.
  private static func note(
    old: UnsafeRawBufferPointer, new: UnsafeRawBufferPointer, lists: [Int], in places: ContentsPlaces
  ) throws {
    for end in lists {
      let number = keyLength + 1 + end * 8
      try places.add(
        end, of: new.ordered(at: (1 - end) * 8), old: old.ordered(at: number), new: new.ordered(at: number),
        mark: Array(new[..<keyLength]) + [UInt8(end)])
    }
  }

  /// The ends that are ordered in both states.
  private static func lists(_ pair: LinkPair) -> [Int] {
    guard let old = pair.old?.ends, let new = pair.new?.ends else { return [] }
    return old.indices.filter { old[$0].order != nil && new[$0].order != nil }
  }

  private func add(
    _ table: LinkTable, _ reader: StoreReader, state: UInt8, to sorter: ExternalSorter, meter: ContentsMeter
  ) throws {
    let scan = try RowScan(
      snapshot: reader.snapshot, root: table.schema.rootPage, isWithoutRowid: table.schema.isWithoutRowid,
      rowLimit: memory.rowLimit / 2)
    let (page, row) = (RowPage(), RecordDecoder())
    while try scan.next(into: page) {
      for index in 0..<page.count {
        guard row.decode(page.record(index)) else {
          throw BatchError(
            .badStore, "a row of \(table.schema.name) is damaged", path: reader.path, key: page.rowid(index))
        }
        var key: [UInt8] = []
        for end in table.ends { key.append(ordered: row.integer(end.position) ?? 0) }
        key.append(state)
        for end in table.ends { key.append(ordered: end.order.flatMap { row.integer($0) } ?? .min) }
        try key.withUnsafeBytes { try sorter.add($0) }
      }
      meter.show(rows: 0, bytes: Double(scan.bytesRead))
    }
    meter.finish(rows: 0, bytes: Double(scan.bytesRead))
  }
}
