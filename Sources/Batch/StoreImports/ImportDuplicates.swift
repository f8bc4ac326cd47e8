import CoreDataModel
import CoreDataStore
import Migrations
import RunSupport
import Streams

/// Says which objects of a new store have equal values that the model keeps unique.
struct ImportDuplicates {
  private static let longest = 40

  let layout: StoreLayout
  let database: DatabaseBuilder
  let header: DatabaseHeader
  let files: StepFiles

  func refusal(_ equal: IndexPass.EqualRows) throws -> BatchError {
    let columns = layout.indexes.first { $0.name == equal.index }?.columns.map(\.name) ?? []
    let table = layout.entityTables.first { $0.name == equal.table }
    let places = columns.compactMap { name in table?.columns.firstIndex { $0.name == name } }
    let names = places.map { place -> String in
      switch table?.columns[place].role {
      case .attribute(_, let name), .toOne(_, let name): name
      default: table?.columns[place].name ?? ""
      }
    }
    let values = try values(of: equal.first, in: equal.table, places)
    let shown = zip(names, values).map { "\($0) = \(Self.text($1))" }.joined(separator: ", ")
    return BatchError(
      .refused,
      "the objects with the keys \(equal.first) and \(equal.second) have the same \(shown), "
        + "which the model keeps unique (\(equal.index))",
      hint: "Correct the files: give each object a value of its own, or leave one of them out",
      effect: .nothingWritten, entity: table?.rootEntity)
  }

  private func values(of key: Int64, in table: String, _ places: [Int]) throws -> [Value] {
    guard let root = database.root(of: table) else { return [] }
    try database.writer.flush()
    let snapshot = try DatabaseSnapshot.building(
      path: files.prefix, fileSystem: files.fileSystem, header: header, pageCount: database.writer.nextPage - 1)
    defer { snapshot.close() }
    let rows = RowLookup(snapshot: snapshot, root: root, cacheBytes: 1 << 16, rowLimit: .max)
    let decoder = RecordDecoder()
    return try rows.withRecord(key) { record in
      guard decoder.decode(record) else { return [] }
      return try places.map { try decoder.value($0) }
    } ?? []
  }

  private static func text(_ value: Value) -> String {
    switch value {
    case .null: "NULL"
    case .integer(let integer): "\(integer)"
    case .real(let double): "\(double)"
    case .text(let text): text.count <= longest ? "\"\(text)\"" : "\"\(text.prefix(longest))…\""
    case .blob(let bytes): "\(bytes.count) bytes"
    }
  }
}
