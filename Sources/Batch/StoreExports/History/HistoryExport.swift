import CoreDataModel
import CoreDataStore
import RunSupport
import Streams

/// Writes persistent history as a timeline: what was inserted, changed and deleted, when, and by whom. Nothing else in
/// a store shows deletions.
public struct HistoryExport: Sendable {
  /// How the timeline is written.
  public enum Format: String, Sendable, CaseIterable {
    /// A line a change, for people.
    case text
    /// A JSON object a change.
    case jsonLines = "jsonl"
    /// Comma-separated values with a header.
    case csv
  }

  /// What is written.
  public struct Options: Sendable {
    /// The format.
    public var format: Format
    /// Changes of this entity and its sub-entities alone; nil for all.
    public var entity: String?
    /// Changes of transactions that are not before this moment, in seconds since 2001; nil for all.
    public var since: Double?
    /// Changes after which the export ends.
    public var limit: UInt64?
    /// The memory budget; it bounds the largest row.
    public var memory = MemoryBudget.standard

    /// Makes options.
    public init(format: Format) { self.format = format }
  }

  private let reader: StoreReader
  private let model: ManagedObjectModel?
  private let options: Options
  private let schema: RawSchema
  private let numbers: Set<Int64>?

  /// Prepares an export. The model, if there is one, is that of the store: it names changed properties.
  ///
  /// - Throws: ``BatchError`` (`refused`) if there is no such entity.
  public init(_ reader: StoreReader, model: ManagedObjectModel?, options: Options) throws {
    self.reader = reader
    self.model = model
    self.options = options
    schema = RawSchema(reader)
    guard let entity = options.entity else {
      numbers = nil
      return
    }
    let found = try schema.find(entity, in: reader)
    let table = NameOrder.folded(found.table.name)
    numbers =
      found.numbers
      ?? Set(
        reader.primaryKeys.filter { NameOrder.folded($0.name) == table }.flatMap {
          RawSchema.family($0.entityNumber, reader)
        })
  }

  /// Writes the changes in their order. `sink` takes the text in pieces.
  ///
  /// - Throws: ``BatchError``: `refused` for a store without history; and what `sink` throws.
  public func run(to sink: @escaping (UnsafeRawBufferPointer) throws -> Void) throws -> ExportSummary {
    try BatchError.borderOfCaller {
      let rows = try HistoryRowsReader(reader, memory: options.memory)
      let text = ExportText(format: options.format == .jsonLines ? .jsonLines : .csv) { bytes in
        try CallersError.marking { try sink(bytes) }
      }
      let writer = HistoryText(text: text, format: options.format, uuid: reader.metadata.uuid)
      writer.writeHeader()
      var properties = model.map(HistoryProperties.init)
      let scan = TableScan(snapshot: reader.snapshot, root: rows.root, rowLimit: options.memory.rowLimit)
      let page = RowPage()
      var summary = ExportSummary()
      var (written, unnamed) = (UInt64(0), UInt64(0))
      while written < options.limit ?? .max, try scan.next(into: page) {
        for row in 0..<page.count where written < options.limit ?? .max {
          var change = try rows.change(page.rowid(row), page.record(row), path: reader.path)
          guard isWanted(change) else { continue }
          name(&change, &properties)
          if change.bitmap != nil, change.properties == nil { unnamed += 1 }
          writer.write(change)
          written += 1
          summary.rows[change.kind, default: 0] += 1
          try text.flushIfLarge()
        }
      }
      try text.flush()
      if unnamed > 0 { summary.notes.append(Self.note(unnamed, hasModel: model != nil)) }
      return summary
    }
  }

  private static func note(_ count: UInt64, hasModel: Bool) -> String {
    "\(count.counted("change shows", "changes show")) the bits of \(count.verb("its", "their")) changed properties without names, because "
      + (hasModel ? "the model does not fit them" : "no model is known: give --models")
  }

  private func isWanted(_ change: HistoryChange) -> Bool {
    if let numbers, !numbers.contains(change.entityNumber ?? 0) { return false }
    guard let since = options.since else { return true }
    return change.origin?.time.map { $0 >= since } ?? false
  }

  private func name(_ change: inout HistoryChange, _ properties: inout HistoryProperties?) {
    guard let number = change.entityNumber else { return }
    change.entity = schema.entities[number]
    guard let bitmap = change.bitmap, let entity = change.entity else { return }
    change.properties = properties?.names(bitmap, of: entity)
  }
}
