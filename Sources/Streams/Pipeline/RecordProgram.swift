/// A recipe that makes one record out of another without looking at single values: runs of columns are copied, types and bodies
/// each in one piece, between constants and integers that are checked or moved.
///
/// What a recipe does not fit, as an integer out of range, is left to the caller's slower way. Both ways give the same bytes.
public final class RecordProgram {
  /// A part of the record that is made.
  public enum Piece: Equatable, Sendable {
    /// That many columns of the source, as they are.
    case columns(from: Int, count: Int)
    /// A column with the same value in every record.
    case constant(Value)
    /// A column of the source that is NULL or an integer within the range, as it is.
    case integer(column: Int, within: ClosedRange<Int64>)
    /// A column of the source that is NULL or an integer, with a number added.
    case shifted(column: Int, by: Int64)
    /// NULL where the key is; else the key, with the number added that another column's integer leads to.
    case moved(key: Int, by: Int, offsets: [Int64?])
    /// NULL where the key is; else the number that another column's integer leads to.
    case number(key: Int, of: Int, numbers: [Int64?])
  }

  /// Where the types and bodies of a piece are, for the record at hand.
  private struct Part {
    var types: UnsafeRawBufferPointer
    var bodies: UnsafeRawBufferPointer
  }

  private let pieces: [Piece]
  private let parts: UnsafeMutablePointer<Part>
  /// Types and bodies of constants, and room for one integer a piece.
  private let memory: UnsafeMutableRawPointer
  private static let integerLength = 16
  private let pieceCount: Int

  /// Prepares a recipe. Neighbouring runs of columns are joined.
  public init(_ pieces: [Piece]) {
    let joined = Self.joined(pieces)
    let constants: [([UInt8], [UInt8])] = joined.map { piece in
      if case .constant(let value) = piece { Self.encoded(value) } else { ([], []) }
    }
    (self.pieces, pieceCount) = (joined, joined.count)
    parts = .allocate(capacity: joined.count)
    memory = .allocate(
      byteCount: joined.count * Self.integerLength + constants.reduce(0) { $0 + $1.0.count + $1.1.count }, alignment: 16)
    var position = memory + joined.count * Self.integerLength
    func store(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
      bytes.withUnsafeBytes { if let base = $0.baseAddress { position.copyMemory(from: base, byteCount: $0.count) } }
      defer { position += bytes.count }
      return UnsafeRawBufferPointer(start: position, count: bytes.count)
    }
    for (index, constant) in constants.enumerated() {
      parts[index] = Part(types: store(constant.0), bodies: store(constant.1))
    }
  }

  deinit {
    parts.deallocate()
    memory.deallocate()
  }

  private static func joined(_ pieces: [Piece]) -> [Piece] {
    pieces.reduce(into: []) { joined, piece in
      if case .columns(let start, let more) = piece, case .columns(let from, let count)? = joined.last, from + count == start {
        joined[joined.count - 1] = .columns(from: from, count: count + more)
      } else {
        joined.append(piece)
      }
    }
  }

  private static func encoded(_ value: Value) -> ([UInt8], [UInt8]) {
    let encoder = RecordEncoder()
    encoder.append(value)
    var bytes = [UInt8](repeating: 0, count: encoder.length)
    bytes.withUnsafeMutableBytes { if let base = $0.baseAddress { encoder.write(to: base) } }
    let headerLength = Int(bytes[0])
    return (Array(bytes[1..<headerLength]), Array(bytes[headerLength...]))
  }

  /// Makes a record out of the one that was located last and appends it to the page; false, and nothing is appended, where the
  /// recipe does not fit.
  public func append(_ source: RecordLocator, to page: RecordPage, table: Int, rowid: Int64) -> Bool {
    var (types, bodies) = (0, 0)
    for index in 0..<pieceCount {
      guard prepare(index, source) else { return false }
      types += parts[index].types.count
      bodies += parts[index].bodies.count
    }
    let header = types < 127 ? types + 1 : types + Varint.length(UInt64(types + 2))
    let mark = source.refers ? 1 : 0
    var target = page.room(table: table, rowid: rowid, length: mark + header + bodies)
    if source.refers {
      target.storeBytes(of: LongValue.mark, as: UInt8.self)
      target += 1
    }
    var type = target + Varint.write(UInt64(header), to: target)
    var body = target + header
    for index in 0..<pieceCount {
      let part = parts[index]
      if let base = part.types.baseAddress { type.copyMemory(from: base, byteCount: part.types.count) }
      if let base = part.bodies.baseAddress { body.copyMemory(from: base, byteCount: part.bodies.count) }
      type += part.types.count
      body += part.bodies.count
    }
    return true
  }

  @inline(__always)
  private func prepare(_ index: Int, _ source: RecordLocator) -> Bool {
    switch pieces[index] {
    case .constant: return true
    case .columns(let from, let count):
      parts[index] = Part(types: source.types(from, count), bodies: source.bodies(from, count))
      return true
    case .integer(let column, let range):
      if !source.isNull(column) {
        guard let value = source.integer(column), range.contains(value), source.isShortest(column, value) else { return false }
      }
      parts[index] = Part(types: source.types(column, 1), bodies: source.bodies(column, 1))
      return true
    case .shifted(let column, let offset):
      guard let value = source.integer(column) else { return setNull(index, where: source.isNull(column)) }
      return set(index, value &+ offset)
    case .moved(let column, let place, let offsets):
      guard let key = source.integer(column) else { return setNull(index, where: source.isNull(column)) }
      guard let offset = entry(source, place, offsets) else { return false }
      return set(index, key &+ offset)
    case .number(let column, let place, let numbers):
      guard source.integer(column) != nil else { return setNull(index, where: source.isNull(column)) }
      guard let number = entry(source, place, numbers) else { return false }
      return set(index, number)
    }
  }

  /// What a column's integer leads to.
  private func entry(_ source: RecordLocator, _ column: Int, _ table: [Int64?]) -> Int64? {
    guard let index = source.integer(column), index >= 0, index < Int64(table.count) else { return nil }
    return table[Int(index)]
  }

  private func setNull(_ index: Int, where isNull: Bool) -> Bool {
    let room = memory + index * Self.integerLength
    room.storeBytes(of: 0, as: UInt8.self)
    parts[index] = Part(
      types: UnsafeRawBufferPointer(start: room, count: 1), bodies: UnsafeRawBufferPointer(start: room + 1, count: 0))
    return isNull
  }

  private func set(_ index: Int, _ value: Int64) -> Bool {
    let room = memory + index * Self.integerLength
    let type = SerialType.integer(value)
    let length = SerialType.length(type) ?? 0
    room.storeBytes(of: UInt8(truncatingIfNeeded: type), as: UInt8.self)
    SerialType.writeInteger(value, length: length, to: room + 1)
    parts[index] = Part(
      types: UnsafeRawBufferPointer(start: room, count: 1), bodies: UnsafeRawBufferPointer(start: room + 1, count: length))
    return true
  }
}
