import CoreDataModel
import RunSupport

/// The numbers that a store gives to the entities of its model (B.3): what its Z_PRIMARYKEY says, compared with the
/// model.
///
/// They are the model's own in nearly every store. One that numbers all entities otherwise is read as it says; one that
/// contradicts the model, or itself, is refused, for rows would become objects of another entity.
package struct StoreNumbers {
  package let model: ManagedObjectModel
  package let keys: [StoreReader.PrimaryKey]
  package let path: String?

  package init(model: ManagedObjectModel, keys: [StoreReader.PrimaryKey], path: String?) {
    self.model = model
    self.keys = keys
    self.path = path
  }

  /// Numbers of Core Data's own entities are no matter of the model.
  private var rows: [StoreReader.PrimaryKey] {
    keys.filter { $0.entityNumber > 0 && $0.entityNumber < StoreReader.firstForeignNumber }
  }

  /// Throws ``BatchError`` (`badStore`) with the entity and both numbers.
  package func numbering() throws -> EntityNumbering {
    let own = try EntityNumbering(model: model)
    do { return try numbering(own) } catch {
      guard mayBeRenamed(own) else { throw error }
      return own
    }
  }

  /// Whether renames can have left names that contradict the model (B.3), as when A became B and B became C. Then a
  /// name is there that the model has not, and all rows have the numbers and the parents that the model gives.
  private func mayBeRenamed(_ own: EntityNumbering) -> Bool {
    let parents = Dictionary(rows.map { ($0.entityNumber, $0.superNumber) }) { first, _ in first }
    return rows.contains { own.numbers[$0.name] == nil }
      && own.numbers.allSatisfy { name, number in
        let parent = model.superentity(of: name).flatMap { own.numbers[$0] } ?? 0
        return parents[Int64(number)] == Int64(parent)
      }
  }

  private func numbering(_ own: EntityNumbering) throws -> EntityNumbering {
    let rows = rows
    let named = Dictionary(grouping: rows.filter { own.numbers[$0.name] != nil }, by: \.name)
    let placed = Dictionary(rows.map { (Int($0.entityNumber), $0) }, uniquingKeysWith: { first, _ in first })
    guard placed.count == rows.count else { throw error("has several rows for one entity number") }
    var found: [String: StoreReader.PrimaryKey] = [:]
    for (name, number) in own.numbers.sorted(by: { $0.value < $1.value }) {
      let claims = named[name] ?? []
      guard claims.count < 2 else {
        let numbers = claims.map { "\($0.entityNumber)" }.joined(separator: " and ")
        throw error("gives the entity several numbers, \(numbers), and the model \(number)", name)
      }
      found[name] = try claims.first ?? renamed(placed[number], own: own, name: name)
    }
    let numbers = found.mapValues { Int($0.entityNumber) }
    guard numbers != own.numbers else { return own }
    try check(found, own)
    return EntityNumbering(own, numbers: numbers)
  }

  /// A rename leaves the old name (B.3): the row with the model's number is the entity's, where its name is no other's.
  private func renamed(_ row: StoreReader.PrimaryKey?, own: EntityNumbering, name: String) throws
    -> StoreReader.PrimaryKey
  {
    let number = own.numbers[name] ?? 0
    guard let row else { throw error("has no row for the entity, whose number is \(number) in the model", name) }
    guard let other = own.numbers[row.name] else { return row }
    throw error(
      "has no row for the entity: its number \(number) is given to \(row.name), whose number is \(other) in the model",
      name)
  }

  /// Other numbers are believed where they are those of the model in another order, and parents are the model's.
  private func check(_ found: [String: StoreReader.PrimaryKey], _ own: EntityNumbering) throws {
    for name in own.names {
      guard let row = found[name], let number = own.numbers[name] else { continue }
      guard row.entityNumber <= Int64(own.names.count) else {
        throw error("gives the entity the number \(row.entityNumber), and the model \(number)", name)
      }
      let parent = model.superentity(of: name).flatMap { found[$0]?.entityNumber } ?? 0
      guard row.superNumber == parent else {
        throw error(
          "gives the entity the number \(row.entityNumber), the model \(number), and its parent is \(row.superNumber) instead of \(parent)",
          name)
      }
    }
  }

  private func error(_ what: String, _ entity: String? = nil) -> BatchError {
    BatchError(
      .badStore, "Z_PRIMARYKEY \(what) (\(model.name)), so it is not known which rows are whose",
      hint: "Restore the store from a backup, or give the models of the application that wrote it",
      effect: .nothingWritten,
      path: path, entity: entity)
  }
}

extension StoreBinding {
  /// Binds a store to its model, under the numbers that the store gives to entities.
  ///
  /// Throws ``BatchError`` (`badStore`) for tables or numbers that are not the model's.
  package init(_ reader: StoreReader, model: ManagedObjectModel) throws {
    let numbering = try StoreNumbers(model: model, keys: reader.primaryKeys, path: reader.path).numbering()
    try self.init(model: model, numbering: numbering, schema: reader.schema, path: reader.path)
  }

  /// The same where the numbers are known. Under the model's own ones stores with the same tables are bound alike, and
  /// only once.
  package init(model: ManagedObjectModel, numbering: EntityNumbering, schema: StoreSchema, path: String) throws {
    guard try numbering.numbers == EntityNumbering(model: model).numbers else {
      let layout = try StoreLayout(model: model, purpose: .reading, numbering: numbering)
      try self.init(layout: layout, schema: schema, modelName: model.name, path: path)
      return
    }
    self = try model.remembered(ModelFacts.bindings) { Memo(limit: 4) }.value(schema.rows) {
      let layout = try StoreLayout(model: model, purpose: .reading)
      return try StoreBinding(layout: layout, schema: schema, modelName: model.name, path: path)
    }
  }
}

extension ModelFacts {
  fileprivate static let bindings = Key<Memo<[SchemaRow], StoreBinding>>("bindings to stores")
}
