/// What the proof found in an index.
public struct ProofEntries: Sendable {
  /// All entries.
  public var digest = ProofDigest()
  /// Rowids of entries that come before the one before them.
  public var disordered = ProofTally()
  /// Rowids of entries whose values the entry before them has, too, in a unique index.
  public var repeated = ProofTally()
  /// Entries that are so long that they cannot be compared.
  public var isPartial = false
}

/// Walks an index from end to end: its pages, the order of its entries, and the sum of them. Belongs to one thread.
final class ProofIndexCheck {
  private let index: ProofIndex
  private let columns: ProofList<ProofIndexColumn>
  private let hasColumns: Bool
  private let file: ProofFile
  private let claims: ProofClaims
  private let pages: ProofPages
  private let overflow: ProofOverflow
  private var levels: [UnsafeMutableRawPointer] = []
  private let records: [ProofRecord]
  // The entry at hand and the one before it, of `records`: for every entry, without counting references.
  @exclusivity(unchecked) private var record: Unmanaged<ProofRecord>
  @exclusivity(unchecked) private var previous: Unmanaged<ProofRecord>
  @exclusivity(unchecked) private var hasPrevious = false
  @exclusivity(unchecked) private var found = ProofEntries()

  init(_ index: ProofIndex, _ file: ProofFile, _ claims: ProofClaims, limit: Int) {
    (self.index, self.file, self.claims) = (index, file, claims)
    columns = ProofList(index.columns ?? [])
    hasColumns = index.columns != nil
    pages = ProofPages(file)
    overflow = ProofOverflow(file, claims, limit: limit)
    let width = columns.all.count + 1
    records = [ProofRecord(columns: width), ProofRecord(columns: width)]
    (record, previous) = (Unmanaged.passUnretained(records[0]), Unmanaged.passUnretained(records[1]))
  }

  deinit { for level in levels { level.deallocate() } }

  func run() throws -> ProofEntries {
    var (page, depth) = (index.root, 0)
    while depth <= ProofTableWalk.deepest {
      let bytes = try pages.page(page)
      guard bytes.proofByte(0) == ProofNode.Kind.indexInterior.rawValue else { break }
      let node = try ProofNode(bytes, page, .indexInterior, in: file)
      guard node.cellCount > 0, node.place(0) + 4 <= file.usable else { throw file.damage("an inner page has no cell", page) }
      (page, depth) = (bytes.proof32(node.place(0)), depth + 1)
    }
    guard depth <= ProofTableWalk.deepest else { throw file.damage("the tree is too deep", page) }
    levels = (0..<depth).map { _ in .allocate(byteCount: file.pageSize, alignment: 16) }
    try walk(index.root, parent: 0, depth)
    return found
  }

  private func walk(_ page: UInt32, parent: UInt32, _ depth: Int) throws {
    try claims.claim(page, parent == 0 ? .root : .treeNode, from: parent)
    var bytes = try pages.page(page)
    if depth > 0 {
      levels[depth - 1].copyMemory(from: bytes, byteCount: file.pageSize)
      bytes = UnsafeRawPointer(levels[depth - 1])
    }
    let node = try ProofNode(bytes, page, depth > 0 ? .indexInterior : .indexLeaf, in: file)
    guard node.cellCount > 0 || parent == 0 && depth == 0 else { throw file.damage("a page of an index has no entry", page) }
    var (cellBytes, end) = (0, file.usable)
    for cell in 0..<node.cellCount {
      let start = node.place(cell)
      guard start >= node.places, start + 4 <= file.usable else { throw file.damage("a cell is damaged", page, cell) }
      if depth > 0 { try walk(bytes.proof32(start), parent: page, depth - 1) }
      let after = try entry(node, cell, from: start + (depth > 0 ? 4 : 0), start)
      if file.isDense, after != end { throw file.damage("cells overlap, or leave room between them", page, cell) }
      (cellBytes, end) = (cellBytes + after - start, start)
    }
    if !file.isDense { try node.checkSpace(cellBytes, in: file) }
    if depth > 0 { try walk(node.rightmost, parent: page, depth - 1) } else { keepPrevious() }
  }

  /// Takes an entry; returns where its cell ends.
  @inline(__always)
  private func entry(_ node: ProofNode, _ cell: Int, from begin: Int, _ start: Int) throws -> Int {
    var position = begin
    guard let length = node.base.proofVarint(&position, file.usable), length < 1 << 31 else {
      throw file.damage("a cell is damaged", node.number, cell)
    }
    let count = Int(length)
    let local = file.local(count, isTable: false)
    let after = position + local + (local < count ? 4 : 0)
    guard after <= file.usable else { throw file.damage("an entry runs over its page", node.number, cell) }
    var bytes = UnsafeRawBufferPointer(start: node.base + position, count: local)
    if local < count {
      let payload = ProofPayload(
        start: node.base + position, localCount: local, count: count, overflow: node.base.proof32(position + local))
      // The entry before may lie in the buffer that is filled now.
      keepPrevious()
      try long(&bytes, payload, node.number, cell)
    } else if !hasColumns {
      found.digest.add(bytes)
    }
    if hasColumns { try take(bytes, count, node.number, cell) }
    return max(after, start + 4)
  }

  private func keepPrevious() { if hasPrevious { previous._withUnsafeGuaranteedRef { $0.keep() } } }

  private func long(
    _ bytes: inout UnsafeRawBufferPointer, _ payload: ProofPayload, _ node: UInt32, _ cell: Int
  ) throws {
    var hash = ProofHash(rowid: 0, length: payload.count)
    bytes = try overflow.read(payload, of: node, cell: cell) { hash.add($0, count: $1) }
    if !hasColumns { found.digest.add(0, hash.finish()) }
  }

  @inline(__always)
  private func take(_ bytes: UnsafeRawBufferPointer, _ count: Int, _ node: UInt32, _ cell: Int) throws {
    guard let rowid = record._withUnsafeGuaranteedRef({ add($0, bytes, count) }) else {
      throw file.damage("an entry of \(index.name) is damaged", node, cell)
    }
    guard bytes.count == count else { return found.isPartial = true }
    if hasPrevious {
      record._withUnsafeGuaranteedRef { record in
        previous._withUnsafeGuaranteedRef { compare(record, after: $0, rowid) }
      }
    }
    (record, previous, hasPrevious) = (previous, record, true)
  }

  /// Adds an entry to the digest, unless it is there in part; returns its rowid, nil for a damaged one.
  @inline(__always)
  private func add(_ record: ProofRecord, _ bytes: UnsafeRawBufferPointer, _ count: Int) -> Int64? {
    let last = columns.all.count
    guard record.decode(bytes, length: count), record.count == last + 1 else { return nil }
    guard bytes.count == count else { return 0 }
    guard let rowid = record.integer(last) else { return nil }
    var state = ProofHash.start(UInt64(bitPattern: rowid), 0)
    for column in 0..<last { record.mix(column, into: &state) }
    found.digest.add(rowid, ProofHash.end(state))
    return rowid
  }

  @inline(__always)
  private func compare(_ record: ProofRecord, after previous: ProofRecord, _ rowid: Int64) {
    let last = columns.all.count
    for position in 0..<last {
      let order = record.order(position, after: previous, columns.all[position].collation)
      guard order == 0 else {
        if (order > 0) == columns.all[position].isDescending { found.disordered.add(rowid) }
        return
      }
    }
    if previous.integer(last).map({ $0 >= rowid }) ?? true { found.disordered.add(rowid) }
    // NULLs are equal to nothing, so they do not break uniqueness.
    if index.isUnique, record.nulls & (1 << UInt64(min(last, 63)) - 1) == 0 { found.repeated.add(rowid) }
  }
}
