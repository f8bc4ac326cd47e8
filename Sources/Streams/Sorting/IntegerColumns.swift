/// Finds some columns of a record, and of those that hold NULL or an integer a word that sorts as SQLite sorts the
/// value: one walk over the record's header for all indexes of a table.
///
/// Source of the rule: SQLite, "Database File Format", section 2.1.
final class IntegerColumns {
  /// What stands for NULL, which comes first. The smallest integer would have the same word, so it counts as none.
  static let null: UInt64 = 0

  private let columns: [Int]
  private let wanted: UnsafeMutablePointer<Int>
  /// Lengths of the types below 128, 255 for the two reserved ones.
  private let lengths: UnsafeMutablePointer<UInt8>

  /// Looks for columns in ascending order.
  init(_ columns: [Int]) {
    self.columns = columns
    wanted = .allocate(capacity: columns.count + 1)
    for (index, column) in columns.enumerated() { wanted[index] = column }
    lengths = .allocate(capacity: 128)
    for type in 0..<128 { lengths[type] = SerialType.length(UInt64(type)).map { UInt8($0) } ?? 255 }
  }

  deinit {
    wanted.deallocate()
    lengths.deallocate()
  }

  static func word(_ value: Int64) -> UInt64 { UInt64(bitPattern: value) ^ 1 << 63 }
  static func value(_ word: UInt64) -> Int64 { Int64(bitPattern: word ^ 1 << 63) }

  /// The number of columns that are looked for.
  var count: Int { columns.count }

  /// Where a column's word is.
  func place(of column: Int) -> Int? { columns.firstIndex(of: column) }

  /// Reads the columns of a record into as many words, and into `isOther` whether they hold something that has no word.
  /// A column that the record does not have is NULL. False when the record is damaged before the last of them.
  func read(
    _ record: UnsafeRawBufferPointer, into words: UnsafeMutablePointer<UInt64>, _ isOther: UnsafeMutablePointer<Bool>
  ) -> Bool {
    guard let base = record.baseAddress, record.count > 0 else { return false }
    let refers = base.load(as: UInt8.self) == LongValue.mark
    let start = refers ? 1 : 0
    var position = start
    guard let size = Varint.read(record, at: &position), size <= UInt64(record.count - start) else { return false }
    let headerEnd = start + Int(size)
    var (body, column, place) = (headerEnd, 0, 0)
    let count = columns.count
    while place < count, position < headerEnd {
      var type = UInt64(base.load(fromByteOffset: position, as: UInt8.self))
      var length = 255
      if type < 0x80 {
        position += 1
        length = Int(lengths[Int(type)])
      }
      if length == 255, type < 0x80 {
        guard refers, type == LongValue.serialType else { return false }
        length = LongValue.length
      } else if length == 255 {
        guard let long = Varint.read(record, at: &position), let found = SerialType.length(long) else { return false }
        (type, length) = (long, found)
      }
      guard length <= record.count - body, position <= headerEnd else { return false }
      if column == wanted[place] {
        words[place] = Self.word(type, base + body)
        isOther[place] = words[place] == Self.null && type != SerialType.null
        place += 1
      }
      body += length
      column += 1
    }
    while place < count {
      (words[place], isOther[place]) = (Self.null, false)
      place += 1
    }
    return true
  }

  @inline(__always)
  private static func word(_ type: UInt64, _ body: UnsafeRawPointer) -> UInt64 {
    SerialType.isInteger(type) ? word(SerialType.readInteger(type, body)) : null
  }
}
