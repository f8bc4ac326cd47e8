/// Builds a table's b-tree bottom-up from rows in ascending rowid order, one open page a level.
///
/// SQLite calls an interior page without cells malformed. So an interior page that is full hands its last child over to its
/// successor, which therefore always has two; and a leaf is written only when a row follows that does not fit.
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

  /// Begins a table. Page 1 has room for less, because the file's header stands before its root.
  public init(root: UInt32, writer: PageWriter) {
    self.root = root
    self.writer = writer
    reservedAtStart = root == 1 ? DatabaseHeader.length : 0
    overflow = OverflowWriter(writer: writer)
    leaf = CellPage(kind: .tableLeaf, geometry: writer.geometry, reservedAtStart: reservedAtStart)
  }

  /// Appends a row. Throws `order` when the rowid is not larger than the last one.
  public func append(rowid: Int64, record: UnsafeRawBufferPointer) throws {
    if let last, rowid <= last {
      throw StreamsError(.order, "rowid \(rowid) follows \(last) in a table that is built in order")
    }
    let geometry = writer.geometry
    let local = geometry.localLength(payload: record.count, maximum: geometry.maximumTableLocal)
    let spills = local < record.count
    let key = UInt64(bitPattern: rowid)
    let payload = UInt64(record.count)
    let head = Varint.length(payload) + Varint.length(key)
    let length = max(4, head + local + (spills ? 4 : 0))
    if leaf.room < length { try flushLeaf() }
    var first: UInt32 = 0
    if spills { first = try overflow.write(UnsafeRawBufferPointer(rebasing: record[local...])) }
    let cell = leaf.addCell(length: length, overflow: first)
    var position = Varint.write(payload, to: cell)
    position += Varint.write(key, to: cell + position)
    if let base = record.baseAddress { (cell + position).copyMemory(from: base, byteCount: local) }
    if spills { cell.storeBigEndian(first, at: position + local) }
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
    levels[level].removeAll()
    levels[level].append(carried)
    levels[level].append(child)
    try add(TableLevel.Child(page: page, key: key), level: level + 1)
  }

  /// Writes what a checkpoint needs to go on with this table: the open page of every level.
  public func encode(into state: inout ByteWriter) {
    state.writeOptional(last) { $0.writeInt64($1) }
    state.writeUInt64(rows)
    leaf.encode(into: &state)
    state.writeArray(levels) { state, level in
      state.writeArray(level.children) {
        $0.writeUInt32($1.page)
        $0.writeInt64($1.key)
      }
    }
  }

  /// Goes on from what ``encode(into:)`` wrote. Throws `damagedCheckpoint`.
  public func restore(from state: inout ByteReader) throws {
    last = try state.readOptional { try $0.readInt64() }
    rows = try state.readUInt64()
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

/// An interior page of a table that is being filled. Its last child will be the right-most one, which has no cell.
struct TableLevel {
  struct Child {
    var page: UInt32
    /// The largest rowid below the child.
    var key: Int64
  }

  let geometry: PageGeometry
  let reservedAtStart: Int
  private(set) var cellBytes = 0
  private(set) var children: [Child] = []

  init(geometry: PageGeometry, reservedAtStart: Int) {
    self.geometry = geometry
    self.reservedAtStart = reservedAtStart
  }

  mutating func append(_ child: Child) {
    if let last = children.last { cellBytes += Self.cellLength(last) }
    children.append(child)
  }

  /// Takes back the child appended last.
  mutating func removeLast() -> Child {
    let last = children.removeLast()
    if let new = children.last { cellBytes -= Self.cellLength(new) }
    return last
  }

  mutating func removeAll() {
    children.removeAll(keepingCapacity: true)
    cellBytes = 0
  }

  private static func cellLength(_ child: Child) -> Int { 2 + 4 + Varint.length(UInt64(bitPattern: child.key)) }

  /// Does one more child fit, whatever its key?
  var fits: Bool {
    guard let last = children.last else { return true }
    return reservedAtStart + 12 + cellBytes + Self.cellLength(last) <= geometry.usableSize
  }

  /// Do the cells of all children but the last fit on one page?
  var isWithinPage: Bool { reservedAtStart + 12 + cellBytes <= geometry.usableSize }

  func write(as number: UInt32, to writer: PageWriter) throws {
    let page = CellPage(kind: .tableInterior, geometry: geometry, reservedAtStart: reservedAtStart)
    for child in children.dropLast() {
      let key = UInt64(bitPattern: child.key)
      let cell = page.addCell(length: 4 + Varint.length(key), overflow: 0, child: child.page)
      cell.storeBigEndian(child.page, at: 0)
      Varint.write(key, to: cell + 4)
    }
    try page.write(as: number, rightmost: children.last!.page, to: writer)
  }
}
