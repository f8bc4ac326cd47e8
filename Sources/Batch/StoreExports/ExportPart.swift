import CoreDataStore
import Migrations
import RunSupport

/// One text or file of an export: what its objects are, and who writes them.
struct ExportPart {
  private enum Target {
    case text(ExportText)
    case parquet(ParquetFile)
  }

  let writer: any ObjectWriter
  let entities: [ExportEntity]
  private let target: Target

  /// Begins a part with the objects of some entities.
  ///
  /// - Throws: ``BatchError`` for a condition that they do not know; and what `sink` throws.
  init(
    of members: [SourceEntity], planner: ExportPlanner, run: ExportRun,
    to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let columns = planner.columns(members)
    entities = try members.map { entity in
      var prepared =
        planner.options.format == .jsonLines ? planner.jsonEntity(entity) : planner.tableEntity(entity, columns)
      prepared.filter = try planner.filter(entity)
      return prepared
    }
    guard let format = planner.options.format.text else {
      let file = try ParquetFile(
        planner.parquetColumns(columns, members), groupBytes: planner.options.memory.rowGroupBytes, sink: sink)
      writer = ParquetObjects(file, blobs: run.blobs, of: planner.graph, memory: planner.options.memory)
      target = .parquet(file)
      return
    }
    let text = ExportText(format: format, sink: sink)
    if format == .csv { text.append(planner.csvHeader(columns)) }
    writer = TextObjects(text, values: run.values(text), entityNames: planner.graph.binding.layout.entityNames)
    target = .text(text)
  }

  /// Ends the part. `name` is that of its objects in notes.
  ///
  /// - Throws: what the sink throws.
  func finish(_ run: inout ExportRun, name: String) throws {
    switch target {
    case .text(let text):
      try text.flush()
      run.repairedTexts += text.repairedTexts
    case .parquet(let file): try run.finish(file, name: name)
    }
  }
}

extension ExportRun {
  /// Ends a file, and notes what it could not hold.
  ///
  /// - Throws: what the sink throws.
  mutating func finish(_ file: ParquetFile, name: String) throws {
    try file.finish()
    for column in file.columns {
      repairedTexts += column.repairedTexts
      guard column.strays > 0 else { continue }
      let path = "\(name).\(column.name)"
      let values = column.strays.counted("value of \(path) does", "values of \(path) do")
      notes.append("\(values) not have the column's type, and NULL is written; --format jsonl shows what is stored")
    }
  }
}
