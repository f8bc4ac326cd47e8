/// Finds some columns of a record, and of those that hold NULL or a number a word that sorts as SQLite sorts the value:
/// one walk over the record's header for all indexes of a table.
///
/// A column is one of integers, in which reals have no word, or one of reals: there an integer has the word of the equal
/// real, and those beyond 2^53 have none. Neither have reals that equal an integer of that range, so that a word says
/// which of the two was stored.
///
/// Source of the rule: SQLite, "Database File Format", section 2.1.
final class NumberColumns {
  /// What stands for NULL, which comes first. The smallest integer would have the same word, so it counts as none.
  static let null: UInt64 = 0

  private let columns: [Int]
  private let wanted: UnsafeMutablePointer<(column: Int, holdsReals: Bool)>
  /// Lengths of the types below 128, 255 for the two reserved ones.
  private let lengths: UnsafeMutablePointer<UInt8>

  /// Looks for columns in ascending order; those of `reals` are columns of reals.
  init(_ columns: [Int], reals: Set<Int> = []) {
    self.columns = columns
    wanted = .allocate(capacity: columns.count + 1)
    for (index, column) in columns.enumerated() { wanted[index] = (column, reals.contains(column)) }
    lengths = .allocate(capacity: 128)
    for type in 0..<128 { lengths[type] = SerialType.length(UInt64(type)).map { UInt8($0) } ?? 255 }
  }

  deinit {
    wanted.deallocate()
    lengths.deallocate()
  }

  static func word(_ value: Int64) -> UInt64 { UInt64(bitPattern: value) ^ 1 << 63 }
  static func value(_ word: UInt64) -> Int64 { Int64(bitPattern: word ^ 1 << 63) }

  static func word(_ value: Double) -> UInt64 {
    let bits = value.bitPattern
    return bits >> 63 == 1 ? ~bits : bits | 1 << 63
  }

  static func real(_ word: UInt64) -> Double { Double(bitPattern: word >> 63 == 1 ? word & ~(1 << 63) : ~word) }

  /// The integer that equals a real, if reals hold all integers around it.
  @inline(__always)
  static func integer(_ value: Double) -> Int64? {
    guard abs(value) <= 0x1p53 else { return nil }
    let integer = Int64(value)
    return Double(integer) == value ? integer : nil
  }

  /// The number of columns that are looked for.
  var count: Int { columns.count }

  /// Where a column's word is.
  func place(of column: Int) -> Int? { columns.firstIndex(of: column) }

  /// Whether the column at a place is one of reals.
  func holdsReals(_ place: Int) -> Bool { wanted[place].holdsReals }

  /// Reads the columns of a record into as many words and values; a value without a word has that of NULL. A column that
  /// the record does not have is NULL. False when the record is damaged before the last of them.
  func read(
    _ record: UnsafeRawBufferPointer, into words: UnsafeMutablePointer<UInt64>,
    values: UnsafeMutablePointer<KeyValue>
  ) -> Bool {
    guard var place = Place(record) else { return false }
    let count = columns.count
    for index in 0..<count {
      while place.column < wanted[index].column, place.position < place.headerEnd {
        guard next(&place, record) != nil else { return false }
      }
      guard place.position < place.headerEnd else {
        for missing in index..<count { (words[missing], values[missing]) = (Self.null, .null) }
        break
      }
      let start = place.body
      guard let type = next(&place, record), place.body <= record.count else { return false }
      let body = place.base + start
      words[index] = Self.word(type, body, holdsReals: wanted[index].holdsReals)
      values[index] = KeyValue(type: type, body: UnsafeRawBufferPointer(start: body, count: place.body - start))
    }
    return place.body <= record.count && place.position <= place.headerEnd
  }

  /// A column of a record: where its type is, and where its body.
  private struct Place {
    let base: UnsafeRawPointer
    let headerEnd: Int
    let refers: Bool
    var position: Int
    var body: Int
    var column = 0

    @inline(__always)
    init?(_ record: UnsafeRawBufferPointer) {
      guard let base = record.baseAddress, record.count > 0 else { return nil }
      self.base = base
      refers = base.load(as: UInt8.self) == LongValue.mark
      let start = refers ? 1 : 0
      position = start
      guard let size = Varint.read(record, at: &position), size <= UInt64(record.count - start) else { return nil }
      headerEnd = start + Int(size)
      body = headerEnd
    }
  }

  /// Moves to the next column, and returns the type of the one that it was at; nil when that is none. The body may end
  /// behind the record.
  @inline(__always)
  private func next(_ place: inout Place, _ record: UnsafeRawBufferPointer) -> UInt64? {
    let short = place.base.load(fromByteOffset: place.position, as: UInt8.self)
    place.column += 1
    if short < 0x80, lengths[Int(short)] != 255 {
      place.position += 1
      place.body += Int(lengths[Int(short)])
      return UInt64(short)
    }
    return nextLong(&place, record)
  }

  private func nextLong(_ place: inout Place, _ record: UnsafeRawBufferPointer) -> UInt64? {
    guard let type = Varint.read(record, at: &place.position) else { return nil }
    if let length = SerialType.length(type) {
      place.body += length
    } else {
      guard place.refers, type == LongValue.serialType else { return nil }
      place.body += LongValue.length
    }
    return type
  }

  @inline(__always)
  private static func word(_ type: UInt64, _ body: UnsafeRawPointer, holdsReals: Bool) -> UInt64 {
    if SerialType.isInteger(type) {
      let value = SerialType.readInteger(type, body)
      guard holdsReals else { return word(value) }
      return value.magnitude <= 1 << 53 ? word(Double(value)) : null
    }
    guard holdsReals, type == SerialType.real else { return null }
    let value = Double(bitPattern: body.bigEndian64(0))
    return value.isNaN || integer(value) != nil ? null : word(value)
  }
}
