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
    from left: RawSchema, to right: RawSchema, into summary: inout ContentsDifference.Summary,
    _ body: (ContentsChange) throws -> Void
  ) throws {
    let (earlier, later) = (Self.links(left), Self.links(right))
    for name in Set(earlier.keys).union(later.keys).sorted(by: NameOrder.codeUnits) {
      summary.counts[name] = try compare(name, from: earlier[name], to: later[name], body)
    }
  }

  private static func links(_ schema: RawSchema) -> [String: RawSchema.Table] {
    let tables = schema.tables.filter { if case .links = $0.content { true } else { false } }
    return Dictionary(tables.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  private static let keyLength = 16

  /// A key has both ends, each eight bytes, then the state, and the numbers of either end in an ordered list.
  private func compare(
    _ name: String, from earlier: RawSchema.Table?, to later: RawSchema.Table?, _ body: (ContentsChange) throws -> Void
  ) throws -> ContentsCount {
    let path = UnfinishedFiles.temporaryPath("links")
    let sorter = ExternalSorter(memoryBytes: memory.sortBytes, path: path, fileSystem: fileSystem)
    if let earlier { try add(earlier, old, state: 0, to: sorter) }
    if let later { try add(later, new, state: 1, to: sorter) }
    let ends = (later ?? earlier).map(Self.ends) ?? []
    let lists = Self.lists(earlier, later)
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
    of name: String, ends: [RawSchema.End], in places: ContentsPlaces, _ body: (ContentsChange) throws -> Void
  ) throws -> UInt64 {
    var count: UInt64 = 0
    try places.find { mark, before, place in
      count += 1
      let moved = ContentsChange.Value(
        name: ends[Int(mark[Self.keyLength])].column.name + "@place", old: "\(before)", new: "\(place)")
      let values = Self.values(ends, mark, isOld: true, isNew: true) + [moved]
      try body(ContentsChange(kind: .moved, entity: name, oldKey: nil, newKey: nil, values: values))
    }
    return count
  }

  private static func values(
    _ ends: [RawSchema.End], _ key: UnsafeRawBufferPointer, isOld: Bool, isNew: Bool
  ) -> [ContentsChange.Value] {
    ends.enumerated().map { place, end in
      let text = "\(key.ordered(at: place * 8))"
      return .init(name: end.column.name, old: isOld ? text : nil, new: isNew ? text : nil)
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
  private static func lists(_ earlier: RawSchema.Table?, _ later: RawSchema.Table?) -> [Int] {
    guard let earlier, let later else { return [] }
    let (left, right) = (orders(earlier), orders(later))
    return left.indices.filter { left[$0] != nil && right[$0] != nil }
  }

  /// Where the number of each end in an ordered list is (B.6); nil if there is none.
  private static func orders(_ table: RawSchema.Table) -> [Int?] {
    ends(table).map { end in
      let name = ContentsSide.orderPrefix + NameOrder.folded(end.column.name).dropFirst(2)
      return table.columns.first { NameOrder.folded($0.name) == name }?.position
    }
  }

  private static func ends(_ table: RawSchema.Table) -> [RawSchema.End] {
    guard case .links(let ends) = table.content else { return [] }
    return ends
  }

  private func add(
    _ table: RawSchema.Table, _ reader: StoreReader, state: UInt8, to sorter: ExternalSorter
  ) throws {
    let positions = Self.ends(table).map(\.column.position)
    let scan = try RowScan(
      snapshot: reader.snapshot, root: table.schema.rootPage, isWithoutRowid: table.schema.isWithoutRowid,
      rowLimit: memory.rowLimit / 2)
    let (page, row) = (RowPage(), RecordDecoder())
    let orders = Self.orders(table)
    while try scan.next(into: page) {
      for index in 0..<page.count {
        guard row.decode(page.record(index)) else {
          throw BatchError(
            .badStore, "a row of \(table.schema.name) is damaged", path: reader.path, key: page.rowid(index))
        }
        var key: [UInt8] = []
        for position in positions { key.append(ordered: row.integer(position) ?? 0) }
        key.append(state)
        for position in orders { key.append(ordered: position.flatMap { row.integer($0) } ?? .min) }
        try key.withUnsafeBytes { try sorter.add($0) }
      }
    }
  }
}
