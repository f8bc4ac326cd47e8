import CoreDataStore
import Foundation
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

  /// A key has both ends, each eight bytes, and the state.
  private func compare(
    _ name: String, from earlier: RawSchema.Table?, to later: RawSchema.Table?, _ body: (ContentsChange) throws -> Void
  ) throws -> ContentsCount {
    let path = FilePaths.join(FileManager.default.temporaryDirectory.path, "godwit-links-\(UUID().uuidString)")
    let sorter = ExternalSorter(memoryBytes: memory.sortBytes, path: path, fileSystem: fileSystem)
    if let earlier { try add(earlier, old, state: 0, to: sorter) }
    if let later { try add(later, new, state: 1, to: sorter) }
    let ends = (later ?? earlier).map(Self.ends) ?? []
    var (count, waiting) = (ContentsCount(), [UInt8]?.none)
    func tell(_ key: [UInt8], isOld: Bool) throws {
      let values = ends.enumerated().map { place, end -> ContentsChange.Value in
        let text = "\(Self.number(key, place * 8))"
        return .init(name: end.column.name, old: isOld ? text : nil, new: isOld ? nil : text)
      }
      if isOld { count.removed += 1 } else { count.added += 1 }
      try body(
        ContentsChange(kind: isOld ? .removed : .added, entity: name, oldKey: nil, newKey: nil, values: values))
    }
    try sorter.drain { bytes in
      let key = Array(bytes[..<16])
      if let before = waiting {
        waiting = nil
        if before == key, bytes[16] == 1 {
          count.same += 1
          return
        }
        try tell(before, isOld: true)
      }
      if bytes[16] == 0 { waiting = key } else { try tell(key, isOld: false) }
    }
    if let waiting { try tell(waiting, isOld: true) }
    return count
  }

  private static func ends(_ table: RawSchema.Table) -> [RawSchema.End] {
    guard case .links(let ends) = table.content else { return [] }
    return ends
  }

  private static func number(_ key: [UInt8], _ place: Int) -> Int64 {
    key.withUnsafeBytes {
      Int64(bitPattern: UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: place, as: UInt64.self)) ^ 1 << 63)
    }
  }

  private func add(
    _ table: RawSchema.Table, _ reader: StoreReader, state: UInt8, to sorter: ExternalSorter
  ) throws {
    let positions = Self.ends(table).map(\.column.position)
    let scan = try RowScan(
      snapshot: reader.snapshot, root: table.schema.rootPage, isWithoutRowid: table.schema.isWithoutRowid,
      rowLimit: memory.rowLimit / 2)
    let (page, row) = (RowPage(), RecordDecoder())
    var key = [UInt8](repeating: state, count: 17)
    while try scan.next(into: page) {
      for index in 0..<page.count {
        guard row.decode(page.record(index)) else {
          throw BatchError(
            .badStore, "a row of \(table.schema.name) is damaged", path: reader.path, key: page.rowid(index))
        }
        for (place, position) in positions.enumerated() {
          let word = (UInt64(bitPattern: row.integer(position) ?? 0) ^ 1 << 63).bigEndian
          key.withUnsafeMutableBytes { $0.storeBytes(of: word, toByteOffset: place * 8, as: UInt64.self) }
        }
        try key.withUnsafeBytes { try sorter.add($0) }
      }
    }
  }
}
