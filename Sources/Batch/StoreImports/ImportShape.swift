import CoreDataModel

/// The shape of a line that many lines have: what stays the same, and where values stand. Lines of the same shape are
/// read straight into a row.
///
/// Made of a line that was read as a whole, so a line that fits has no other faults than those of its values.
final class ImportShape {
  enum Slot {
    case key
    /// The URI, which says entity and key.
    case uri
    /// A field of CSV of a property that only other entities of the file have.
    case nothing
    case attribute(column: Int, AttributeType)
    /// The relationship, by its place in ``toOnes``.
    case toOne(Int)
    /// A field of CSV that must be this entity's name.
    case entity
    /// A field of CSV with the entity of a to-one before it.
    case target
  }

  let entity: ImportPlan.Entity
  let entityNumber: Int
  let row: ImportRow
  private let name: [UInt8]
  // In memory of its own: threads that share an array wait for each other when they count references to it.
  private let slots: UnsafeMutableBufferPointer<Slot>
  private let toOnes: UnsafeMutableBufferPointer<ImportToOne>
  /// What stands before each slot, and after the last one; empty for CSV.
  private let literals: ImportLiterals
  /// What stands before the key in a URI.
  private let uriPrefix: [UInt8]
  /// Columns of what must have a value. Behind them, columns of which one must have it.
  private let required: UnsafeMutableBufferPointer<Int>
  private let requiredChoices: [[Int]]
  /// The key of the line at hand; nil if it has none.
  @exclusivity(unchecked) private(set) var key: Int64?

  /// Nil if there are URIs, and it is not known how they begin.
  convenience init?(
    _ entity: ImportPlan.Entity, slots: [Slot], toOnes: [ImportToOne], literals: [[UInt8]], uriPrefix: [UInt8]?
  ) {
    if uriPrefix == nil, slots.contains(where: { if case .uri = $0 { true } else { false } }) { return nil }
    self.init(entity, slots: slots, toOnes: toOnes, between: ImportLiterals(literals), uriPrefix: uriPrefix ?? [])
  }

  private init(
    _ entity: ImportPlan.Entity, slots: some Collection<Slot>, toOnes: some Collection<ImportToOne>,
    between literals: ImportLiterals, uriPrefix: [UInt8]
  ) {
    (self.entity, self.literals, self.uriPrefix) = (entity, literals, uriPrefix)
    self.slots = .copy(slots)
    self.toOnes = .copy(toOnes)
    entityNumber = entity.number
    name = Array(entity.name.utf8)
    row = ImportRow(entity.template)
    let columns = entity.required.filter { !$0.isRelationship }.map(\.columns)
    required = .copy(columns.filter { $0.count == 1 }.joined())
    requiredChoices = columns.filter { $0.count != 1 }
  }

  deinit {
    slots.deallocate()
    toOnes.deinitialize().deallocate()
    required.deallocate()
    literals.deallocate()
  }

  /// The same shape with a row of its own, for another thread.
  func copy() -> ImportShape {
    ImportShape(entity, slots: slots, toOnes: toOnes, between: literals.copy(), uriPrefix: uriPrefix)
  }

  /// Reads a line into the row. False if it has another shape, or an unusual value.
  func reads(_ line: UnsafeRawBufferPointer) -> Bool {
    row.begin()
    key = nil
    var scanner = ImportScanner(line)
    guard literals.count == 0 ? readsFields(&scanner) : readsObject(&scanner), scanner.isAtEnd, key ?? 1 > 0 else {
      return false
    }
    for place in required.indices where row.isNull(required[place]) { return false }
    return requiredChoices.isEmpty || !requiredChoices.contains { $0.allSatisfy(row.isNull) }
  }

  private func readsObject(_ scanner: inout ImportScanner) -> Bool {
    for place in slots.indices {
      guard literals.areNext(place, in: &scanner), reads(slots[place], &scanner) else { return false }
    }
    return literals.areNext(literals.count - 1, in: &scanner)
  }

  private func reads(_ slot: Slot, _ scanner: inout ImportScanner) -> Bool {
    switch slot {
    case .key: return readsKey(&scanner)
    case .uri: return scanner.passes(0x22) && readsURI(&scanner) && scanner.passes(0x22)
    case .attribute(let column, let type):
      guard let cell = cell(of: type, &scanner) else { return false }
      row.set(column, cell)
      return true
    case .toOne(let place): return toOnes[place].read(&scanner, into: row, own: key)
    case .entity, .target, .nothing: return false
    }
  }

  /// A key, which is that of the URI if there is one.
  private func readsKey(_ scanner: inout ImportScanner) -> Bool {
    guard let number = scanner.integer(), key ?? number == number else { return false }
    key = number
    return true
  }

  private func readsURI(_ scanner: inout ImportScanner) -> Bool { scanner.passes(uriPrefix) && readsKey(&scanner) }

  private func cell(of type: AttributeType, _ scanner: inout ImportScanner) -> ImportCell? {
    switch scanner.next {
    case 0x22:
      scanner.place += 1
      return scanner.text().flatMap { type.cell(text: $0) }
    case 0x6E: return scanner.passes("null") ? .null : nil
    case 0x74: return type == .boolean && scanner.passes("true") ? .integer(1) : nil
    case 0x66: return type == .boolean && scanner.passes("false") ? .integer(0) : nil
    default: return scanner.number().flatMap { type.cell(number: $0) }
    }
  }
}

// Fields of CSV.
extension ImportShape {
  private func readsFields(_ scanner: inout ImportScanner) -> Bool {
    var open: (relationship: ImportToOne, key: Int64)?
    for place in slots.indices {
      let slot = slots[place]
      guard place == 0 || scanner.passes(0x2C), let field = scanner.field() else { return false }
      if case .target = slot {
        guard let found = open else { return field.text.isEmpty }
        guard found.relationship.set(found.key, of: field.text.isEmpty ? nil : field.text, in: row, own: key) else {
          return false
        }
        open = nil
        continue
      }
      guard !field.text.isEmpty else {
        // Without a name an object has the entity of its URI or of the file's name, whatever the line before had.
        if case .entity = slot { return false }
        if field.isQuoted { return false }
        if case .attribute(let column, _) = slot { row.set(column, .null) }
        continue
      }
      guard reads(slot, field.text, open: &open, isLast: !isTarget(place + 1)) else { return false }
    }
    return open == nil
  }

  private func isTarget(_ place: Int) -> Bool {
    guard place < slots.count, case .target = slots[place] else { return false }
    return true
  }

  private func reads(
    _ slot: Slot, _ text: UnsafeRawBufferPointer, open: inout (relationship: ImportToOne, key: Int64)?, isLast: Bool
  ) -> Bool {
    var scanner = ImportScanner(text)
    switch slot {
    case .key: return readsKey(&scanner) && scanner.isAtEnd
    case .uri: return readsURI(&scanner) && scanner.isAtEnd
    case .entity: return name.elementsEqual(text)
    case .target, .nothing: return false
    case .toOne(let place):
      guard let key = scanner.integer(), scanner.isAtEnd else { return false }
      if isLast { return toOnes[place].set(key, of: nil, in: row, own: self.key) }
      open = (toOnes[place], key)
      return true
    case .attribute(let column, let type):
      guard let cell = cell(of: type, field: &scanner) else { return false }
      row.set(column, cell)
      return true
    }
  }

  private func cell(of type: AttributeType, field scanner: inout ImportScanner) -> ImportCell? {
    if type == .boolean {
      if scanner.passes("true") { return scanner.isAtEnd ? .integer(1) : nil }
      if scanner.passes("false") { return scanner.isAtEnd ? .integer(0) : nil }
    }
    if let cell = type.cell(text: scanner.bytes) { return cell }
    return scanner.number().flatMap { scanner.isAtEnd ? type.cell(number: $0) : nil }
  }
}

/// What stands between the values of lines of one shape, in memory that its owner deallocates.
struct ImportLiterals {
  private let bytes: UnsafeMutableBufferPointer<UInt8>
  /// Where each begins, and the last one ends.
  private let places: UnsafeMutableBufferPointer<Int>
  var count: Int { places.count - 1 }

  init(_ literals: [[UInt8]]) {
    bytes = .copy(Array(literals.joined()))
    places = .copy(literals.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1.count) })
  }

  private init(bytes: UnsafeMutableBufferPointer<UInt8>, places: UnsafeMutableBufferPointer<Int>) {
    (self.bytes, self.places) = (.copy(bytes), .copy(places))
  }

  func copy() -> ImportLiterals { ImportLiterals(bytes: bytes, places: places) }

  func deallocate() {
    bytes.deallocate()
    places.deallocate()
  }

  @inline(__always)
  func areNext(_ index: Int, in scanner: inout ImportScanner) -> Bool {
    let literal = UnsafeMutableBufferPointer(rebasing: bytes[places[index]..<places[index + 1]])
    return scanner.passes(UnsafeRawBufferPointer(literal))
  }
}

extension UnsafeMutableBufferPointer {
  /// A copy of elements in memory of its own, for its owner to deallocate.
  static func copy(_ elements: some Collection<Element>) -> Self {
    let copy = allocate(capacity: elements.count)
    _ = copy.initialize(fromContentsOf: elements)
    return copy
  }
}
