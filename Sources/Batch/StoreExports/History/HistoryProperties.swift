import CoreDataModel
import CoreDataStore

/// The properties that the bits of ZCOLUMNS stand for (B.9).
///
/// The first bit is the highest one of the first byte. From the root entity down to the object's own, every level has
/// its to-one relationships by name, each with a second bit if the destination has sub-entities, then its attributes by
/// name, then its to-many relationships by name.
struct HistoryProperties {
  private let model: ManagedObjectModel
  private var slots: [String: [String]?] = [:]

  init(_ model: ManagedObjectModel) { self.model = model }

  /// The names that a bitmap marks; nil if it has not the length that the entity's would have, or the rule is not known
  /// for the entity.
  mutating func names(_ bitmap: [UInt8], of entity: String) -> [String]? {
    if slots[entity] == nil { slots[entity] = .some(makeSlots(entity)) }
    guard let slots = slots[entity] ?? nil, bitmap.count == (slots.count + 7) / 8 else { return nil }
    var found: [String] = []
    for (place, byte) in bitmap.enumerated() {
      for bit in 0..<8 where byte & (0x80 >> bit) != 0 {
        guard place * 8 + bit < slots.count else { return nil }
        let name = slots[place * 8 + bit]
        if found.last != name { found.append(name) }
      }
    }
    return found
  }

  /// Nil for an entity with properties of which no store showed how they are counted.
  private func makeSlots(_ entity: String) -> [String]? {
    guard let description = model.entity(entity) else { return nil }
    var slots: [String] = []
    if let parent = description.superentity {
      guard let above = makeSlots(parent) else { return nil }
      slots = above
    }
    let attributes = description.attributes
    guard attributes.allSatisfy({ !$0.isTransient && $0.elements.isEmpty }),
      description.relationships.allSatisfy({ !$0.isTransient })
    else { return nil }
    let related = description.relationships.sorted { NameOrder.codeUnits($0.name, $1.name) }
    let ones = related.filter { !$0.isToMany }.flatMap { relationship in
      let isFamily = model.entities.contains { $0.superentity == relationship.destinationEntity }
      return Array(repeating: relationship.name, count: isFamily ? 2 : 1)
    }
    return slots + ones + attributes.map(\.name).sorted(by: NameOrder.codeUnits)
      + related.filter(\.isToMany).map(\.name)
  }
}
