import CoreDataModel
import CoreDataStore
import RunSupport
import Streams

/// Which values of a store lie outside of it, and whether their files are there. Reads every row of the tables
/// concerned; needs memory for the names in the folder alone.
public struct ExternalDataSurvey: Sendable, Codable, Equatable {
  /// A value whose file is not there.
  public struct Missing: Sendable, Codable, Equatable {
    /// The entity that declares the attribute.
    public var entity: String
    /// The object's Z_PK.
    public var key: Int64
    /// The attribute.
    public var attribute: String
    /// The file's name.
    public var file: String
  }

  /// How many examples are kept of missing and of orphan files.
  public static let exampleLimit = 5

  /// Values that are files.
  public private(set) var references: UInt64 = 0
  /// Values that are in the row although they might be outside.
  public private(set) var inline: UInt64 = 0
  /// Values of neither form.
  public private(set) var unknown: UInt64 = 0
  /// Values whose file is missing: real stores that were copied without their folder have them.
  public private(set) var missing: UInt64 = 0
  /// The first of them.
  public private(set) var missingExamples: [Missing] = []
  /// Files that no value names.
  public private(set) var orphans: UInt64 = 0
  /// The first of them by name.
  public private(set) var orphanExamples: [String] = []

  /// Surveys a store; nil when its model has no attribute whose values may lie outside.
  ///
  /// - Throws: ``BatchError``, and `StreamsError` of the disk below.
  public init?(_ reader: StoreReader, _ binding: StoreBinding, fileSystem: any FileSystem) throws {
    let folder = ExternalDataFolder(store: reader.path)
    let names = try fileSystem.status(folder.files) == nil ? [] : try fileSystem.list(folder.files)
    var unseen = Set(names)
    let known = unseen
    var hasAttribute = false
    for table in binding.tables {
      let columns = Self.columns(table, binding.layout.model)
      guard !columns.isEmpty else { continue }
      hasAttribute = true
      try survey(table, columns: columns, reader: reader) { name in
        unseen.remove(name)
        return known.contains(name)
      }
    }
    guard hasAttribute || !known.isEmpty else { return nil }
    orphans = UInt64(unseen.count)
    orphanExamples = Array(unseen.sorted().prefix(Self.exampleLimit))
  }

  /// Whether a store's model has an attribute whose values may lie outside.
  static func hasValues(_ binding: StoreBinding) -> Bool {
    binding.tables.contains { !columns($0, binding.layout.model).isEmpty }
  }

  /// What of a row is read.
  private static let rowBytes = 1 << 20

  private struct Column {
    var position: Int
    var entity: String
    var name: String
  }

  private static func columns(_ table: StoreBinding.Table, _ model: ManagedObjectModel) -> [Column] {
    zip(table.layout.columns, table.positions).compactMap { column, position in
      guard case .attribute(let entity, let name) = column.role,
        model.attribute(name, of: entity)?.allowsExternalBinaryDataStorage == true
      else { return nil }
      return Column(position: position, entity: entity, name: name)
    }
  }

  private mutating func survey(
    _ table: StoreBinding.Table, columns: [Column], reader: StoreReader, isThere: (String) -> Bool
  ) throws {
    let scan = TableScan(
      snapshot: reader.snapshot, root: table.schema.rootPage, rowLimit: .max, payloadLimit: Self.rowBytes)
    let (page, row) = (RowPage(), RecordDecoder())
    while try scan.next(into: page) {
      for index in 0..<page.count where row.decodeBeginning(page.record(index)) {
        for column in columns {
          guard column.position < row.columnCount else {
            // A value so large that its row was not read to the end is in its row; a name of a file is short.
            if page.record(index).count == Self.rowBytes { inline += 1 }
            continue
          }
          guard row.type(column.position) != 0 else { continue }
          add(ExternalValue(row.body(column.position)), column: column, key: page.rowid(index), isThere: isThere)
        }
      }
    }
  }

  private mutating func add(_ value: ExternalValue, column: Column, key: Int64, isThere: (String) -> Bool) {
    switch value {
    case .inline: inline += 1
    case .unknown: unknown += 1
    case .file(let name):
      references += 1
      guard !isThere(name) else { return }
      missing += 1
      guard missingExamples.count < Self.exampleLimit else { return }
      missingExamples.append(Missing(entity: column.entity, key: key, attribute: column.name, file: name))
    }
  }

  /// What a person should know; empty when every file is there and every file is used.
  public var notes: [String] {
    var notes: [String] = []
    if missing > 0 {
      let first = missingExamples.map { "\($0.entity) \($0.key).\($0.attribute) (\($0.file))" }.joined(separator: ", ")
      notes.append(
        "\(missing.grouped) of \(references.counted("value")) outside the store \(missing.verb("has", "have")) no file: \(first)\(missing > 5 ? ", …" : "")"
      )
    }
    if orphans > 0 {
      notes.append(
        "\(orphans.counted("file")) of external data \(orphans.verb("belongs", "belong")) to no object: \(orphanExamples.joined(separator: ", "))\(orphans > 5 ? ", …" : "")"
      )
    }
    if unknown > 0 {
      let kept = unknown.verb(
        "has an unknown form and is kept as it is", "have an unknown form and are kept as they are")
      notes.append("\(unknown.counted("value")) of external attributes \(kept)")
    }
    return notes
  }
}
