/// Looks at the rows of one part of a table after the other. Belongs to one thread.
final class ProofTableCheck {
  /// Values of a list that is gone through for every row, without counting references.
  private final class List<Element> {
    let all: UnsafeMutableBufferPointer<Element>
    init(_ elements: [Element]) {
      all = .allocate(capacity: elements.count)
      _ = all.initialize(from: elements)
    }
    deinit {
      all.deinitialize()
      all.deallocate()
    }
  }

  private let table: ProofTable
  private let file: ProofFile
  private let claims: ProofClaims
  private let keys: ProofKeys
  /// In a further pass nothing but keys is looked at.
  private let isFirst: Bool
  private let record: ProofRecord
  private let defaults: ProofRecord?
  private let overflow: ProofOverflow
  private let columns: [List<ProofIndexColumn>]
  private let references: List<ProofTable.Reference>
  private let kindPlaces: List<Int32>
  private let requiredMasks: List<UInt64>
  @exclusivity(unchecked) private var found: ProofRows
  @exclusivity(unchecked) private var digest = ProofDigest()

  init(_ table: ProofTable, _ file: ProofFile, _ claims: ProofClaims, _ keys: ProofKeys, isFirst: Bool, limit: Int) {
    (self.table, self.file, self.claims, self.keys, self.isFirst) = (table, file, claims, keys, isFirst)
    record = ProofRecord(columns: table.columnCount)
    overflow = ProofOverflow(file, claims, limit: limit)
    columns = isFirst ? table.indexes.map { List($0.columns ?? []) } : []
    references = List(table.references)
    var places = [Int32](repeating: -1, count: Int(table.kinds.map(\.number).filter { $0 < 1 << 20 }.max() ?? 0) + 1)
    for (place, kind) in table.kinds.enumerated() where places.indices.contains(Int(kind.number)) {
      places[Int(kind.number)] = Int32(place)
    }
    kindPlaces = List(places)
    // Columns beyond the 64th are looked at one by one: bit 63 says so.
    requiredMasks = List(
      table.kinds.map { kind in kind.required.reduce(0) { $0 | 1 << UInt64(min(63, table.required[$1])) } })
    found = ProofRows(table)
    let row = ProofRecord(columns: table.columnCount)
    let isThere = table.defaults.withUnsafeBytes { bytes in
      guard row.decode(bytes, length: bytes.count) else { return false }
      row.keep()
      return true
    }
    defaults = isThere ? row : nil
  }

  /// Walks parts of the table; returns what was found in them.
  func run(_ parts: [ProofTableWalk.Part]) throws -> ProofRows {
    (found, digest) = (ProofRows(table), ProofDigest())
    let walk = ProofTableWalk(file, claims, parts)
    while try walk.nextLeaf() {
      guard let node = walk.node else { break }
      for cell in 0..<node.cellCount {
        let (rowid, payload) = try walk.row(cell, of: node)
        let bytes: UnsafeRawBufferPointer
        if payload.overflow == 0 {
          bytes = UnsafeRawBufferPointer(start: payload.start, count: payload.count)
          if isFirst { digest.add(rowid, ProofHash.of(rowid, payload.start, payload.count)) }
        } else {
          bytes = try long(rowid, payload, node.number, cell)
        }
        guard record.decode(bytes, length: payload.count) else {
          throw file.damage("row \(rowid) of \(table.name) is damaged", node.number, cell)
        }
        if let defaults { record.fill(from: defaults) }
        row(rowid)
      }
    }
    found.digest = digest
    return found
  }

  private func long(_ rowid: Int64, _ payload: ProofPayload, _ node: UInt32, _ cell: Int) throws -> UnsafeRawBufferPointer {
    var hash = ProofHash(rowid: rowid, length: payload.count)
    let bytes = try overflow.read(payload, of: node, cell: cell) { hash.add($0, count: $1) }
    if isFirst { digest.add(rowid, hash.finish()) }
    return bytes
  }

  @inline(__always)
  private func row(_ rowid: Int64) {
    for index in references.all.indices { refer(references.all[index]) }
    if table.kindColumn != nil { kind(rowid) }
    guard isFirst else { return }
    for index in columns.indices { entry(rowid, index) }
    for place in table.places.indices { self.place(place, rowid) }
    for index in table.pairs.indices { pair(table.pairs[index], rowid) }
  }

  @inline(__always)
  private func isNull(_ column: Int) -> Bool { column >= record.count || record.types[column] == 0 }

  @inline(__always)
  private func refer(_ reference: ProofTable.Reference) {
    guard !isNull(reference.column) else {
      if reference.isNeeded, isFirst { found.badReferences += 1 }
      return
    }
    guard let key = record.integer(reference.column) else {
      if isFirst { found.badReferences += 1 }
      return
    }
    guard let helper = reference.helper else { return keys.refers(to: key, in: reference.set) }
    guard let kind = record.integer(helper.column), let set = helper.sets[kind] else {
      if isFirst { found.badReferences += 1 }
      return
    }
    keys.refers(to: key, in: set)
  }

  @inline(__always)
  private func kind(_ rowid: Int64) {
    if rowid < 1, isFirst { found.lowKeys.add(rowid) }
    guard let column = table.kindColumn, let number = record.integer(column), number >= 0, number < Int64(kindPlaces.all.count),
      kindPlaces.all[Int(number)] >= 0
    else {
      if isFirst { found.strangeKinds.add(rowid) }
      return
    }
    let place = Int(kindPlaces.all[Int(number)])
    for set in table.kinds[place].sets { keys.exists(rowid, in: set) }
    guard isFirst else { return }
    found.kinds[place] &+= 1
    let mask = requiredMasks.all[place]
    if record.nulls & mask != 0 || mask >> 63 != 0 { missing(place, rowid) }
  }

  @inline(never)
  private func missing(_ place: Int, _ rowid: Int64) {
    for required in table.kinds[place].required where isNull(table.required[required]) { found.missing[required].add(rowid) }
  }

  @inline(__always)
  private func place(_ place: Int, _ rowid: Int64) {
    let columns = table.places[place]
    guard isNull(columns.place), !isNull(columns.key) else { return }
    found.misplaced[place].add(table.keyColumn.map { record.integer($0) } ?? rowid)
  }

  @inline(__always)
  private func pair(_ pair: ProofTable.Pair, _ rowid: Int64) {
    guard let key = record.integer(pair.column) else { return }
    let (first, second) = pair.isForward ? (rowid, key) : (key, rowid)
    var state = ProofHash.start(UInt64(bitPattern: first), 0)
    ProofHash.turn(&state, UInt64(bitPattern: second), 0)
    let hash = ProofHash.end(state).low
    let old = found.pairs[pair.sum] ?? (0, 0)
    found.pairs[pair.sum] = pair.isForward ? (old.forward &+ hash, old.backward) : (old.forward, old.backward &+ hash)
  }

  @inline(__always)
  private func entry(_ rowid: Int64, _ index: Int) {
    guard table.indexes[index].columns != nil else { return }
    var state = ProofHash.start(UInt64(bitPattern: rowid), 0)
    for part in columns[index].all {
      if part.column == table.rowidColumn {
        ProofHash.turn(&state, UInt64(bitPattern: rowid), 1)
      } else if part.column >= record.count {
        ProofHash.turn(&state, 0, 3)
      } else if record.isAtHand(part.column) {
        record.mix(part.column, into: &state)
      } else {
        found.isPartial = true
      }
    }
    found.entries[index].add(rowid, ProofHash.end(state))
  }
}
