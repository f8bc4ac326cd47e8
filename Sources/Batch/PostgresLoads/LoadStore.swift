import CoreDataModel
import CoreDataStore
import StoreExports
import Streams

/// The store that a load reads.
final class LoadStore: @unchecked Sendable {
  // Sendable: nothing in it changes until it is closed, when all have ended.
  let reader: StoreReader
  let binding: StoreBinding
  let fileSystem: any FileSystem
  /// What distinguishes it from every other store.
  let fingerprint: [UInt8]
  private let externalData: ExternalDataFolder

  var path: String { reader.path }

  /// Opens a store of a model; nobody may write to it until it is closed.
  init(_ path: String, model: ManagedObjectModel, _ fileSystem: any FileSystem) throws {
    reader = try StoreExport.open(path, fileSystem)
    do {
      binding = try StoreBinding(reader, model: model)
      fingerprint = try SourceFingerprint.of(reader.snapshot)
    } catch {
      reader.close()
      throw error
    }
    self.fileSystem = fileSystem
    externalData = ExternalDataFolder(store: path)
  }

  func close() { reader.close() }

  /// The source's table with the rows of one of PostgreSQL's.
  func source(of table: PostgresTable) -> TableSchema {
    switch table.rows {
    case .objects(let place, _): binding.tables[place].schema
    case .links(let join): binding.joins[join].schema
    }
  }

  /// Where the values of a table's columns are in the source's records, and those of rows that end before a column.
  func fields(of table: PostgresTable) -> ([CopyRowEncoder.Field], [Value]) {
    let columns = source(of: table).columns
    let positions = table.columns.map { position(of: $0.source, table) }
    let fields = zip(table.columns, positions).map { column, position in
      CopyRowEncoder.Field(
        type: column.type, place: position.map { .record($0) } ?? (column.source == .entityName ? .entityName : .key),
        isRequired: column.isRequired, isExternal: isExternal(column.source))
    }
    let defaults = positions.map { position in
      position.flatMap { columns.indices.contains($0) ? columns[$0].defaultValue : nil } ?? .null
    }
    return (fields, defaults)
  }

  private func isExternal(_ source: PostgresColumn.Source) -> Bool {
    if case .column(_, true) = source { return true }
    return false
  }

  private func position(of source: PostgresColumn.Source, _ table: PostgresTable) -> Int? {
    switch (source, table.rows) {
    case (.column(let column, _), .objects(let place, _)): binding.tables[place].positions[column]
    case (.entityNumber, .objects(let place, _)): binding.tables[place].positions[1]
    case (.link(let name), .links(let join)): position(ofLink: name, binding.joins[join])
    default: nil
    }
  }

  private func position(ofLink name: String, _ join: StoreBinding.Join) -> Int? {
    switch name {
    case join.layout.sourceColumn: join.sourcePosition
    case join.layout.destinationColumn: join.destinationPosition
    case join.layout.sourceOrderColumn: join.sourceOrderPosition
    default: join.destinationOrderPosition
    }
  }

  /// A file with an external value; nil if it is missing. A name comes from the store, and leads to no other folder.
  func externalFile(_ name: String) throws -> (path: String, bytes: Int)? {
    guard !name.contains("/"), !name.contains("\0") else { return nil }
    let path = FilePaths.join(externalData.files, name)
    guard let status = try fileSystem.statusOfName(path), status.isRegularFile else { return nil }
    return (path, Int(clamping: status.size))
  }
}
