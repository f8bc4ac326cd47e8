import CoreDataModel
import CoreDataStore
import LoadTables
import Streams

/// Record types in Swift for the tables and views of a file, for GRDB 7.
struct PlainRecords {
  let schema: LoadSchema
  let rules: PlainRules
  /// Columns by table that may be NULL although the model requires a value.
  let nullable: [Set<Int>]

  private var model: ManagedObjectModel { schema.layout.model }

  /// The whole file.
  var text: String {
    var (types, dated, withUUID) = ([RecordType](), Set<String>(), Set<String>())
    var names = LoadNameBook()
    let tableNames = schema.tables.map { names.take(RecordNames.type(typeName($0))) }
    for (place, table) in schema.tables.enumerated() {
      var type = RecordType(
        name: tableNames[place], table: table.name, subject: subject(table), isView: false,
        properties: properties(table.columns.indices.map { (table.columns[$0].name, place, $0) }),
        hasID: table.columns[0].source == .key && table.columns[0].name == "id")
      type.associations = associations(place, tableNames)
      types.append(type)
      note(type, table.columns, dated: &dated, withUUID: &withUUID)
    }
    for view in PlainViews(schema: schema, rules: rules).views {
      let type = RecordType(
        name: names.take(RecordNames.type(rules.isRoot ? view.entity : "\(view.entity) whole")), table: view.name,
        subject: "Objects of the entity \(view.entity), which a view shows", isView: true,
        properties: properties(view.columns), hasID: view.columns[0].name == "id")
      types.append(type)
      note(type, view.columns.map { schema.tables[$0.table].columns[$0.column] }, dated: &dated, withUUID: &withUUID)
    }
    let texts = types.map { $0.text(dates: dated.contains($0.name) ? dates : [], hasUUID: withUUID.contains($0.name)) }
    let helper = dated.isEmpty || rules.dates == .unix ? [] : [Self.storedDate]
    return ([Self.header] + texts + helper).joined(separator: "\n\n") + "\n"
  }

  private func note(
    _ type: RecordType, _ columns: [LoadColumn], dated: inout Set<String>, withUUID: inout Set<String>
  ) {
    if columns.contains(where: { $0.type == .date }) { dated.insert(type.name) }
    if columns.contains(where: { $0.type == .uuid }) { withUUID.insert(type.name) }
  }

  private func typeName(_ table: LoadTable) -> String {
    if case .links = table.rows { table.subject.replacing(".", with: " ") } else { table.subject }
  }

  private func subject(_ table: LoadTable) -> String {
    switch table.rows {
    case .objects: "Rows of the table \(table.name): objects of the entity \(table.subject)"
    case .links: "Rows of the table \(table.name): links of the relationship \(table.subject)"
    }
  }

  private func properties(_ columns: [(name: String, table: Int, column: Int)]) -> [RecordType.Property] {
    var names = LoadNameBook(used: RecordNames.taken)
    return columns.map { name, table, place in
      let column = schema.tables[table].columns[place]
      let isOptional = !column.isRequired || nullable[table].contains(place)
      // A new row gets its key from SQLite.
      let isKey = column.source == .key
      return RecordType.Property(
        name: names.take(propertyName(column, in: schema.tables[table])), column: name,
        type: Self.type(column.type) + (isOptional || isKey ? "?" : ""))
    }
  }

  private func propertyName(_ column: LoadColumn, in table: LoadTable) -> String {
    switch (column.source, table.rows) {
    case (.column(let position, _), .objects(let place, _)):
      switch schema.layout.entityTables[place].columns[position].role {
      case .attribute(_, let path): return RecordNames.camelCase(path)
      case .toOne(_, let name): return RecordNames.camelCase(name) + "ID"
      case .orderingKey(_, let name): return RecordNames.camelCase(name) + "Order"
      case .inverselessOwner(let owner, let name): return RecordNames.camelCase("\(owner) \(name)") + "ID"
      case .inverselessOrder(let owner, let name): return RecordNames.camelCase("\(owner) \(name)") + "Order"
      case .primaryKey, .entity, .optimisticLock, .toOneEntity, .unknown: return RecordNames.camelCase(column.name)
      }
    case (.key, _): return column.name == "pk" ? "pk" : "id"
    case (.link, _):
      let name = RecordNames.camelCase(column.name)
      return name.hasSuffix("Id") ? String(name.dropLast(2)) + "ID" : name
    default: return RecordNames.camelCase(column.name)
    }
  }

  private static func type(_ type: LoadType) -> String {
    switch type {
    case .int16, .int32: "Int"
    case .int64: "Int64"
    case .decimal: "Decimal"
    case .double: "Double"
    case .float: "Float"
    case .text: "String"
    case .boolean: "Bool"
    case .date: "Date"
    case .uuid: "UUID"
    case .bytes, .archive: "Data"
    }
  }
}

// Associations.
extension PlainRecords {
  private func associations(_ place: Int, _ types: [String]) -> [RecordType.Association] {
    var names = LoadNameBook(used: RecordNames.taken)
    let table = schema.tables[place]
    var found: [RecordType.Association] = []
    for column in table.columns {
      guard let target = column.references, column.source != .key else { continue }
      let name = names.take(belongsToName(column, in: table))
      found.append(
        RecordType.Association(
          name: name,
          expression: "belongsTo(\(types[target]).self, key: \(name.swiftLiteral), \(key(column, target)))"))
    }
    for (other, from) in schema.tables.enumerated() {
      for column in from.columns where column.references == place && column.source != .key {
        let name = names.take(hasManyName(column, in: from))
        found.append(
          RecordType.Association(
            name: name,
            expression: "hasMany(\(types[other]).self, key: \(name.swiftLiteral), \(key(column, place)))"))
        found += through(from, column, by: types[other], pivot: name, types: types, names: &names)
      }
    }
    return found
  }

  private func key(_ column: LoadColumn, _ target: Int) -> String {
    let key = schema.tables[target].columns[0].name
    return "using: ForeignKey([\(column.name.swiftLiteral)], to: [\(key.swiftLiteral)])"
  }

  /// The objects behind the links of a many-to-many relationship.
  private func through(
    _ links: LoadTable, _ column: LoadColumn, by type: String, pivot: String, types: [String],
    names: inout LoadNameBook
  ) -> [RecordType.Association] {
    guard case .links(let join) = links.rows,
      let other = links.columns.prefix(links.keyCount).first(where: { $0.source != column.source }),
      let target = other.references
    else { return [] }
    let layout = schema.layout.joinTables[join]
    let isSource = column.source == .link(layout.sourceColumn)
    // Where a relationship is its own inverse each link is there in both directions.
    guard isSource || layout.relationship != layout.inverse else { return [] }
    let name = names.take(RecordNames.camelCase((isSource ? layout.relationship : layout.inverse).name))
    let way = RecordNames.escaped(belongsToName(other, in: links))
    return [
      RecordType.Association(
        name: name,
        expression:
          "hasMany(\(types[target]).self, through: \(RecordNames.escaped(pivot)), using: \(type).\(way), key: \(name.swiftLiteral))"
      )
    ]
  }

  private func belongsToName(_ column: LoadColumn, in table: LoadTable) -> String {
    let name = propertyName(column, in: table)
    return name.hasSuffix("ID") ? String(name.dropLast(2)) : name
  }

  /// The name of the to-many relationship that leads to the rows, or one that says where the key is.
  private func hasManyName(_ column: LoadColumn, in table: LoadTable) -> String {
    guard case .objects(let place, _) = table.rows, case .column(let position, _) = column.source else {
      return RecordNames.camelCase(
        "\(table.subject.replacing(".", with: " ")) links of \(belongsToName(column, in: table))")
    }
    switch schema.layout.entityTables[place].columns[position].role {
    case .toOne(let entity, let name):
      let inverse = model.relationship(name, of: entity)?.inverseName
      return RecordNames.camelCase(inverse ?? "\(entity) of \(name)")
    case .inverselessOwner(_, let name): return RecordNames.camelCase(name)
    case .attribute, .toOneEntity, .orderingKey, .inverselessOrder, .primaryKey, .entity, .optimisticLock, .unknown:
      return RecordNames.camelCase(table.name)
    }
  }
}

// What all files have.
extension PlainRecords {
  private static let header = """
    // Records of a file that godwit made of a Core Data store, for GRDB 7. Change it as you like.
    import Foundation
    import GRDB
    """

  private var dates: [String] {
    let (encoding, decoding) =
      rules.dates == .unix
      ? (".timeIntervalSince1970", ".timeIntervalSince1970")
      : (".custom { StoredDate.text($0) }", ".custom { StoredDate.date($0) }")
    return [
      "static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy { \(encoding) }",
      "static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy { \(decoding) }",
    ]
  }

  private static let storedDate = #"""
    /// Dates as the file has them: ISO 8601 in UTC with microseconds.
    enum StoredDate {
      static func text(_ date: Date) -> String {
        var seconds = date.timeIntervalSinceReferenceDate.rounded(.down)
        var micros = Int(((date.timeIntervalSinceReferenceDate - seconds) * 1_000_000).rounded())
        if micros == 1_000_000 { (seconds, micros) = (seconds + 1, 0) }
        let whole = Date(timeIntervalSinceReferenceDate: seconds).formatted(.iso8601)
        let digits = String(micros)
        return String(whole.dropLast()) + "." + String(repeating: "0", count: 6 - digits.count) + digits + "Z"
      }

      static func date(_ value: DatabaseValue) -> Date? {
        guard let text = String.fromDatabaseValue(value), let whole = try? Date(String(text.prefix(19)) + "Z", strategy: .iso8601)
        else { return nil }
        let fraction = Double("0" + text.dropFirst(19).prefix { $0 != "Z" }) ?? 0
        return whole + fraction
      }
    }
    """#
}
