import CoreDataModel
import CoreDataStore
import Foundation
import MappingModels
import RunSupport
import Streams

/// Looks for objects that have the same values under a constraint, by sorting them.
struct ConstraintCheck {
  /// What was found.
  struct Equal {
    /// Objects that have the values of one before them.
    var count: UInt64 = 0
    /// The keys of the first of them.
    var pairs: [(earlier: Int64, later: Int64)] = []
  }

  private static let mostPairs = 3
  private static let sortBytes = 16 << 20

  /// How one of the values comes about.
  private enum Part: Equatable {
    case constant(Value)
    /// What a column holds, changed through these types; and what stands for NULL.
    case column(Int, types: [AttributeType], null: Value?)
  }

  /// How the values of an entity's objects come about.
  private struct Reading {
    let entity: SourceEntity
    let parts: [Part]
  }

  private let readings: [Reading]
  private let reader: StoreReader
  private let binding: StoreBinding

  /// Nil if a value is not stored.
  init?(_ constraint: NewConstraints.Constraint, reader: StoreReader, binding: StoreBinding) throws {
    (self.reader, self.binding) = (reader, binding)
    let readings = try constraint.shares.map { try Self.reading($0, binding) }
    guard !readings.isEmpty, !readings.contains(where: { $0 == nil }) else { return nil }
    self.readings = readings.compactMap { $0 }
  }

  private static func reading(_ share: NewConstraints.Share, _ binding: StoreBinding) throws -> Reading? {
    let entity = try SourceEntity(name: share.entity, binding: binding)
    let parts = share.values.compactMap { value -> Part? in
      switch value {
      case .constant(let constant): .constant(constant)
      case .source(let attribute, let types, let null):
        (entity.attributes[attribute]?.position ?? entity.relationships[attribute]?.keyPosition).map {
          .column($0, types: types, null: null)
        }
      case .computed: nil
      }
    }
    return parts.count == share.values.count ? Reading(entity: entity, parts: parts) : nil
  }

  /// The one table whose columns are compared as they are; nil if there are several, or values change.
  private var plain: (table: TableSchema, columns: [String])? {
    guard let first = readings.first,
      readings.allSatisfy({ $0.entity.table == first.entity.table && $0.parts == first.parts })
    else { return nil }
    let schema = binding.tables[first.entity.table].schema
    var columns: [String] = []
    for part in first.parts {
      guard case .column(let position, let types, nil) = part, Set(types).count == 1 else { return nil }
      columns.append(schema.columns[position].name)
    }
    return (schema, columns)
  }

  /// Identifies checks of the same values.
  var identity: [String] { readings.map { "\($0.entity.name) \($0.parts)" } }

  /// Whether the store keeps the constraint already.
  func isKept(by indexes: [IndexSchema]) -> Bool {
    guard let (table, columns) = plain else { return false }
    return indexes.contains { index in
      index.isUnique && NameOrder.folded(index.table) == NameOrder.folded(table.name)
        && Set(index.columns.map { $0.column.map(NameOrder.folded) }) == Set(columns.map { NameOrder.folded($0) })
    }
  }

  /// The query that lists objects with equal values; nil if no simple one does.
  var query: String? {
    guard let (table, columns) = plain else { return nil }
    let list = columns.joined(separator: ", ")
    let numbers = readings.map { "\($0.entity.number)" }.joined(separator: ", ")
    return "SELECT \(list), GROUP_CONCAT(Z_PK) FROM \(table.name) WHERE Z_ENT IN (\(numbers)) AND "
      + columns.map { "\($0) NOT NULL" }.joined(separator: " AND ") + " GROUP BY \(list) HAVING COUNT(*) > 1"
  }

  /// Sorts the objects.
  func run() throws -> Equal {
    let width = readings[0].parts.count
    let path = UnfinishedFiles.temporaryPath("constraint")
    let sorter = IndexSorter(
      columns: (0..<width).map { SortColumn($0) }, rowidColumn: nil, isUnique: true,
      memory: SortMemory(byteCount: Self.sortBytes),
      path: path, fileSystem: LocalFileSystem())
    let keys = TableKeys([sorter])
    for table in Set(readings.map(\.entity.table)).sorted() {
      // The run reports a value that is too long.
      guard try add(table, to: keys) else { return Equal() }
    }
    var equal = Equal()
    _ = try sorter.drain(
      into: IndexCells(),
      onEqual: { earlier, later in
        equal.count += 1
        if equal.pairs.count < Self.mostPairs { equal.pairs.append((earlier, later)) }
      },
      onFull: { cells in
        cells.reset()
        return cells
      })
    return equal
  }

  private func add(_ table: Int, to keys: TableKeys) throws -> Bool {
    let bound = binding.tables[table]
    let scan = TableScan(
      snapshot: reader.snapshot, root: bound.schema.rootPage, rowLimit: .max,
      longValuesFrom: MemoryBudget.longValueBytes)
    let longValues = LongValueReader(snapshot: reader.snapshot, limit: Self.sortBytes / 4)
    let (page, row, encoder, records) = (
      RowPage(), RecordDecoder(longValues: longValues), RecordEncoder(), RecordPage()
    )
    let concerned = Dictionary(readings.map { (Int64($0.entity.number), $0) }) { first, _ in first }
    while try scan.next(into: page) {
      records.reset()
      for index in 0..<page.count where row.decode(page.record(index)) {
        guard let number = row.integer(bound.positions[1]), let reading = concerned[number],
          reading.entity.table == table,
          try encode(row, reading: reading, schema: bound.schema, to: encoder)
        else { continue }
        records.append(table: table, rowid: page.rowid(index), encoder)
      }
      guard try Self.add(records, to: keys) else { return false }
    }
    return true
  }

  /// False where an object's values are too long for an index.
  private static func add(_ records: RecordPage, to keys: TableKeys) throws -> Bool {
    do {
      var areFit = true
      try records.forEach { _, rowid, record in
        if areFit { areFit = try keys.add(rowid: rowid, record: record) }
      }
      return try areFit && keys.flush() == nil
    } catch is LongKey { return false }
  }

  /// Writes the values of an object; false where one is NULL, or will not fit its type: the run says so.
  private func encode(_ row: RecordDecoder, reading: Reading, schema: TableSchema, to encoder: RecordEncoder) throws
    -> Bool
  {
    encoder.reset()
    for part in reading.parts {
      let value: Value
      switch part {
      case .constant(let constant): value = constant
      case .column(let position, let types, let null):
        guard let stored = try stored(row, position: position, schema: schema), let converted = types.converted(stored)
        else {
          return false
        }
        value = converted == .null ? null ?? .null : converted
      }
      guard value != .null else { return false }
      encoder.append(value)
    }
    return true
  }

  /// Nil for a value that is too long to be read here.
  private func stored(_ row: RecordDecoder, position: Int, schema: TableSchema) throws -> Value? {
    guard position < row.columnCount else { return schema.columns[position].defaultValue ?? .null }
    do { return try row.value(position) } catch let error as StreamsError where error.code == .tooLarge { return nil }
  }
}
