import CoreDataStore
import RunSupport
import Streams

/// Reads ACHANGE, ATRANSACTION and ATRANSACTIONSTRING (B.9) by the names of their columns, which differ from system to
/// system.
final class HistoryRowsReader {
  private static let mostStrings = 1 << 12
  private static let longest = 1 << 16

  private let changes: TableSchema
  private let transactions: TableSchema?
  private let origins: RowLookup?
  private let strings: RowLookup?
  private let stringName: Int?
  private var known: [Int64: String] = [:]
  private var last: (number: Int64, origin: HistoryOrigin?)?
  private let decoder = RecordDecoder()
  private let tombstones: [(name: String, position: Int)]

  /// Throws `refused` for a store without history.
  init(_ reader: StoreReader, memory: MemoryBudget) throws {
    guard let changes = reader.schema.table("ACHANGE") else {
      throw BatchError(
        .refused, "the store has no persistent history",
        hint: "Core Data writes one only if the application asks for it", path: reader.path)
    }
    func lookup(_ table: TableSchema) -> RowLookup {
      RowLookup(
        snapshot: reader.snapshot, root: table.rootPage, cacheBytes: memory.lookupCacheBytes, rowLimit: memory.rowLimit)
    }
    self.changes = changes
    transactions = reader.schema.table("ATRANSACTION")
    origins = transactions.map(lookup)
    let strings = reader.schema.table("ATRANSACTIONSTRING")
    self.strings = strings.map(lookup)
    stringName = strings?.position(of: "ZNAME")
    tombstones = changes.columns.enumerated().filter { NameOrder.folded($1.name).hasPrefix("ztombstone") }.map {
      ($1.name, $0)
    }
  }

  var root: UInt32 { changes.rootPage }

  /// The change of a row of ACHANGE; its entity and properties are still without names.
  func change(_ rowid: Int64, _ record: UnsafeRawBufferPointer, path: String) throws -> HistoryChange {
    guard decoder.decode(record) else {
      throw BatchError(.badStore, "a row of ACHANGE is damaged", path: path, key: rowid)
    }
    func integer(_ name: String) -> Int64? { changes.position(of: name).flatMap { decoder.integer($0) } }
    var change = HistoryChange(
      number: rowid, transaction: integer("ZTRANSACTIONID"), kindNumber: integer("ZCHANGETYPE"),
      entityNumber: integer("ZENTITY"), key: integer("ZENTITYPK"))
    if let position = changes.position(of: "ZCOLUMNS"), position < decoder.columnCount,
      case .blob(let bytes) = try decoder.value(position)
    {
      change.bitmap = bytes
    }
    for (name, position) in tombstones where position < decoder.columnCount {
      let value = try decoder.value(position)
      if value != .null { change.tombstone.append((name, value)) }
    }
    if let number = change.transaction { change.origin = try origin(number) }
    return change
  }

  /// Neighbours are mostly of one transaction.
  private func origin(_ number: Int64) throws -> HistoryOrigin? {
    if let last, last.number == number { return last.origin }
    guard let origins, let transactions else { return nil }
    let row = RecordDecoder()
    let found = try origins.withRecord(number) { record -> HistoryOrigin? in
      guard row.decode(record) else { return nil }
      func value(_ name: String) throws -> Value {
        guard let position = transactions.position(of: name), position < row.columnCount else { return .null }
        return try row.value(position)
      }
      func text(_ name: String) throws -> String? {
        if case .integer(let number) = try value(name + "TS"), let text = try string(number) { return text }
        guard case .text(let text) = try value(name) else { return nil }
        return text
      }
      var origin = HistoryOrigin()
      switch try value("ZTIMESTAMP") {
      case .real(let seconds): origin.time = seconds
      case .integer(let seconds): origin.time = Double(seconds)
      case .null, .text, .blob: break
      }
      (origin.author, origin.context) = (try text("ZAUTHOR"), try text("ZCONTEXTNAME"))
      (origin.bundle, origin.process) = (try text("ZBUNDLEID"), try text("ZPROCESSID"))
      return origin
    }
    last = (number, found ?? nil)
    return found ?? nil
  }

  private func string(_ number: Int64) throws -> String? {
    if let text = known[number] { return text }
    guard let strings, let stringName else { return nil }
    let row = RecordDecoder()
    let found = try strings.withRecord(number) { record -> String? in
      guard row.decode(record), stringName < row.columnCount, case .text(let text) = try row.value(stringName) else {
        return nil
      }
      return String(decoding: text.utf8.prefix(Self.longest), as: UTF8.self)
    }
    if known.count >= Self.mostStrings { known.removeAll() }
    if let text = found ?? nil { known[number] = text }
    return found ?? nil
  }
}
