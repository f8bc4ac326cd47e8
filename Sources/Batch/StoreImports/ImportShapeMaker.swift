import CoreDataModel

/// Makes the shape of a line that was read as a whole.
struct ImportShapeMaker {
  private let plan: ImportPlan
  private let entity: ImportPlan.Entity
  private var scanner: ImportScanner
  private var slots: [ImportShape.Slot] = []
  private var toOnes: [ImportToOne] = []
  private var literals: [[UInt8]] = []
  private var start = 0

  /// The shape of a line of JSON; nil if it has what only a whole reading understands.
  static func shape(of line: UnsafeRawBufferPointer, entity: ImportPlan.Entity, _ plan: ImportPlan, uriPrefix: [UInt8]?)
    -> ImportShape?
  {
    var maker = ImportShapeMaker(plan: plan, entity: entity, scanner: ImportScanner(line))
    guard maker.object({ $0.member($1) }), maker.scanner.isAtEnd else { return nil }
    return ImportShape(
      entity, slots: maker.slots, toOnes: maker.toOnes, literals: maker.literals + [Array(line[maker.start...])],
      uriPrefix: uriPrefix)
  }

  /// The shape of lines of CSV with these columns.
  static func shape(of header: [String], entity: ImportPlan.Entity, _ plan: ImportPlan, uriPrefix: [UInt8]?)
    -> ImportShape?
  {
    var maker = ImportShapeMaker(
      plan: plan, entity: entity, scanner: ImportScanner(UnsafeRawBufferPointer(start: nil, count: 0)))
    for (place, name) in header.enumerated() {
      guard let slot = maker.slot(column: name, after: place > 0 ? header[place - 1] : nil) else { return nil }
      maker.slots.append(slot)
    }
    return ImportShape(entity, slots: maker.slots, toOnes: maker.toOnes, literals: [], uriPrefix: uriPrefix)
  }

  private mutating func slot(column name: String, after before: String?) -> ImportShape.Slot? {
    switch name {
    case "@key": return .key
    case "@uri": return .uri
    case "@entity": return .entity
    default: break
    }
    let relationship = ImportObject.relationship(name)
    let property = relationship ?? name
    guard entity.attributes[property] != nil || entity.relationships[ImportPlan.relationship(in: property)] != nil
    else { return plan.hasRelative(of: entity, with: property) ? .nothing : nil }
    guard let relationship else { return slot(name) }
    return relationship == before ? .target : nil
  }

  private init(plan: ImportPlan, entity: ImportPlan.Entity, scanner: ImportScanner) {
    (self.plan, self.entity, self.scanner) = (plan, entity, scanner)
  }

  private mutating func slot(_ name: String) -> ImportShape.Slot? {
    if let attribute = entity.attributes[name] {
      guard attribute.rule == nil, !attribute.attribute.allowsExternalBinaryDataStorage else { return nil }
      return .attribute(column: attribute.column, attribute.attribute.type)
    }
    guard let toOne = entity.relationships[name].flatMap({ ImportToOne($0, plan) }) else { return nil }
    toOnes.append(toOne)
    return .toOne(toOnes.count - 1)
  }

  private mutating func add(_ slot: ImportShape.Slot) -> Bool {
    literals.append(Array(scanner.bytes[start..<scanner.place]))
    slots.append(slot)
    guard passesValue() else { return false }
    start = scanner.place
    return true
  }

  /// Members of an object, without blanks between them.
  private mutating func object(_ body: (inout ImportShapeMaker, String) -> Bool) -> Bool {
    guard scanner.passes(0x7B) else { return false }
    if scanner.passes(0x7D) { return true }
    repeat {
      guard scanner.passes(0x22), let name = scanner.text(), scanner.passes(0x3A),
        body(&self, String(decoding: name, as: UTF8.self))
      else { return false }
    } while scanner.passes(0x2C)
    return scanner.passes(0x7D)
  }

  private mutating func member(_ name: String) -> Bool {
    switch name {
    case "entity": return scanner.passes(0x22) && scanner.text() != nil
    case "key": return scanner.next != 0x6E && add(.key)
    case "uri": return scanner.next == 0x22 && add(.uri)
    case "attributes", "relationships": return object { $0.property($1) }
    default: return false
    }
  }

  private mutating func property(_ name: String) -> Bool {
    guard let slot = slot(name) else { return false }
    return add(slot)
  }

  /// A scalar, or an object of scalars.
  private mutating func passesValue() -> Bool {
    if scanner.next == 0x7B { return object { maker, _ in maker.passesValue() } }
    guard scanner.next == 0x22 else {
      let first = scanner.place
      while ![0, 0x2C, 0x7D, 0x5D, 0x5B].contains(scanner.next) { scanner.place += 1 }
      return scanner.place > first && scanner.next != 0x5B
    }
    scanner.place += 1
    while scanner.next != 0x22 {
      guard scanner.next != 0 else { return false }
      scanner.place += scanner.next == 0x5C ? 2 : 1
    }
    scanner.place += 1
    return true
  }
}
