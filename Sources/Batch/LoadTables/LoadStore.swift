import CoreDataModel
import CoreDataStore
import StoreExports
import Streams

/// The store that a load reads.
package final class LoadStore: @unchecked Sendable {
  // Sendable: nothing in it changes until it is closed, when all have ended.
  package let reader: StoreReader
  package let binding: StoreBinding
  package let fileSystem: any FileSystem
  /// What distinguishes it from every other store.
  package let fingerprint: [UInt8]
  private let externalData: ExternalDataFolder

  package var path: String { reader.path }

  /// Opens a store of a model; nobody may write to it until it is closed.
  package init(_ path: String, model: ManagedObjectModel, _ fileSystem: any FileSystem) throws {
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

  package func close() { reader.close() }

  /// The source's table with the rows of one of the database's.
  package func source(of table: LoadTable) -> TableSchema {
    switch table.rows {
    case .objects(let place, _): binding.tables[place].schema
    case .links(let join): binding.joins[join].schema
    }
  }

  /// Where the values of a table's columns are in the source's rows.
  package func places(of table: LoadTable) -> [LoadPlace] {
    table.columns.map { column in
      position(of: column.source, table).map { .record($0) } ?? (column.source == .entityName ? .entityName : .key)
    }
  }

  /// The values of a table's columns in rows that end before them.
  package func defaults(of table: LoadTable) -> [Value] {
    let columns = source(of: table).columns
    return table.columns.map { column in
      position(of: column.source, table).flatMap { columns.indices.contains($0) ? columns[$0].defaultValue : nil }
        ?? .null
    }
  }

  private func position(of source: LoadColumn.Source, _ table: LoadTable) -> Int? {
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
  package func externalFile(_ name: String) throws -> (path: String, bytes: Int)? {
    guard !name.contains("/"), !name.contains("\0") else { return nil }
    let path = FilePaths.join(externalData.files, name)
    guard let status = try fileSystem.statusOfName(path), status.isRegularFile else { return nil }
    return (path, Int(clamping: status.size))
  }
}
