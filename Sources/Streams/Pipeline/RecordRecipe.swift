/// A recipe that makes one record out of another without looking at single values: runs of columns are copied, types
/// and bodies each in one piece, between constants and integers that are checked or moved.
///
/// What a recipe does not fit, as an integer out of range, is left to the caller's slower way. Both ways give the same
/// bytes.
public final class RecordRecipe {
  /// A piece made ready, and where its types and bodies are for the record at hand.
  private struct Part {
    enum Kind: UInt8 {
      case columns, constant, integer, present, shifted, own, given, moved, number
    }
    var kind: Kind
    /// The first column of the record that is made.
    var first = 0
    /// The first source column, or the one with the key; how many there are.
    var column = 0
    var count = 1
    /// The allowed range, or the number that is added.
    var lower: Int64 = 0
    var upper: Int64 = 0
    /// The column whose integer leads to an element of the table.
    var place = 0
    var table: UnsafeMutableBufferPointer<Int64?>?
    var types: UnsafeRawPointer
    var typesCount = 0
    var bodies: UnsafeRawPointer
    var bodiesCount = 0

    init(_ piece: Piece, _ memory: UnsafeRawPointer) {
      (types, bodies) = (memory, memory)
      switch piece {
      case .columns(let from, let count): (kind, column, self.count) = (.columns, from, count)
      case .constant: kind = .constant
      case .integer(let column, let range):
        (kind, self.column, lower, upper) = (.integer, column, range.lowerBound, range.upperBound)
      case .present(let column): (kind, self.column) = (.present, column)
      case .shifted(let column, let number): (kind, self.column, lower) = (.shifted, column, number)
      case .own(let number): (kind, lower) = (.own, number)
      case .given: kind = .given
      case .moved(let key, let place, let table):
        (kind, column, self.place, self.table) = (.moved, key, place, Self.copy(table))
      case .number(let key, let place, let table):
        (kind, column, self.place, self.table) = (.number, key, place, Self.copy(table))
      }
    }

    /// Points to a type and a body of that many bytes.
    mutating func set(_ room: UnsafeMutableRawPointer, _ length: Int) {
      (types, typesCount, bodies, bodiesCount) = (UnsafeRawPointer(room), 1, UnsafeRawPointer(room + 1), length)
    }

    private static func copy(_ table: [Int64?]) -> UnsafeMutableBufferPointer<Int64?> {
      let copy = UnsafeMutableBufferPointer<Int64?>.allocate(capacity: table.count)
      _ = copy.initialize(from: table)
      return copy
    }
  }

  private let parts: UnsafeMutablePointer<Part>
  /// Types and bodies of constants, and room for one integer a piece.
  private let memory: UnsafeMutableRawPointer
  private static let integerLength = 16
  private let count: Int
  /// Source columns that must not be NULL.
  private let required: UnsafeMutableBufferPointer<Int>
  /// Whether whole records can be made.
  private let appends: Bool

  /// Prepares a recipe. Neighbouring runs of columns are joined. A whole record with NULL in a `required` column does
  /// not fit it, and none at all does unless it `appends`.
  public init(_ pieces: [Piece], required: Set<Int> = [], appends: Bool = true) {
    let sources = Self.sources(of: required, pieces)
    self.required = .allocate(capacity: sources?.count ?? 0)
    _ = self.required.initialize(from: sources ?? [])
    self.appends = appends && sources != nil
    let joined = Self.joined(pieces)
    let constants: [([UInt8], [UInt8])] = joined.map { piece in
      if case .constant(let value) = piece { Self.encoded(value) } else { ([], []) }
    }
    count = joined.count
    parts = .allocate(capacity: joined.count)
    memory = .allocate(
      byteCount: joined.count * Self.integerLength + constants.reduce(0) { $0 + $1.0.count + $1.1.count }, alignment: 16
    )
    var position = memory + joined.count * Self.integerLength
    func store(_ bytes: [UInt8]) -> UnsafeRawPointer {
      bytes.withUnsafeBytes { if let base = $0.baseAddress { position.copyMemory(from: base, byteCount: $0.count) } }
      defer { position += bytes.count }
      return UnsafeRawPointer(position)
    }
    var first = 0
    for (index, constant) in constants.enumerated() {
      var part = Part(joined[index], memory)
      part.first = first
      first += part.count
      (part.types, part.typesCount) = (store(constant.0), constant.0.count)
      (part.bodies, part.bodiesCount) = (store(constant.1), constant.1.count)
      (parts + index).initialize(to: part)
    }
  }

  deinit {
    for index in 0..<count { parts[index].table?.deallocate() }
    required.deallocate()
    parts.deallocate()
    memory.deallocate()
  }

  /// Makes a record out of the one that was located last and appends it to the page; false, and nothing is appended,
  /// where the recipe does not fit.
  public func append(_ source: RecordLocator, to page: RecordPage, table: Int, rowid: Int64) -> Bool {
    guard appends, source.hasRecord, hasRequired(source) else { return false }
    var (types, bodies) = (0, 0)
    let end = parts + count
    var part = parts
    while part < end {
      guard
        part.pointee.kind == .constant
          || prepare(part, room: memory + (part - parts) * Self.integerLength, source: source)
      else {
        return false
      }
      types &+= part.pointee.typesCount
      bodies &+= part.pointee.bodiesCount
      part += 1
    }
    let header = types < 127 ? types &+ 1 : types + Varint.length(UInt64(types + 2))
    let mark = source.refers ? 1 : 0
    var target = page.room(table: table, rowid: rowid, length: mark &+ header &+ bodies)
    if source.refers {
      target.storeBytes(of: LongValue.mark, as: UInt8.self)
      target += 1
    }
    var type = target + Varint.write(UInt64(header), to: target)
    var body = target + header
    part = parts
    while part < end {
      type.copyShort(part.pointee.types, part.pointee.typesCount)
      body.copyShort(part.pointee.bodies, part.pointee.bodiesCount)
      type += part.pointee.typesCount
      body += part.pointee.bodiesCount
      part += 1
    }
    return true
  }

  @inline(__always)
  private func hasRequired(_ source: RecordLocator) -> Bool {
    for column in required where source.isNull(column) { return false }
    return true
  }

  /// Makes a record out of the one that was located last, except for the columns whose bits are set in `changed`: those
  /// are appended by `other`, in order. False, and the encoder's record is not complete, where the recipe does not fit.
  public func encode(_ source: RecordLocator, to encoder: RecordEncoder, except changed: UInt64, _ other: (Int) -> Void)
    -> Bool
  {
    guard source.hasRecord else { return false }
    encoder.reset()
    for part in UnsafeMutableBufferPointer(start: parts, count: count) {
      let bits = part.first < 64 ? changed >> UInt64(part.first) : 0
      if bits == 0 || bits.trailingZeroBitCount >= part.count {
        guard encode(part, source, to: encoder) else { return false }
        continue
      }
      for offset in 0..<part.count {
        if bits >> UInt64(offset) & 1 == 1 {
          other(part.first + offset)
        } else {
          var column = part
          (column.column, column.count) = (part.column + offset, 1)
          guard encode(column, source, to: encoder) else { return false }
        }
      }
    }
    return true
  }

  private func encode(_ part: Part, _ source: RecordLocator, to encoder: RecordEncoder) -> Bool {
    var part = part
    guard part.kind == .constant || prepare(&part, room: memory, source: source) else { return false }
    encoder.append(
      types: UnsafeRawBufferPointer(start: part.types, count: part.typesCount),
      bodies: UnsafeRawBufferPointer(start: part.bodies, count: part.bodiesCount), mayRefer: source.refers)
    return true
  }

  /// Finds where the types and bodies of a piece are.
  @inline(__always)
  private func prepare(_ part: UnsafeMutablePointer<Part>, room: UnsafeMutableRawPointer, source: RecordLocator)
    -> Bool
  {
    let (column, count) = (part.pointee.column, part.pointee.count)
    switch part.pointee.kind {
    case .constant: return true
    case .columns: break
    case .integer:
      if !source.isNull(column) {
        guard let value = source.integer(column), part.pointee.lower <= value, value <= part.pointee.upper,
          source.isShortest(column, value)
        else { return false }
      }
    case .present:
      if source.isNull(column) { return false }
    default: return move(part, room: room, source: source)
    }
    let places = source.places(column, count)
    (part.pointee.types, part.pointee.typesCount) = (places.base + places.types.lowerBound, places.types.count)
    (part.pointee.bodies, part.pointee.bodiesCount) = (places.base + places.bodies.lowerBound, places.bodies.count)
    return true
  }

  /// Writes the integer that a key leads to, and says where it is.
  @inline(__always)
  private func move(_ part: UnsafeMutablePointer<Part>, room: UnsafeMutableRawPointer, source: RecordLocator)
    -> Bool
  {
    guard let key = number(part, source) else {
      room.storeBytes(of: 0, as: UInt8.self)
      part.pointee.set(room, 0)
      return source.isNull(part.pointee.column)
    }
    var value = key &+ part.pointee.lower
    if part.pointee.kind == .moved || part.pointee.kind == .number {
      guard let entry = entry(part, source) else { return false }
      value = part.pointee.kind == .moved ? key &+ entry : entry
    }
    let type = SerialType.integer(value)
    let length = SerialType.length(short: UInt8(truncatingIfNeeded: type)) ?? 0
    room.storeBytes(of: UInt8(truncatingIfNeeded: type), as: UInt8.self)
    SerialType.writeInteger(value, length: length, to: room + 1)
    part.pointee.set(room, length)
    return true
  }

  /// The number that a piece begins with.
  @inline(__always)
  private func number(_ part: UnsafeMutablePointer<Part>, _ source: RecordLocator) -> Int64? {
    switch part.pointee.kind {
    case .own: source.rowid
    case .given: source.given
    default: source.integer(part.pointee.column)
    }
  }

  /// What the place's integer leads to.
  private func entry(_ part: UnsafeMutablePointer<Part>, _ source: RecordLocator) -> Int64? {
    guard let table = part.pointee.table, let index = source.integer(part.pointee.place), index >= 0,
      index < Int64(table.count)
    else { return nil }
    return table[Int(index)]
  }
}
