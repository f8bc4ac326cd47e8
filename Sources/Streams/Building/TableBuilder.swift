/// Builds a table's b-tree bottom-up from rows in ascending rowid order, one open page a level.
///
/// SQLite calls an interior page without cells malformed. So an interior page that is full hands its last child over to
/// its successor, which therefore always has two; and a leaf is written only when a row follows that does not fit.
public final class TableBuilder {
  /// The page reserved for the root.
  public let root: UInt32
  private let writer: PageWriter
  private let overflow: OverflowWriter
  private let leaf: CellPage
  @exclusivity(unchecked) private var levels: [TableLevel] = []
  private let reservedAtStart: Int
  @exclusivity(unchecked) private var last: Int64?
  @exclusivity(unchecked) private var rows: UInt64 = 0
  /// The rowid appended last.
  public var lastRowid: Int64? { last }
  /// Rows appended so far.
  public var rowCount: UInt64 { rows }
  @exclusivity(unchecked) private var sum: ProofDigest?
  /// What the table must be found to hold: the rows appended so far. Nil if no digest is kept.
  public var digest: ProofDigest? { sum }

  /// Begins a table. Page 1 has room for less, because the file's header stands before its root.
  public init(root: UInt32, writer: PageWriter, keepsDigest: Bool = false) {
    self.root = root
    self.writer = writer
    sum = keepsDigest ? ProofDigest() : nil
    reservedAtStart = root == 1 ? DatabaseHeader.length : 0
    overflow = OverflowWriter(writer: writer)
    leaf = CellPage(kind: .tableLeaf, geometry: writer.geometry, reservedAtStart: reservedAtStart)
  }

  /// Appends a row. Where its record has references, the values are copied page by page through `longValues`.
  ///
  /// - Throws: ``StreamsError``: `order` when the rowid is not larger than the last one.
  public func append(rowid: Int64, record: UnsafeRawBufferPointer, longValues: LongValueReader? = nil) throws {
    if let last, rowid <= last {
      throw StreamsError(.order, "rowid \(rowid) follows \(last) in a table that is built in order")
    }
    if record.first == LongValue.mark { return try append(rowid: rowid, referring: record, longValues) }
    let local = try beginCell(rowid, payload: record.count)
    var first: UInt32 = 0
    if local < record.count { first = try overflow.write(UnsafeRawBufferPointer(rebasing: record[local...])) }
    finishCell(
      rowid, payload: record.count, local: UnsafeRawBufferPointer(rebasing: record[0..<local]), overflow: first)
    sum?.add(rowid, record)
  }

  private func append(rowid: Int64, referring record: UnsafeRawBufferPointer, _ longValues: LongValueReader?) throws {
    guard let longValues else {
      throw StreamsError(.unsupported, "the long values of row \(rowid) are not at hand here")
    }
    let stream = try PayloadStream(record, rowid: rowid, longValues)
    try appendPieces(rowid: rowid, length: stream.length, reading: stream.read)
  }

  /// Appends a row whose record is too long for memory: `body` is asked for its bytes one after the other, so many at a
  /// time.
  ///
  /// - Throws: ``StreamsError``: `order` when the rowid is not larger than the last one, `tooLarge` for a row that is
  ///   longer than any database holds; and what `body` throws.
  public func append(rowid: Int64, length: Int, reading body: (UnsafeMutableRawPointer, Int) throws -> Void) throws {
    if let last, rowid <= last {
      throw StreamsError(.order, "rowid \(rowid) follows \(last) in a table that is built in order")
    }
    guard length <= PayloadStream.maximum else { throw PayloadStream.tooLarge(rowid, length) }
    try appendPieces(rowid: rowid, length: length, reading: body)
  }

  private func appendPieces(
    rowid: Int64, length: Int, reading body: (UnsafeMutableRawPointer, Int) throws -> Void
  ) throws {
    let local = try beginCell(rowid, payload: length)
    try withUnsafeTemporaryAllocation(byteCount: max(1, local), alignment: 8) { start in
      guard let base = start.baseAddress else { return }
      try body(base, local)
      var hash = ProofHash(rowid: rowid, length: length)
      hash.add(base, count: local)
      var first: UInt32 = 0
      if local < length {
        first = try overflow.write(length - local) {
          try body($0, $1)
          hash.add($0, count: $1)
        }
      }
      sum?.add(rowid, hash.finish())
      finishCell(
        rowid, payload: length, local: UnsafeRawBufferPointer(rebasing: start[0..<local]), overflow: first)
    }
  }

  /// Bytes of a cell before its payload.
  @inline(__always)
  private func head(_ rowid: Int64, _ payload: Int) -> Int {
    Varint.length(UInt64(payload)) + Varint.length(UInt64(bitPattern: rowid))
  }

  /// Makes room on the leaf for a cell whose payload has so many bytes; returns how many of them stay there.
  @inline(__always)
  private func beginCell(_ rowid: Int64, payload: Int) throws -> Int {
    let local = writer.geometry.localLength(payload: payload, maximum: writer.geometry.maximumTableLocal)
    if leaf.room < max(4, head(rowid, payload) + local + (local < payload ? 4 : 0)) { try flushLeaf() }
    return local
  }

  /// Writes the cell that ``beginCell(_:payload:)`` made room for.
  @inline(__always)
  private func finishCell(_ rowid: Int64, payload: Int, local: UnsafeRawBufferPointer, overflow first: UInt32) {
    let head = head(rowid, payload)
    let spills = local.count < payload
    let cell = leaf.addCell(length: max(4, head + local.count + (spills ? 4 : 0)), overflow: first)
    let position = Varint.write(UInt64(payload), to: cell)
    Varint.write(UInt64(bitPattern: rowid), to: cell + position)
    if let base = local.baseAddress { (cell + head).copyMemory(from: base, byteCount: local.count) }
    if spills { cell.storeBigEndian(first, at: head + local.count) }
    last = rowid
    rows += 1
  }

  private func flushLeaf() throws {
    guard let last else { return }
    let page = try writer.allocate()
    try leaf.write(as: page, to: writer)
    leaf.reset()
    try add(TableLevel.Child(page: page, key: last), level: 0)
  }

  private func add(_ child: TableLevel.Child, level: Int) throws {
    if level == levels.count {
      levels.append(TableLevel(geometry: writer.geometry, reservedAtStart: reservedAtStart))
    }
    if levels[level].fits { return levels[level].append(child) }
    let carried = levels[level].removeLast()
    let key = levels[level].children.last!.key
    let page = try writer.allocate()
    try levels[level].write(as: page, to: writer)
    if level == 0 {
      writer.finished(
        ProofPart(root: root, page: page, lower: levels.count > 1 ? levels[1].children.last?.key : nil, upper: key))
    }
    levels[level].removeAll()
    levels[level].append(carried)
    levels[level].append(child)
    try add(TableLevel.Child(page: page, key: key), level: level + 1)
  }

  /// Writes what a checkpoint needs to continue this table: the open page of every level.
  public func encode(into state: inout ByteWriter) {
    state.writeOptional(last) { $0.writeInt64($1) }
    state.writeUInt64(rows)
    state.writeOptional(sum) { state, sum in sum.encode(into: &state) }
    leaf.encode(into: &state)
    state.writeArray(levels) { state, level in
      state.writeArray(level.children) {
        $0.writeUInt32($1.page)
        $0.writeInt64($1.key)
      }
    }
  }

  /// Continues from what ``encode(into:)`` wrote.
  ///
  /// - Throws: ``StreamsError``: `damagedCheckpoint`.
  public func restore(from state: inout ByteReader) throws {
    last = try state.readOptional { try $0.readInt64() }
    rows = try state.readUInt64()
    sum = try state.readOptional { try ProofDigest(from: &$0) }
    try leaf.restore(from: &state)
    let children = try state.readArray { state in
      try state.readArray { TableLevel.Child(page: try $0.readUInt32(), key: try $0.readInt64()) }
    }
    levels = children.map { children in
      var level = TableLevel(geometry: writer.geometry, reservedAtStart: reservedAtStart)
      for child in children { level.append(child) }
      return level
    }
    guard levels.allSatisfy({ !$0.children.isEmpty && $0.isWithinPage }) else {
      throw state.damaged("an open interior page")
    }
  }

  /// Writes the pages that are still open and the root. No row can be appended afterwards.
  ///
  /// - Throws: ``StreamsError``.
  public func finish() throws {
    if levels.isEmpty {
      try leaf.write(as: root, to: writer)
    } else {
      try flushLeaf()
      var level = 0
      while level + 1 < levels.count {
        let key = levels[level].children.last!.key
        let page = try writer.allocate()
        try levels[level].write(as: page, to: writer)
        try add(TableLevel.Child(page: page, key: key), level: level + 1)
        level += 1
      }
      try levels[level].write(as: root, to: writer)
    }
    if root != 1 { try writer.setParent(of: root, .root, 0) }
  }
}

extension ProofDigest {
  /// Writes the digest into a checkpoint.
  public func encode(into writer: inout ByteWriter) { for word in words { writer.writeUInt64(word) } }

  /// Reads what ``encode(into:)`` wrote.
  ///
  /// - Throws: ``StreamsError``.
  public init(from reader: inout ByteReader) throws {
    var words: [UInt64] = []
    for _ in 0..<Self.wordCount { words.append(try reader.readUInt64()) }
    self.init(words: words)
  }
}
