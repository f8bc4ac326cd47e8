/// Looks at the records of such a tree, one after the other. Belongs to one thread.
final class ProofKeyedCheck {
  private let tree: ProofKeyedTree
  private let width: Int
  private let defaults: ProofRecord?
  private var record: ProofRecord
  private var previous: ProofRecord
  private var hasPrevious = false
  private(set) var found: ProofKeyedRows

  init(_ tree: ProofKeyedTree) {
    self.tree = tree
    width = (tree.key.map(\.column).max() ?? -1) + 1
    (record, previous) = (ProofRecord(columns: width), ProofRecord(columns: width))
    defaults = ProofRecord.kept(tree.defaults)
    found = ProofKeyedRows(
      broken: tree.rules.map { _ in 0 }, entries: tree.entries.map { _ in ProofDigest() })
  }

  /// Takes a record of `length` bytes, of which `bytes` has all or the beginning; false for one that is damaged.
  func take(_ bytes: UnsafeRawBufferPointer, length: Int) -> Bool {
    guard record.decode(bytes, length: length), record.count >= width else { return false }
    guard bytes.count == length else {
      (found.isPartial, hasPrevious) = (true, false)
      return true
    }
    if hasPrevious { compare() }
    if let defaults { record.fill(from: defaults) }
    for (place, rule) in tree.rules.enumerated() where record.outcome(rule) == .broken { found.broken[place] += 1 }
    for place in tree.entries.indices { found.entries[place].add(0, hash(tree.entries[place])) }
    record.keep()
    (record, previous, hasPrevious) = (previous, record, true)
    return true
  }

  private func hash(_ columns: [Int]) -> (low: UInt64, high: UInt64) {
    var state = ProofHash.start(0, 0)
    for column in columns {
      if column < record.count {
        record.mix(column, into: &state)
      } else {
        ProofHash.turn(&state, left: 0, right: 3)
      }
    }
    return ProofHash.end(state)
  }

  private func compare() {
    for (place, column) in tree.key.enumerated() {
      let order = record.order(column.column, after: previous, column.collation)
      guard order == 0 else {
        if (order > 0) == column.isDescending { found.disordered += 1 }
        if let count = tree.uniqueCount, place >= count { addIfRepeated(count) }
        return
      }
    }
    found.disordered += 1
  }

  /// The first columns are equal; NULLs are equal to nothing.
  private func addIfRepeated(_ count: Int) {
    if !tree.key.prefix(count).contains(where: { record.isNull($0.column) }) { found.repeated += 1 }
  }
}

extension ProofRecord {
  /// A record that keeps its bytes; nil for none, or a damaged one.
  static func kept(_ bytes: [UInt8]) -> ProofRecord? {
    let record = ProofRecord(columns: 16)
    return bytes.withUnsafeBytes { bytes in
      guard record.decode(bytes, length: bytes.count) else { return nil }
      record.keep()
      return record
    }
  }
}
