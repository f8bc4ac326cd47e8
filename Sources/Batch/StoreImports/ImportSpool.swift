import CoreDataStore
import RunSupport
import Streams

/// Everything that an import has read, sorted on disk in the order in which it is written: rows of each entity table by
/// key, each followed by what other objects set in it, then links of each join table.
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
  static let firstJoin = 0x8000

  private let sorter: ExternalSorter
  private let largest: Int
  /// Keys that are given by table, and rows without one.
  private(set) var largestKeys: [Int64]
  private(set) var newRows: [Int64]
  private var bytes: [UInt8] = []
  private var row: [UInt8] = []

  init(tables: Int, files: StepFiles) {
    sorter = ExternalSorter(
      memoryBytes: files.budget.sortBytes, path: files.path("rows"), fileSystem: files.fileSystem)
    largest = files.budget.sortBytes / 3 - 64
    largestKeys = Array(repeating: 0, count: tables)
    newRows = Array(repeating: 0, count: tables)
  }

  /// The address of a new object of a table. Throws ``ImportProblem`` if there are too few keys.
  func address(_ table: Int, key: Int64?) throws -> ImportAddress {
    let largest = max(largestKeys[table], key ?? 0)
    let count = newRows[table] + (key == nil ? 1 : 0)
    guard count <= .max - largest else {
      throw ImportProblem(
        "the largest key is \(largest), and objects without a key would get larger ones: give every object its key")
    }
    (largestKeys[table], newRows[table]) = (largest, count)
    return key.map(ImportAddress.init(key:)) ?? ImportAddress(new: count)
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
  func check(_ record: RecordEncoder) throws {
    guard record.length <= largest else {
      throw ImportProblem("the object has \(record.length >> 20) MiB; import with a larger --memory")
    }
  }

  /// Adds a row that ``check(_:)`` has let pass.
  func add(_ table: Int, _ address: ImportAddress, line: Int, record: RecordEncoder) throws {
    let start = 2 + ImportAddress.length + 9
    let length = start + record.length
    if row.count < length { row = [UInt8](repeating: 0, count: 2 * length) }
    try row.withUnsafeMutableBytes { room in
      room.storeBytes(of: UInt16(truncatingIfNeeded: table).bigEndian, as: UInt16.self)
      address.write(to: UnsafeMutableRawBufferPointer(rebasing: room[2...]))
      room[start - 9] = Self.rowPart
      room.store(biased: Int64(line), at: start - 8)
      record.write(to: room.baseAddress! + start)
      try sorter.add(UnsafeRawBufferPointer(rebasing: room[..<length]))
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

  /// Calls the functions with everything in order.
  func drain(
    row: (Int, ImportAddress, Int, UnsafeRawBufferPointer) throws -> Void,
    patch: (Int, ImportAddress, Patch) throws -> Void, link: (Int, Link) throws -> Void
  ) throws {
    let head = 2 + ImportAddress.length
    try sorter.drain { bytes in
      let (table, address) = (bytes.short(at: 0), ImportAddress(bytes, at: 2))
      if table >= Self.firstJoin {
        let place = head + ImportAddress.length
        return try link(
          table & ~Self.firstJoin,
          Link(
            source: address, destination: ImportAddress(bytes, at: head), order: bytes.biased(at: place + 1),
            isBySource: bytes[place] == 0, line: Int(bytes.biased(at: place + 9))))
      }
      if bytes[head] == Self.rowPart {
        let start = head + 9
        let record = UnsafeRawBufferPointer(rebasing: bytes[start...])
        return try row(table, address, Int(bytes.biased(at: head + 1)), record)
      }
      try patch(table, address, Self.patch(bytes, at: head + 1))
    }
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
