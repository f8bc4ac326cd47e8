/// Makes one word of an entry of one column that holds small integers: the value in its upper half, the rowid in its
/// lower one. Most indexes are such, of keys to other rows; they take half the memory and are merged by one comparison.
struct EntryPacking {
  /// The bits of the rowid.
  static let rowid: UInt64 = 0xffff_ffff
  /// Turns the value of a descending column around.
  private let mask: UInt64

  /// Nil for several columns, and for one of reals.
  init?(_ columns: [SortColumn]) {
    guard columns.count == 1, columns[0].holds == .integers else { return nil }
    mask = columns[0].isDescending ? ~Self.rowid : 0
  }

  /// The entry of a word of ``NumberColumns``, which may be that of NULL; nil where value or rowid have more than 32 bits.
  @inline(__always)
  func pack(_ word: UInt64, rowid: Int64) -> UInt64? {
    // NULL comes first, as 0.
    let value = word == NumberColumns.null ? 0 : UInt64(bitPattern: NumberColumns.value(word) &+ (1 << 31))
    let row = UInt64(bitPattern: rowid)
    guard (value | row) <= Self.rowid, value > 0 || word == NumberColumns.null else { return nil }
    return ((value &<< 32) | row) ^ mask
  }

  /// Puts an entry of two words in the place of one: the value as its column sorts it, and the rowid.
  @inline(__always)
  func unpack(_ entry: UInt64, into words: UnsafeMutablePointer<UInt64>) {
    let value = (entry ^ mask) &>> 32
    let word = value == 0 ? NumberColumns.null : NumberColumns.word(Int64(value) &- (1 << 31))
    words[0] = mask == 0 ? word : ~word
    words[1] = NumberColumns.word(Int64(entry & Self.rowid))
  }
}
