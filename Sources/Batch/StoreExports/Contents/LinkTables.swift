import CoreDataModel
import CoreDataStore
import RunSupport
import Streams

/// A join table of one state.
struct LinkTable {
  /// A column with the key of an object.
  struct End {
    var name: String
    var position: Int
    /// Where the object's number in the ordered list of the other end is (B.6); nil if there is none.
    var order: Int?
  }

  let schema: TableSchema
  /// Both ends; of a bound table first the owner of ``relationship``.
  private(set) var ends: [End]
  /// The relationship that a model has in it, and its inverse.
  private(set) var relationship: PropertyReference?
  private(set) var inverse: PropertyReference?

  var name: String { schema.name }

  init(_ join: StoreBinding.Join) {
    schema = join.schema
    (relationship, inverse) = (join.layout.relationship, join.layout.inverse)
    let places = [
      (join.sourcePosition, join.sourceOrderPosition), (join.destinationPosition, join.destinationOrderPosition),
    ]
    ends = places.map { End(name: join.schema.columns[$0].name, position: $0, order: $1) }
  }

  /// A table of which no model knows; nil for a table of anything else.
  init?(_ table: RawSchema.Table) {
    guard case .links(let ends) = table.content else { return nil }
    schema = table.schema
    self.ends = ends.map { end in
      let order = ContentsSide.orderPrefix + NameOrder.folded(end.column.name).dropFirst(2)
      return End(
        name: end.column.name, position: end.column.position,
        order: table.columns.first { NameOrder.folded($0.name) == order }?.position)
    }
  }

  func with(_ ends: [End]) -> LinkTable {
    var other = self
    other.ends = ends
    return other
  }

  /// The name without the number of an entity.
  fileprivate var base: String { Self.base(name) }

  /// The columns' names without numbers: neither those of entities nor those that tell equal names apart.
  fileprivate var stems: [String] {
    ends.map { end in String(Self.base(end.name).reversed().drop { $0.isASCII && $0.isNumber }.reversed()) }
  }

  private static func base(_ name: String) -> String {
    let folded = NameOrder.folded(name)
    guard let numbered = NumberedName(name) else { return folded }
    return String(folded.dropFirst(numbered.prefix.count + numbered.number.count))
  }
}

/// A join table of either state, with their ends in the same order.
struct LinkPair {
  let old: LinkTable?
  let new: LinkTable?

  var name: String { (new ?? old)?.name ?? "" }

  /// The columns of the later table are named, in its order.
  init(_ old: LinkTable?, _ new: LinkTable?) {
    let places = ((new ?? old)?.ends ?? []).enumerated().sorted { $0.element.position < $1.element.position }
    func sorted(_ table: LinkTable?) -> LinkTable? {
      table.map { table in table.with(places.map { table.ends[$0.offset] }) }
    }
    (self.old, self.new) = (sorted(old), sorted(new))
  }
}

/// Finds which join tables of two states hold the same relationship. Their names have the numbers of entities, which
/// may be others in the other state.
struct LinkTables {
  private(set) var pairs: [LinkPair] = []
  private(set) var notes: [String] = []
  private var left: [LinkTable]
  private var right: [LinkTable]

  init(_ old: (schema: RawSchema, binding: StoreBinding?), _ new: (schema: RawSchema, binding: StoreBinding?)) {
    (left, right) = (Self.tables(old.schema, old.binding), Self.tables(new.schema, new.binding))
    pairBound { $0 == $1 }
    pairBound { !$0.isDisjoint(with: $1) }
    takeBound()
    pairNamed(old.schema.entities, new.schema.entities)
    pairShaped(isBound: old.binding != nil)
    pairs += left.map { LinkPair($0, nil) } + right.map { LinkPair(nil, $0) }
    pairs.sort {
      $0.name == $1.name ? $0.new != nil && $1.new == nil : NameOrder.codeUnits($0.name, $1.name)
    }
    let renamed = pairs.compactMap { pair -> String? in
      guard let old = pair.old, let new = pair.new, old.name != new.name else { return nil }
      return "\(new.name) is \(old.name)"
    }
    if !renamed.isEmpty {
      notes.append("join tables by their names in the old store: \(renamed.joined(separator: ", "))")
    }
  }

  private static func tables(_ schema: RawSchema, _ binding: StoreBinding?) -> [LinkTable] {
    let bound = binding?.joins.map { LinkTable($0) } ?? []
    let roots = Set(bound.map(\.schema.rootPage))
    return bound + schema.tables.filter { !roots.contains($0.schema.rootPage) }.compactMap { LinkTable($0) }
  }

  /// Pairs two tables, and takes them out.
  private mutating func pair(_ first: Int, _ second: Int, isSwapped: Bool) {
    let (old, new) = (left.remove(at: first), right.remove(at: second))
    pairs.append(LinkPair(isSwapped ? old.with(old.ends.reversed()) : old, new))
  }

  /// Pairs tables of the same relationship, by the models: either side may name a table.
  private mutating func pairBound(_ areEqual: (Set<PropertyReference>, Set<PropertyReference>) -> Bool) {
    for index in left.indices.reversed() {
      guard let one = left[index].relationship, let inverse = left[index].inverse else { continue }
      let found = right.firstIndex { table in
        guard let other = table.relationship, let back = table.inverse else { return false }
        return areEqual([one, inverse], [other, back])
      }
      guard let found else { continue }
      let isSwapped = right[found].relationship != one && right[found].inverse != inverse
      pair(index, found, isSwapped: isSwapped)
    }
  }

  /// What a model knows in one state alone has no other table there.
  private mutating func takeBound() {
    pairs += left.filter { $0.relationship != nil }.map { LinkPair($0, nil) }
    pairs += right.filter { $0.relationship != nil }.map { LinkPair(nil, $0) }
    left.removeAll { $0.relationship != nil }
    right.removeAll { $0.relationship != nil }
  }
}

// MARK: Without models

extension LinkTables {
  /// Pairs tables of one name whose numbers stand for the same entities.
  private mutating func pairNamed(_ old: [Int64: String], _ new: [Int64: String]) {
    for index in left.indices.reversed() {
      let names = Self.names(left[index])
      let numbers = names.compactMap { NumberedName($0).flatMap { Int64($0.number) } }
      guard numbers.allSatisfy({ old[$0] == new[$0] }),
        let found = right.firstIndex(where: { Self.names($0) == names })
      else { continue }
      pair(index, found, isSwapped: false)
    }
  }

  private static func names(_ table: LinkTable) -> [String] {
    ([table.name] + table.ends.map(\.name)).map(NameOrder.folded)
  }

  /// Pairs tables whose names are the same without numbers, if there is one of each. A note names the others.
  private mutating func pairShaped(isBound: Bool) {
    for key in Set(left.map { $0.stems.sorted() }) { pairOnly { $0.stems.sorted() == key } }
    for key in Set(left.map { [$0.base] + $0.stems.sorted() }) { pairOnly { [$0.base] + $0.stems.sorted() == key } }
    let keys = Set(left.map { $0.stems.sorted() }).intersection(right.map { $0.stems.sorted() })
    for key in keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      let names = Set((left + right).filter { $0.stems.sorted() == key }.map(\.name)).sorted(by: NameOrder.codeUnits)
      let advice = isBound ? "no model has them" : "give --models"
      notes.append(
        "\(names.joined(separator: ", ")): their names do not say which of them hold the same relationship, so all links "
          + "are listed as removed and added: \(advice)")
    }
  }

  private mutating func pairOnly(_ isWanted: (LinkTable) -> Bool) {
    let (first, second) = (left.indices.filter { isWanted(left[$0]) }, right.indices.filter { isWanted(right[$0]) })
    guard first.count == 1, second.count == 1 else { return }
    let (old, new) = (left[first[0]], right[second[0]])
    pair(first[0], second[0], isSwapped: old.stems != new.stems)
  }
}
