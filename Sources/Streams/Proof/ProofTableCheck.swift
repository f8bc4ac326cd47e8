/// Looks at the rows of one part of a table after the other. Belongs to one thread.
final class ProofTableCheck {
  /// A column with keys; if a helper holds the kind, the sets by kind begin at a place of ``helperSets``.
  private struct Reference {
    var column: Int
    var isNeeded: Bool
    var set: Int
    var helper: Int
    var firstSet: Int
    var kinds: Int64
  }

  private let table: ProofTable
  private let file: ProofFile
  private let claims: ProofClaims
  private let keys: ProofKeys
  /// In a further pass nothing but keys is looked at.
  private let isFirst: Bool
  private let record: ProofRecord
  private let defaults: ProofRecord?
  private let pages: ProofPages
  private let overflow: ProofOverflow
  private let columnCount: Int
  private let kindColumn: Int
  private let rowidColumn: Int
  /// The columns of all indexes one after the other, and where each index's end.
  private let columns: ProofList<Int>
  private let columnEnds: ProofList<Int>
  private let entries: ProofList<ProofDigest>
  private let references: ProofList<Reference>
  private let helperSets: ProofList<Int>
  private let kindPlaces: ProofList<Int32>
  private let kindRows: ProofList<UInt64>
  private let kindSets: ProofList<(first: Int, end: Int)>
  private let sets: ProofList<Int>
  private let requiredMasks: ProofList<UInt64>
  private let places: ProofList<ProofTable.Place>
  private let pairs: ProofList<ProofTable.Pair>
  private let rules: ProofList<ProofColumnRule>
  private let pairSums: ProofList<(forward: UInt64, backward: UInt64)>
  @exclusivity(unchecked) private var found: ProofRows
  @exclusivity(unchecked) private var digest = ProofDigest()

  init(_ table: ProofTable, file: ProofFile, claims: ProofClaims, keys: ProofKeys, isFirst: Bool, limit: Int) {
    (self.table, self.file, self.claims, self.keys, self.isFirst) = (table, file, claims, keys, isFirst)
    record = ProofRecord(columns: table.columnCount, known: table.knownColumns)
    pages = ProofPages(file)
    overflow = ProofOverflow(file, claims, limit: limit)
    (columnCount, kindColumn, rowidColumn) = (table.columnCount, table.kindColumn ?? -1, table.rowidColumn ?? -1)
    let indexes = isFirst ? table.indexes.map { $0.columns ?? [] } : []
    columns = ProofList(indexes.joined().map(\.column))
    columnEnds = ProofList(indexes.indices.map { indexes[0...$0].reduce(0) { $0 + $1.count } })
    entries = ProofList(indexes.map { _ in ProofDigest() })
    (references, helperSets) = Self.references(table)
    kindPlaces = ProofList(
      Self.byNumber(Dictionary(table.kinds.enumerated().map { ($1.number, Int32($0)) }) { $1 }, none: -1))
    kindRows = ProofList(table.kinds.map { _ in 0 })
    let lists = table.kinds.map(\.sets)
    sets = ProofList(Array(lists.joined()))
    kindSets = ProofList(
      lists.indices.map { place in
        let first = lists[0..<place].reduce(0) { $0 + $1.count }
        return (first, first + lists[place].count)
      })
    // Columns beyond the 64th are looked at one by one: bit 63 says so.
    requiredMasks = ProofList(
      table.kinds.map { kind in kind.required.reduce(0) { $0 | 1 << UInt64(min(63, table.required[$1])) } })
    places = ProofList(isFirst ? table.places : [])
    pairs = ProofList(isFirst ? table.pairs : [])
    rules = ProofList(isFirst ? table.rules : [])
    pairSums = ProofList(pairs.all.map { _ in (0, 0) })
    found = ProofRows(table)
    defaults = ProofRecord.kept(table.defaults)
  }

  /// Values by a small number that is not negative.
  private static func byNumber<Element>(_ values: [Int64: Element], none: Element) -> [Element] {
    let known = values.filter { $0.key >= 0 && $0.key < 1 << 20 }
    var list = Array(repeating: none, count: Int(known.keys.max() ?? -1) + 1)
    for (number, value) in known { list[Int(number)] = value }
    return list
  }

  private static func references(_ table: ProofTable) -> (ProofList<Reference>, ProofList<Int>) {
    var (references, all) = ([Reference](), [Int]())
    for reference in table.references {
      let sets = reference.helper.map { byNumber($0.sets, none: -1) } ?? []
      references.append(
        Reference(
          column: reference.column, isNeeded: reference.isNeeded, set: reference.set,
          helper: reference.helper?.column ?? -1,
          firstSet: all.count, kinds: Int64(sets.count)))
      all += sets
    }
    return (ProofList(references), ProofList(all))
  }

  /// Walks a part of a table that is still being written; no page of it lies after its own.
  func run(_ part: ProofPart) throws -> ProofRows {
    (pages.end, overflow.end) = (part.page, part.page)
    return try run([part.walked(parent: 0)])
  }

  /// Walks parts of the table; returns what was found in them.
  func run(_ parts: [ProofTableWalk.Part]) throws -> ProofRows {
    (found, digest) = (ProofRows(table), ProofDigest())
    kindRows.all.update(repeating: 0)
    entries.all.update(repeating: ProofDigest())
    pairSums.all.update(repeating: (0, 0))
    let walk = ProofTableWalk(file, claims: claims, pages: pages, parts: parts)
    while try walk.nextLeaf() {
      guard let node = walk.node else { break }
      for cell in 0..<node.cellCount {
        let (rowid, payload) = try walk.row(cell, of: node)
        let bytes: UnsafeRawBufferPointer
        if payload.overflow == 0 {
          bytes = UnsafeRawBufferPointer(start: payload.start, count: payload.count)
          if isFirst { digest.add(rowid, ProofHash.of(rowid, bytes: payload.start, count: payload.count)) }
        } else {
          bytes = try long(rowid, payload: payload, node: node.number, cell: cell)
        }
        guard record.decode(bytes, length: payload.count) else {
          throw file.damage("row \(rowid) of \(table.name) is damaged", page: node.number, cell: cell)
        }
        if record.count < columnCount, let defaults { record.fill(from: defaults) }
        row(rowid)
      }
    }
    found.digest = digest
    found.kinds = Array(kindRows.all)
    for index in entries.all.indices { found.entries[index] = entries.all[index] }
    for (pair, sums) in zip(table.pairs, pairSums.all) {
      let old = found.pairs[pair.sum] ?? (0, 0)
      found.pairs[pair.sum] = (old.forward &+ sums.forward, old.backward &+ sums.backward)
    }
    return found
  }

  private func long(_ rowid: Int64, payload: ProofPayload, node: UInt32, cell: Int) throws
    -> UnsafeRawBufferPointer
  {
    var hash = ProofHash(rowid: rowid, length: payload.count)
    let bytes = try overflow.read(payload, of: node, cell: cell) { hash.add($0, count: $1) }
    if isFirst { digest.add(rowid, hash.finish()) }
    return bytes
  }

  @inline(__always)
  private func row(_ rowid: Int64) {
    for reference in references.all { refer(reference) }
    if kindColumn >= 0 { kind(rowid) }
    guard isFirst else { return }
    if columnEnds.all.count > 0 { enter(rowid) }
    for place in places.all.indices { self.place(place, rowid) }
    for pair in pairs.all.indices { self.pair(pair, rowid) }
    for rule in rules.all.indices { found.add(record.outcome(rules.all[rule]), rule: rule, rowid) }
  }

  @inline(__always)
  private func isNull(_ column: Int) -> Bool { column >= record.count || record.isNull(column) }

  @inline(__always)
  private func refer(_ reference: Reference) {
    guard !isNull(reference.column) else {
      if reference.isNeeded, isFirst { found.badReferences += 1 }
      return
    }
    guard let key = record.integer(reference.column) else { return addBadReference() }
    guard reference.helper >= 0 else { return keys.refers(to: key, in: reference.set) }
    guard let kind = record.integer(reference.helper), kind >= 0, kind < reference.kinds,
      helperSets.all[reference.firstSet + Int(kind)] >= 0
    else { return addBadReference() }
    keys.refers(to: key, in: helperSets.all[reference.firstSet + Int(kind)])
  }

  private func addBadReference() { if isFirst { found.badReferences += 1 } }

  @inline(__always)
  private func kind(_ rowid: Int64) {
    if rowid < 1, isFirst { found.lowKeys.add(rowid) }
    guard let number = record.integer(kindColumn), number >= 0, number < Int64(kindPlaces.all.count),
      kindPlaces.all[Int(number)] >= 0
    else {
      if isFirst { found.strangeKinds.add(rowid) }
      return
    }
    let place = Int(kindPlaces.all[Int(number)])
    var set = kindSets.all[place].first
    while set < kindSets.all[place].end {
      keys.exists(rowid, in: sets.all[set])
      set += 1
    }
    guard isFirst else { return }
    kindRows.all[place] &+= 1
    let mask = requiredMasks.all[place]
    if record.nulls & mask != 0 || mask >> 63 != 0 { missing(place, rowid) }
  }

  @inline(never)
  private func missing(_ place: Int, _ rowid: Int64) {
    for required in table.kinds[place].required where isNull(table.required[required]) {
      found.missing[required].add(rowid)
    }
  }

  @inline(__always)
  private func place(_ place: Int, _ rowid: Int64) {
    let columns = places.all[place]
    guard isNull(columns.place), !isNull(columns.key) else { return }
    found.misplaced[place].add(table.keyColumn.map { record.integer($0) } ?? rowid)
  }

  @inline(__always)
  private func pair(_ place: Int, _ rowid: Int64) {
    let pair = pairs.all[place]
    guard let key = record.integer(pair.column) else { return }
    if pair.isForward {
      pairSums.all[place].forward &+= ProofHash.pair(rowid, key)
    } else {
      pairSums.all[place].backward &+= ProofHash.pair(key, rowid)
    }
  }

  /// What the entries of the row in all indexes must be.
  @inline(__always)
  private func enter(_ rowid: Int64) {
    var place = 0
    for index in columnEnds.all.indices {
      guard place < columnEnds.all[index] else { continue }
      var state = ProofHash.start(UInt64(bitPattern: rowid), 0)
      while place < columnEnds.all[index] {
        mix(columns.all[place], rowid, into: &state)
        place += 1
      }
      entries.all[index].add(rowid, ProofHash.end(state))
    }
  }

  @inline(__always)
  private func mix(_ column: Int, _ rowid: Int64, into state: inout (UInt64, UInt64)) {
    if column == rowidColumn {
      ProofHash.turn(&state, left: UInt64(bitPattern: rowid), right: 1)
    } else if column >= record.count {
      ProofHash.turn(&state, left: 0, right: 3)
    } else if record.isAtHand(column) {
      record.mix(column, into: &state)
    } else {
      found.isPartial = true
    }
  }
}
