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

  /// Whether one more child fits, whatever its key.
  var fits: Bool {
    guard let last = children.last else { return true }
    return reservedAtStart + 12 + cellBytes + Self.cellLength(last) <= geometry.usableSize
  }

  /// Whether the cells of all children but the last fit on one page.
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
