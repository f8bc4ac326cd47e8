/// Finds entries of a unique index with the same values among sorted keys of bytes.
final class EqualKeys {
  private let columns: [SortColumn]
  private let count: Int
  private let hasTexts: Bool
  /// The key before, and how many of its bytes are values; -1 before the first key.
  @exclusivity(unchecked) private var last = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  @exclusivity(unchecked) private var lastValues = -1

  init(_ columns: [SortColumn]) {
    (self.columns, count) = (columns, columns.count)
    hasTexts = columns.contains { $0.collation != .binary }
  }

  deinit { last.deallocate() }

  /// Takes the next key. Returns the rowids of the key before and of this one if they have the same values, none of
  /// them NULL: NULL differs from NULL in a unique index.
  func next(_ key: UnsafeRawBufferPointer) -> (Int64, Int64)? {
    guard let base = key.baseAddress,
      let values = SortKey.Tail(key, columnCount: count, hasTexts: hasTexts)?.rowid
    else { return nil }
    defer { keep(base, values: values) }
    guard values == lastValues, let before = last.baseAddress,
      compareKeys(UnsafeRawBufferPointer(start: before, count: values), .init(start: base, count: values)) == 0,
      !SortKey.hasNull(key, columns: columns)
    else { return nil }
    return (Self.rowid(before + values), Self.rowid(base + values))
  }

  private func keep(_ base: UnsafeRawPointer, values: Int) {
    let length = values + 8
    if last.count < length {
      last.deallocate()
      last = .allocate(byteCount: 2 * length, alignment: 8)
    }
    last.copyMemory(from: UnsafeRawBufferPointer(start: base, count: length))
    lastValues = values
  }

  private static func rowid(_ bytes: UnsafeRawPointer) -> Int64 {
    Int64(bitPattern: bytes.bigEndian64(0) ^ 1 << 63)
  }
}
