import Foundation
import GRDB
import Testing

@testable import CoreDataModel
@testable import CoreDataStore

// Needs real stores, which are no part of the package.
@Suite("Layouts predict stores that Core Data wrote", .enabled(if: StoreCorpus.isPresent, "no corpus (GODWIT_CORPUS)"))
struct StoreLayoutCorpusTests {
  struct Sample {
    let entry: StoreCorpus.Entry
    let layout: StoreLayout
    let rows: [SchemaRow]
    let schema: StoreSchema
  }

  static func samples() throws -> [Sample] {
    try StoreCorpus.stores().compactMap { entry in
      guard let path = entry.model, entry.isExact || path.hasSuffix(".json") else { return nil }
      let model = try StoreModelReader.read((StoreCorpus.root ?? "") + "/" + path)
      let rows = try StoreCorpus.withCopy(entry, StoreCorpus.schemaRows)
      let layout = try StoreLayout(model: model)
      return Sample(entry: entry, layout: layout, rows: rows, schema: try StoreSchema(rows: rows, path: entry.path))
    }
  }

  @Test("Every predicted entity table has exactly the predicted columns, types and, but for Z_FOK_ columns, order")
  func entityTables() throws {
    var (tables, sameColumns, sameOrder, sameText) = (0, 0, 0, 0)
    for sample in try Self.samples() {
      for table in sample.layout.entityTables {
        tables += 1
        let real = try #require(sample.schema.table(table.name), "\(sample.entry.path) \(table.name)")
        let wanted = table.columns.map { "\($0.name) \($0.type)" }
        let found = real.columns.map { "\($0.name) \($0.declaredType)" }
        if Set(wanted) == Set(found), wanted.count == found.count { sameColumns += 1 }
        if Self.blurred(wanted) == Self.blurred(found) { sameOrder += 1 }
        if real.sql == table.sql { sameText += 1 }
      }
    }
    #expect(tables == 437)
    #expect(sameColumns == tables)
    #expect(sameOrder == tables)
    // Text differs in 29: the order of two Z_FOK_ columns (ZMESSAGE of 23 wire stores), constraints that framework 637
    // wrote into the table (6 of Moody).
    #expect(sameText == 408)
  }

  /// Ordering keys stand together, in an order that varies between real stores.
  private static func blurred(_ columns: [String]) -> [String] {
    guard let first = columns.firstIndex(where: { $0.hasPrefix("Z_FOK_") }) else { return columns }
    let keys = columns.filter { $0.hasPrefix("Z_FOK_") }.sorted()
    var others = columns.filter { !$0.hasPrefix("Z_FOK_") }
    others.insert(contentsOf: keys, at: first)
    return others
  }

  @Test("Join tables are predicted to the letter, but for self-referencing ones named by the other side")
  func joinTables() throws {
    var (tables, sameText, otherSide) = (0, 0, [String]())
    for sample in try Self.samples() {
      let real = Set(sample.rows.compactMap(\.sql))
      for table in sample.layout.joinTables {
        tables += 1
        if real.contains(table.sql) {
          sameText += 1
        } else if let other = table.otherName, sample.schema.table(other) != nil {
          otherSide.append("\(sample.entry.path) \(other)")
        } else {
          Issue.record("\(sample.entry.path) lacks \(table.sql)")
        }
      }
    }
    #expect(tables == 240)
    #expect(sameText == 234)
    // Three wire stores of one framework: two pairs each.
    #expect(otherSide.count == 6)
  }

  @Test("Predicted and real indexes are the same, by table and columns; every exception has its reason")
  func indexes() throws {
    var (wanted, found) = (0, 0)
    var (missing, surplus): ([String: Int], [String: Int]) = ([:], [:])
    for sample in try Self.samples() {
      let real = Set(sample.schema.indexes.map(Self.shape))
      let predicted = Set(sample.layout.indexes.map(Self.shape))
      wanted += predicted.count
      found += predicted.intersection(real).count
      for index in sample.layout.indexes where !real.contains(Self.shape(index)) {
        missing[Self.reason(table: index.table, sample), default: 0] += 1
      }
      for index in sample.schema.indexes where !predicted.contains(Self.shape(index)) {
        surplus[Self.reason(index, sample), default: 0] += 1
      }
    }
    #expect(wanted == 1529)
    #expect(found == 1516)
    #expect(missing == ["named by the other side": 6, "no second index in framework 479 and before": 7])
    #expect(
      surplus == [
        "history": 24, "named by the other side": 6, "not in the decoded JSON": 12, "clause of its table": 240,
      ])
  }

  private static func shape(_ index: IndexSchema) -> String {
    shape(index.table, index.columns.map { ($0.column ?? "rowid", $0.isDescending) }, index.isUnique)
  }

  private static func shape(_ index: IndexLayout) -> String {
    shape(index.table, index.columns.map { ($0.name, $0.isDescending) }, index.isUnique)
  }

  private static func shape(_ table: String, _ columns: [(String, Bool)], _ isUnique: Bool) -> String {
    let keys = columns.map { $0.0 + ($0.1 ? " DESC" : "") }.joined(separator: ", ")
    return "\(table) (\(keys))\(isUnique ? " UNIQUE" : "")"
  }

  private static func reason(_ index: IndexSchema, _ sample: Sample) -> String {
    if index.sql == nil { return "clause of its table" }
    if ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"].contains(index.table) { return "history" }
    if sample.entry.model?.hasSuffix(".json") == true { return "not in the decoded JSON" }
    return reason(table: index.table, sample)
  }

  private static func reason(table: String, _ sample: Sample) -> String {
    for join in sample.layout.joinTables {
      if join.otherName == table { return "named by the other side" }
      if join.name == table, let other = join.otherName, sample.schema.table(other) != nil {
        return "named by the other side"
      }
      if join.name == table, sample.entry.framework <= 479 { return "no second index in framework 479 and before" }
    }
    return "\(sample.entry.path) \(table)"
  }

  @Test("Z_PRIMARYKEY has the predicted numbers and parents")
  func primaryKeys() throws {
    var (rows, renamed) = (0, [String]())
    for entry in try StoreCorpus.stores() {
      guard let path = entry.model, entry.isExact || path.hasSuffix(".json") else { continue }
      let layout = try StoreLayout(
        model: try StoreModelReader.read((StoreCorpus.root ?? "") + "/" + path), purpose: .reading)
      let real = try StoreCorpus.withCopy(entry) { database in
        try Row.fetchAll(database, sql: "SELECT * FROM Z_PRIMARYKEY WHERE Z_ENT < 16000 ORDER BY Z_ENT")
      }
      let maxima = Dictionary(uniqueKeysWithValues: real.map { ($0["Z_NAME"] as String, $0["Z_MAX"] as Int64) })
      let predicted = PrimaryKeyTable(layout: layout, maxima: maxima).rows
      #expect(predicted.count == real.count, "\(entry.path)")
      for (row, found) in zip(predicted, real) {
        rows += 1
        #expect(row.entityNumber == found["Z_ENT"] && row.superNumber == found["Z_SUPER"], "\(entry.path) \(row.name)")
        #expect(row.maximum == found["Z_MAX"], "\(entry.path) \(row.name)")
        if row.name != found["Z_NAME"] { renamed.append("\(entry.path) \(row.name)") }
      }
    }
    #expect(rows == 684)
    #expect(renamed == [])
  }

  @Test("Every model of the corpus can be laid out")
  func allModels() throws {
    var count = 0
    for path in StoreCorpus.modelFiles() {
      let model = try StoreModelReader.read((StoreCorpus.root ?? "") + "/" + path)
      let layout = try StoreLayout(model: model)
      count += 1
      for entity in model.entities {
        for attribute in model.attributes(of: entity.name) where !attribute.isTransient && attribute.type != .composite
        {
          #expect(
            layout.column(forAttribute: attribute.name, ofEntity: entity.name) != nil, "\(path) \(attribute.name)")
        }
        for relationship in model.relationships(of: entity.name) where !relationship.isTransient {
          #expect(layout.storage(of: relationship.name, entity: entity.name) != nil, "\(path) \(relationship.name)")
        }
      }
    }
    #expect(count == 401)
  }
}
