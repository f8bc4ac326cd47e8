import Streams

/// What is in the whole store, and which of its links an excerpt cannot have because one end is not in it.
struct ExcerptCount {
  private let shape: ExcerptShape
  private let taken: [KeySet]
  /// Objects of the store, by Z_ENT.
  private(set) var objects: [Int64: UInt64] = [:]
  /// Links that are left out, by the relationship to many objects.
  private(set) var leftOut: [String: UInt64] = [:]

  init(_ shape: ExcerptShape, taken: [KeySet]) { (self.shape, self.taken) = (shape, taken) }

  /// Reads the rows of all tables.
  mutating func run(progress: (Double) -> Void) throws {
    for table in shape.tables.indices {
      try read(table)
      progress(Double(table + 1) / Double(shape.tables.count))
    }
  }

  private mutating func read(_ table: Int) throws {
    let (scan, page, decoder) = (shape.scan(table), RowPage(), RecordDecoder())
    while try scan.next(into: page) {
      for row in 0..<page.count {
        let key = page.rowid(row)
        let number = try shape.decode(page.record(row), key: key, table: table, into: decoder)
        objects[number, default: 0] += 1
        guard !taken[table].contains(key) else { continue }
        for toOne in shape.toOnes(number) {
          guard let list = toOne.list, let target = decoder.integer(toOne.position), taken[toOne.table].contains(target)
          else { continue }
          leftOut[list, default: 0] += 1
        }
        for owner in shape.owners[table] {
          guard let key = decoder.integer(owner.positions[0]), taken[owner.table].contains(key) else { continue }
          leftOut[owner.list, default: 0] += 1
        }
      }
    }
  }

  /// Notes that a link is left out.
  mutating func leaveOut(_ list: String) { leftOut[list, default: 0] += 1 }
}
