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
  private var spaces: [ProofSpace] = []
  private let keyed: ProofKeyedCheck?
  private let records: [ProofRecord]
  // The entry at hand and the one before it, of `records`: for every entry, without counting references.
  @exclusivity(unchecked) private var record: Unmanaged<ProofRecord>
  @exclusivity(unchecked) private var previous: Unmanaged<ProofRecord>
  @exclusivity(unchecked) private var hasPrevious = false
  /// The entry at hand and the one before it where they are NULL and numbers.
  @exclusivity(unchecked) private var numbers: ProofNumbers
  @exclusivity(unchecked) private var previousNumbers: ProofNumbers
  @exclusivity(unchecked) private var arePreviousNumbers = false
  /// The entry before, where it was read as numbers alone.
  @exclusivity(unchecked) private var unread: UnsafeRawBufferPointer?
  @exclusivity(unchecked) private var digest = ProofDigest()
  @exclusivity(unchecked) private var found = ProofEntries()
  /// The first entry that could be compared.
  private var first: [UInt8]?
  /// Parts that were looked at while the index was written, by their page.
  private var early: [UInt32: EarlyProof.Entries]

  init(
    _ index: ProofIndex, file: ProofFile, claims: ProofClaims, limit: Int, early: [UInt32: EarlyProof.Entries] = [:]
  ) {
    (self.index, self.file, self.claims, self.early) = (index, file, claims, early)
    columns = ProofList(index.columns ?? [])
    hasColumns = index.columns != nil
    pages = ProofPages(file)
    overflow = ProofOverflow(file, claims, limit: limit)
    keyed = index.keyed.map(ProofKeyedCheck.init)
    let width = columns.all.count + 1
    records = [ProofRecord(columns: width), ProofRecord(columns: width)]
    (record, previous) = (Unmanaged.passUnretained(records[0]), Unmanaged.passUnretained(records[1]))
    (numbers, previousNumbers) = (ProofNumbers(count: width), ProofNumbers(count: width))
  }

  deinit {
    for level in levels { level.deallocate() }
    numbers.free()
    previousNumbers.free()
  }

  func run() throws -> ProofEntries {
    let depth = try ProofTableWalk.depth(pages, index.root, inner: .indexInterior)
    makeLevels(depth)
    try claims.claim(index.root, .root, from: 0)
    try walk(index.root, parent: 0, depth)
    found.digest.add(digest)
    found.keyed = keyed?.found
    guard let lost = early.keys.min() else { return found }
    throw file.damage("the page was written as a part of \(index.name), and does not belong to it", page: lost)
  }

  /// Walks a part of an index that is still being written; no page of it lies after its own, which is not claimed.
  func run(_ part: ProofPart) throws -> EarlyProof.Entries {
    (pages.end, overflow.end) = (part.page, part.page)
    makeLevels(1)
    try walk(part.page, parent: part.page, 1)
    found.digest.add(digest)
    return EarlyProof.Entries(
      found: found, first: first, last: hasPrevious ? previous._withUnsafeGuaranteedRef(\.bytes) : nil)
  }

  private func makeLevels(_ depth: Int) {
    levels = (0..<depth).map { _ in .allocate(byteCount: file.pageSize, alignment: 16) }
    spaces = (0...depth).map { _ in ProofSpace(file) }
  }

  private func child(_ page: UInt32, of parent: UInt32, _ depth: Int) throws {
    try claims.claim(page, .treeNode, from: parent)
    if depth == 1, let part = early.removeValue(forKey: page) { return try adopt(part, page) }
    try walk(page, parent: parent, depth)
  }

  /// Takes over what was found in a part; its entries are where they belong, between the one before and the one after.
  private func adopt(_ part: EarlyProof.Entries, _ page: UInt32) throws {
    try part.first?.withUnsafeBytes { try take($0, count: $0.count, node: page, cell: 0, isCounted: false) }
    found.add(part.found)
    guard let last = part.last else { return }
    hasPrevious = false
    try last.withUnsafeBytes {
      try take($0, count: $0.count, node: page, cell: 0, isCounted: false)
      keepPrevious()
    }
  }

  private func walk(_ page: UInt32, parent: UInt32, _ depth: Int) throws {
    var bytes = try pages.page(page)
    if depth > 0 {
      levels[depth - 1].copyMemory(from: bytes, byteCount: file.pageSize)
      bytes = UnsafeRawPointer(levels[depth - 1])
    }
    let node = try ProofNode(bytes, number: page, kind: depth > 0 ? .indexInterior : .indexLeaf, in: file)
    guard node.cellCount > 0 || parent == 0 && depth == 0 else {
      throw file.damage("a page of an index has no entry", page: page)
    }
    var end = file.usable
    spaces[depth].begin()
    for cell in 0..<node.cellCount {
      let start = node.place(cell)
      guard start >= node.places, start + 4 <= file.usable else {
        throw file.damage("a cell is damaged", page: page, cell: cell)
      }
      if depth > 0 { try child(bytes.proof32(start), of: page, depth - 1) }
      let after = try entry(node, cell: cell, from: start + (depth > 0 ? 4 : 0), start: start)
      guard file.isDense ? after == end : spaces[depth].take(start, after) else {
        throw file.damage("cells overlap, or leave room between them", page: page, cell: cell)
      }
      end = start
    }
    try spaces[depth].finish(node)
    if depth > 0 { try child(node.rightmost, of: page, depth - 1) } else { keepPrevious() }
  }

  /// Takes an entry; returns where its cell ends.
  @inline(__always)
  private func entry(_ node: ProofNode, cell: Int, from begin: Int, start: Int) throws -> Int {
    var position = begin
    guard let length = node.base.proofVarint(&position, file.usable), length < 1 << 31 else {
      throw file.damage("a cell is damaged", page: node.number, cell: cell)
    }
    let count = Int(length)
    let local = file.local(count, isTable: false)
    let after = position + local + (local < count ? 4 : 0)
    guard after <= file.usable else { throw file.damage("an entry runs over its page", page: node.number, cell: cell) }
    var bytes = UnsafeRawBufferPointer(start: node.base + position, count: local)
    if local < count {
      let payload = ProofPayload(
        start: node.base + position, localCount: local, count: count, overflow: node.base.proof32(position + local))
      // The entry before may lie in the buffer that is filled now.
      keepPrevious()
      try long(&bytes, payload: payload, node: node.number, cell: cell)
    } else if !hasColumns {
      digest.add(bytes)
    }
    if hasColumns { try take(bytes, count: count, node: node.number, cell: cell) }
    if let keyed, !keyed.take(bytes, length: count) {
      throw file.damage("a record of \(index.name) is damaged", page: node.number, cell: cell)
    }
    return max(after, start + 4)
  }

  /// Keeps the entry before beyond the memory that it lies in.
  private func keepPrevious() {
    readPrevious()
    if hasPrevious { previous._withUnsafeGuaranteedRef { $0.keep() } }
  }

  /// Reads the entry before as a record, where that was not needed so far.
  private func readPrevious() {
    guard let unread else { return }
    _ = previous._withUnsafeGuaranteedRef { $0.decode(unread, length: unread.count) }
    self.unread = nil
  }

  private func long(
    _ bytes: inout UnsafeRawBufferPointer, payload: ProofPayload, node: UInt32, cell: Int
  ) throws {
    var hash = ProofHash(rowid: 0, length: payload.count)
    bytes = try overflow.read(payload, of: node, cell: cell) { hash.add($0, count: $1) }
    if !hasColumns { digest.add(0, hash.finish()) }
  }

  @inline(__always)
  private func take(
    _ bytes: UnsafeRawBufferPointer, count: Int, node: UInt32, cell: Int, isCounted: Bool = true
  ) throws {
    if isCounted, hasPrevious, arePreviousNumbers, bytes.count == count, let base = bytes.baseAddress,
      numbers.read(base, bytes.count)
    {
      return takeNumbers(bytes)
    }
    readPrevious()
    guard let rowid = record._withUnsafeGuaranteedRef({ add($0, bytes: bytes, count: count, isCounted: isCounted) })
    else {
      throw file.damage("an entry of \(index.name) is damaged", page: node, cell: cell)
    }
    guard bytes.count == count else { return found.isPartial = true }
    if hasPrevious {
      record._withUnsafeGuaranteedRef { record in
        previous._withUnsafeGuaranteedRef { compare(record, after: $0, rowid) }
      }
    } else if first == nil {
      first = Array(bytes)
    }
    (record, previous, hasPrevious) = (previous, record, true)
    arePreviousNumbers = bytes.baseAddress.map { previousNumbers.read($0, bytes.count) } ?? false
  }

  /// The same for an entry of NULL and numbers after another such one.
  @inline(__always)
  private func takeNumbers(_ bytes: UnsafeRawBufferPointer) {
    let last = columns.all.count
    let rowid = numbers.values[last]
    var state = ProofHash.start(UInt64(bitPattern: rowid), 0)
    for column in 0..<last {
      ProofHash.turn(&state, left: UInt64(bitPattern: numbers.values[column]), right: numbers.kinds[column])
    }
    digest.add(rowid, ProofHash.end(state))
    if let (column, isLess) = numbers.firstDifference(from: previousNumbers, columns: last) {
      if isLess != columns.all[column].isDescending { found.disordered.add(rowid) }
    } else {
      if rowid <= previousNumbers.values[last] { found.disordered.add(rowid) }
      if index.isUnique, !numbers.hasNull(last) { found.repeated.add(rowid) }
    }
    unread = bytes
    (numbers, previousNumbers) = (previousNumbers, numbers)
  }

  /// Adds an entry to the digest, unless it is there in part; returns its rowid, nil for a damaged one.
  @inline(__always)
  private func add(_ record: ProofRecord, bytes: UnsafeRawBufferPointer, count: Int, isCounted: Bool) -> Int64? {
    let last = columns.all.count
    guard record.decode(bytes, length: count), record.count == last + 1 else { return nil }
    guard bytes.count == count else { return 0 }
    guard let rowid = record.integer(last) else { return nil }
    guard isCounted else { return rowid }
    var state = ProofHash.start(UInt64(bitPattern: rowid), 0)
    for column in 0..<last { record.mix(column, into: &state) }
    digest.add(rowid, ProofHash.end(state))
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
