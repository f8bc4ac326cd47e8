import CoreDataStore
import RunSupport
import Streams

/// Everything that an import has read, in the order in which it is written: rows of each entity table by key, each
/// followed by what other objects set in it, then links of each join table. Rows that come in order stand in a log; all
/// else is sorted on disk.
final class ImportSpool {
  /// What another object's relationship sets in a row.
  struct Patch {
    var column: Int
    /// The column with the target's Z_ENT.
    var entityColumn: Int?
    var orderColumn: Int?
    var order: Int64?
    /// The table of the object that is pointed at.
    var table: Int
    var target: ImportAddress
    /// That object's Z_ENT; 0 if it is not known.
    var entity: Int
    /// Whether it gives way where the row itself says that there is no object.
    var isWeak = false
    var line: Int

    /// What a row says that leads to no object.
    static func none(_ column: Int, line: Int) -> Patch {
      Patch(column: column, table: 0, target: ImportAddress(key: 0), entity: 0, line: line)
    }

    var isNone: Bool { target == ImportAddress(key: 0) }
    /// Whether a list of the object that is pointed at says it, and not the row itself.
    var isOfList: Bool { order != nil }
  }

  /// A link of a join table.
  struct Link {
    var source: ImportAddress
    var destination: ImportAddress
    /// Place of the destination among the source's objects, if the source listed it; else of the source.
    var order: Int64
    var isBySource: Bool
    var line: Int
  }

  private static let rowPart: UInt8 = 0
  private static let patchPart: UInt8 = 1
  /// What stands before a row's record: table, address, kind, line.
  private static let rowHead = ImportAddress.length + 11
  static let firstJoin = 0x8000

  private let sorter: ExternalSorter
  private let log: ImportRowLog
  private let largest: Int
  /// Keys that are given by table, and rows without one.
  private(set) var largestKeys: [Int64]
  private(set) var newRows: [Int64]
  private var bytes: [UInt8] = []
  private var row: [UInt8] = []

  init(tables: Int, files: StepFiles, keepsFile: Bool = false) {
    sorter = ExternalSorter(
      memoryBytes: files.budget.sortBytes, path: files.path("rows"), fileSystem: files.fileSystem, keepsFile: keepsFile)
    log = ImportRowLog(files.path("ordered"), tables: tables, files.fileSystem, keepsFile: keepsFile)
    largest = files.budget.sortBytes / 3 - 64
    largestKeys = Array(repeating: 0, count: tables)
    newRows = Array(repeating: 0, count: tables)
  }

  /// The address of a new object of a table. Throws ``ImportProblem`` if there are too few keys.
  func address(_ table: Int, key: Int64?) throws -> ImportAddress {
    try take(key ?? 0, more: key == nil ? 1 : 0, in: table)
    return key.map(ImportAddress.init(key:)) ?? ImportAddress(new: newRows[table])
  }

  /// Lets no new object get a key that leads to none: not in this import, nor by an application later. Throws
  /// ``ImportProblem`` if there are too few keys.
  func reserve(_ key: Int64, in table: Int) throws { try take(key, more: 0, in: table) }

  /// Counts a key that is given, and new rows.
  private func take(_ key: Int64, more: Int64, in table: Int) throws {
    let (largest, count) = (max(largestKeys[table], key), newRows[table] + more)
    guard count <= .max - largest else { throw Self.fewKeys(largest) }
    (largestKeys[table], newRows[table]) = (largest, count)
  }

  private static func fewKeys(_ largest: Int64) -> ImportProblem {
    ImportProblem(
      "the largest key is \(largest), and objects without a key would get larger ones: give every object its key")
  }

  /// The address of a key, when all objects of a table have their addresses.
  func address(_ table: Int, of key: Int64) -> ImportAddress {
    let largest = largestKeys[table]
    return key > largest ? ImportAddress(new: key - largest) : ImportAddress(key: key)
  }

  /// The largest key of a table when all rows have theirs.
  func maximum(_ table: Int) -> Int64 { largestKeys[table] + newRows[table] }

  private func begin(_ table: Int, _ address: ImportAddress) {
    bytes.removeAll(keepingCapacity: true)
    bytes.append(short: table)
    address.write(to: &bytes)
  }

  private func finish() throws { try bytes.withUnsafeBytes { try sorter.add($0) } }

  /// Throws ``ImportProblem`` for a row that is too large.
  func check(_ length: Int) throws {
    guard length <= largest else {
      throw ImportProblem("the object has \(length >> 20) MiB; import with a larger --memory")
    }
  }

  /// Adds a row that ``check(_:)`` has let pass.
  func add(_ table: Int, _ address: ImportAddress, line: Int, record: RecordEncoder) throws {
    try sort(table, address, line: line, count: record.length) { record.write(to: $0) }
  }

  /// Adds a row to what is sorted; `write` puts its record, of so many bytes, where it is told.
  private func sort(
    _ table: Int, _ address: ImportAddress, line: Int, count: Int, write: (UnsafeMutableRawPointer) -> Void
  ) throws {
    let length = Self.rowHead + count
    if row.count < length { row = [UInt8](repeating: 0, count: 2 * length) }
    try row.withUnsafeMutableBytes { room in
      room.storeBytes(of: UInt16(truncatingIfNeeded: table).bigEndian, as: UInt16.self)
      address.write(to: UnsafeMutableRawBufferPointer(rebasing: room[2...]))
      room[Self.rowHead - 9] = Self.rowPart
      room.store(biased: Int64(line), at: Self.rowHead - 8)
      write(room.baseAddress! + Self.rowHead)
      try sorter.add(UnsafeRawBufferPointer(rebasing: room[..<length]))
    }
  }

  /// Gives rows their addresses, and adds none. Throws ``ImportProblem``.
  func count(_ stretch: ImportStretch) throws {
    try check(stretch.longestRecord)
    try take(stretch.largestKey, more: stretch.isKeyed ? 0 : Int64(stretch.count), in: stretch.table)
  }

  /// Adds rows of lines that follow each other from `line` on. Throws ``ImportProblem``, and adds none then.
  func add(_ stretch: ImportStretch, line: Int, _ rows: UnsafeRawBufferPointer) throws {
    let (table, before) = (stretch.table, newRows[stretch.table])
    try count(stretch)
    let first = stretch.isKeyed ? ImportAddress(key: stretch.firstKey) : ImportAddress(new: before + 1)
    if stretch.isOrdered, log.takes(table, first) {
      return try log.add(.init(stretch, after: before, line), rows)
    }
    var (next, number) = (ImportStretchRows(rows, isKeyed: stretch.isKeyed, after: before), line)
    while let record = next.next() {
      let address = stretch.isKeyed ? ImportAddress(key: next.number) : ImportAddress(new: next.number)
      try sort(table, address, line: number, count: record.count) {
        $0.copyMemory(from: record.baseAddress!, byteCount: record.count)
      }
      number += 1
    }
  }

  /// Adds what is set in the row of a table.
  func add(_ patch: Patch, to table: Int, _ address: ImportAddress) throws {
    begin(table, address)
    bytes.append(Self.patchPart)
    bytes.append(short: patch.column)
    bytes.append(biased: Int64(patch.line))
    for column in [patch.entityColumn, patch.orderColumn] { bytes.append(short: column ?? 0xFFFF) }
    bytes.append(biased: patch.order ?? .min)
    bytes.append(short: patch.table)
    patch.target.write(to: &bytes)
    bytes.append(short: patch.entity)
    bytes.append(patch.isWeak ? 1 : 0)
    try finish()
  }

  /// Adds a link of a join table.
  func add(_ link: Link, to join: Int) throws {
    begin(Self.firstJoin | join, link.source)
    link.destination.write(to: &bytes)
    bytes.append(link.isBySource ? 0 : 1)
    bytes.append(biased: link.order)
    bytes.append(biased: Int64(link.line))
    try finish()
  }

  /// Gives a builder of tables everything in order, but for what it has taken before.
  func drain(to tables: ImportTables) throws {
    let head = 2 + ImportAddress.length
    let rows = try ImportLogDrain(log.reader(), to: tables)
    try sorter.drain { bytes in
      let (table, address) = (bytes.short(at: 0), ImportAddress(bytes, at: 2))
      try rows.pass(through: table, address)
      guard rows.left == 0 else { return rows.left -= 1 }
      if table >= Self.firstJoin {
        let place = head + ImportAddress.length
        return try tables.link(
          table & ~Self.firstJoin,
          Link(
            source: address, destination: ImportAddress(bytes, at: head), order: bytes.biased(at: place + 1),
            isBySource: bytes[place] == 0, line: Int(bytes.biased(at: place + 9))))
      }
      if bytes[head] == Self.rowPart {
        let record = UnsafeRawBufferPointer(rebasing: bytes[Self.rowHead...])
        return try tables.row(table, address, line: Int(bytes.biased(at: head + 1)), record: record)
      }
      try tables.patch(table, address, set: Self.patch(bytes, at: head + 1))
    }
    try rows.pass(through: .max, ImportAddress(key: 0))
    log.forget()
  }

  private static func patch(_ bytes: UnsafeRawBufferPointer, at place: Int) -> Patch {
    func optional(_ number: Int) -> Int? { number == 0xFFFF ? nil : number }
    let order = bytes.biased(at: place + 14)
    return Patch(
      column: bytes.short(at: place), entityColumn: optional(bytes.short(at: place + 10)),
      orderColumn: optional(bytes.short(at: place + 12)), order: order == .min ? nil : order,
      table: bytes.short(at: place + 22), target: ImportAddress(bytes, at: place + 24),
      entity: bytes.short(at: place + 33), isWeak: bytes[place + 35] == 1, line: Int(bytes.biased(at: place + 2)))
  }
}

// What a checkpoint continues.
extension ImportSpool {
  /// Whether all of it is in memory.
  var isInMemory: Bool { sorter.isInMemory && log.isInMemory }

  func encode(into state: inout ByteWriter) throws {
    for keys in [largestKeys, newRows] { state.writeArray(keys) { $0.writeInt64($1) } }
    try sorter.encode(into: &state)
    try log.encode(into: &state)
  }

  func sync() throws {
    try sorter.sync()
    try log.sync()
  }

  /// Removes the files of a drained spool that kept them.
  func remove() throws {
    try sorter.removeFile()
    try log.remove()
  }

  func restore(from state: inout ByteReader) throws {
    let count = largestKeys.count
    largestKeys = try state.readArray(elementSize: 8) { try $0.readInt64() }
    newRows = try state.readArray(elementSize: 8) { try $0.readInt64() }
    guard largestKeys.count == count, newRows.count == count else { throw state.damaged("keys of other tables") }
    try sorter.restore(from: &state)
    try log.restore(from: &state)
  }
}
