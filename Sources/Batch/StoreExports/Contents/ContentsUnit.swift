import CoreDataStore
import RunSupport

/// What of two states belongs together: a table with objects of either, or some of the entities in them.
struct ContentsUnit {
  /// What makes a row of one state the same object as a row of the other.
  enum Pairing {
    /// Both states keep the entities in the table of one root, so that Z_PK does.
    case oneTable
    /// The table has another root in the other state, and all of its entities went along: Z_PK may do.
    case renamedTable
    /// The entities are in tables that give their keys independently, so that Z_PK does not.
    case apart
  }

  /// What of one state is meant.
  struct Part {
    var table: RawSchema.Table
    var rows: RowChoice
  }

  /// The root, or the entities whose table has another one in the other state.
  var name: String
  var old: Part?
  var new: Part?
  var pairing: Pairing
  /// The entities that either state has in it.
  var entities: Set<String>
}

/// Rows of a table with objects, by Z_ENT.
enum RowChoice {
  case all
  case only(Set<Int64>)
  case but(Set<Int64>)

  /// Whether all are meant, so that nobody needs to look.
  var takesAll: Bool { if case .all = self { true } else { false } }

  func takes(_ number: Int64) -> Bool {
    switch self {
    case .all: true
    case .only(let numbers): numbers.contains(number)
    case .but(let numbers): !numbers.contains(number)
    }
  }
}

/// Finds what of two states belongs together. An entity may lie in the table of another root in the other state: if a
/// version gave it another parent, or took its parent away.
struct ContentsTables {
  private let old: State
  private let new: State
  private let moved: Set<String>

  init(_ old: (schema: RawSchema, reader: StoreReader), _ new: (schema: RawSchema, reader: StoreReader)) {
    (self.old, self.new) = (State(old.schema, old.reader), State(new.schema, new.reader))
    let homes = self.new.homes
    moved = Set(self.old.homes.filter { homes[$0.key] != nil && homes[$0.key] != $0.value }.keys)
  }

  /// What there is, by name; of an entity what lies in its table, or what went with it to another one.
  ///
  /// - Throws: ``BatchError`` (`refused`) for an entity that neither state has.
  func units(of entity: String?) throws -> [ContentsUnit] {
    guard let entity else { return all }
    let (left, right) = (try? old.find(entity), try? new.find(entity))
    if left == nil, right == nil { _ = try old.find(entity) }
    let wanted = NameOrder.folded(entity)
    let units: [ContentsUnit]
    if moved.contains(where: { NameOrder.folded($0) == wanted }) {
      let family = old.family(wanted).union(new.family(wanted))
      units = all.filter { !$0.entities.isDisjoint(with: family) }
    } else {
      units = all.filter { unit in
        unit.old.map { $0.table.name == left } == true || unit.new.map { $0.table.name == right } == true
      }
    }
    guard !units.isEmpty else {
      throw BatchError(
        .refused, "\(entity) is a table without objects, which is not compared alone",
        hint: "Leave out --entity to compare links, too", path: new.reader.path)
    }
    return units
  }

  private var all: [ContentsUnit] {
    let roots = Set(old.tables.keys).union(new.tables.keys).map { root in
      ContentsUnit(
        name: root, old: old.rest(of: root, without: moved), new: new.rest(of: root, without: moved),
        pairing: .oneTable,
        entities: Set(old.entities(in: root) + new.entities(in: root)).subtracting(moved))
    }
    let ways = Dictionary(grouping: moved) { [old.homes[$0] ?? "", new.homes[$0] ?? ""] }
    let units = roots + ways.map { unit(of: $1, from: $0[0], to: $0[1]) }
    return units.sorted { left, right in
      left.name == right.name ? left.pairing == .oneTable : NameOrder.codeUnits(left.name, right.name)
    }
  }

  private func unit(of names: [String], from first: String, to second: String) -> ContentsUnit {
    // All that both states have in either table went the same way: then it is one table with another name.
    let isRename =
      old.entities(in: first).count { new.homes[$0] != nil } == names.count
      && new.entities(in: second).count { old.homes[$0] != nil } == names.count
    return ContentsUnit(
      name: names.sorted(by: NameOrder.codeUnits).joined(separator: ", "), old: old.part(first, only: names),
      new: new.part(second, only: names), pairing: isRename ? .renamedTable : .apart, entities: Set(names))
  }
}

extension ContentsTables {
  /// The tables and entities of one state.
  private struct State {
    let schema: RawSchema
    let reader: StoreReader
    /// Tables with objects by their names.
    let tables: [String: RawSchema.Table]
    /// The name of each entity's table.
    private(set) var homes: [String: String] = [:]
    private var numbers: [String: Int64] = [:]

    init(_ schema: RawSchema, _ reader: StoreReader) {
      (self.schema, self.reader) = (schema, reader)
      let objects = schema.tables.filter { if case .objects = $0.content { true } else { false } }
      tables = Dictionary(objects.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
      let names = Dictionary(
        objects.map { (NameOrder.folded($0.schema.name), $0.name) }, uniquingKeysWith: { first, _ in first })
      let keys = Dictionary(reader.primaryKeys.map { ($0.entityNumber, $0) }, uniquingKeysWith: { first, _ in first })
      for key in reader.primaryKeys where schema.entities[key.entityNumber] == key.name && numbers[key.name] == nil {
        numbers[key.name] = key.entityNumber
        homes[key.name] = Self.home(of: key, keys, names)
      }
    }

    /// The table of the topmost entity above one that has one. Numbers may form a ring in a damaged store.
    private static func home(
      of key: StoreReader.PrimaryKey, _ keys: [Int64: StoreReader.PrimaryKey], _ names: [String: String]
    ) -> String? {
      var (found, next) = (String?.none, Optional(key))
      for _ in 0..<256 {
        guard let entity = next else { break }
        if let name = names[NameOrder.folded("Z" + entity.name.uppercased())] { found = name }
        next = entity.superNumber == 0 ? nil : keys[entity.superNumber]
      }
      return found
    }

    func find(_ name: String) throws -> String { try schema.find(name, in: reader).table.name }

    func entities(in table: String) -> [String] { homes.filter { $0.value == table }.map(\.key) }

    /// An entity and those below it; its name is folded.
    func family(_ name: String) -> Set<String> {
      guard let number = numbers.first(where: { NameOrder.folded($0.key) == name })?.value else { return [] }
      return Set(RawSchema.family(number, reader).compactMap { schema.entities[$0] })
    }

    func part(_ table: String, only names: [String]) -> ContentsUnit.Part? {
      tables[table].map { .init(table: $0, rows: .only(Set(names.compactMap { numbers[$0] }))) }
    }

    func rest(of table: String, without moved: Set<String>) -> ContentsUnit.Part? {
      let gone = Set(entities(in: table).filter(moved.contains).compactMap { numbers[$0] })
      return tables[table].map { .init(table: $0, rows: gone.isEmpty ? .all : .but(gone)) }
    }
  }
}
