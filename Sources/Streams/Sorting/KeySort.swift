import CProcessor
import Glibc

/// A key in memory: eight of its bytes as a number, and where it is.
struct KeyEntry {
  var prefix: UInt64
  var place: UInt64

  @inline(__always)
  init(offset: Int, length: Int) { (prefix, place) = (0, UInt64(offset) << 32 | UInt64(length)) }

  var offset: Int { Int(truncatingIfNeeded: place &>> 32) }
  var length: Int { Int(truncatingIfNeeded: place & 0xffff_ffff) }
}

/// Sorts keys of any length in plain order of bytes: by the digits of eight bytes at a time, each group of equal ones
/// by the bytes that follow, and a few keys by comparing them.
///
/// What keys have in common at their beginning costs one look at each key for eight bytes of it.
struct KeySort {
  private static let few = 24
  /// Groups within groups; from there on keys are compared.
  private static let deepest = 64
  /// Keys lie anywhere: the processor is told so many entries early which ones are next.
  static let ahead = 12
  /// Bits that are sorted by digits at a time: three digits of eleven.
  private static let bits = 33

  private let keys: UnsafeRawPointer
  private let scratch: UnsafeMutablePointer<KeyEntry>
  private let radix = RadixSort(width: 2)

  /// Sorts entries of keys that lie from `keys` on. `scratch` has room for as many entries.
  static func sort(
    _ entries: UnsafeMutableBufferPointer<KeyEntry>, keys: UnsafeRawPointer, scratch: UnsafeMutablePointer<KeyEntry>
  ) {
    let sort = KeySort(keys: keys, scratch: scratch)
    defer { sort.radix.deallocate() }
    sort.sort(entries, from: 0, depth: 0)
  }

  private init(keys: UnsafeRawPointer, scratch: UnsafeMutablePointer<KeyEntry>) {
    (self.keys, self.scratch) = (keys, scratch)
  }

  @inline(__always)
  private func key(_ entry: KeyEntry) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: keys + entry.offset, count: entry.length)
  }

  /// Sorts keys that are equal up to a byte.
  private func sort(_ entries: UnsafeMutableBufferPointer<KeyEntry>, from start: Int, depth: Int) {
    var start = start
    while entries.count > Self.few, depth < Self.deepest {
      guard let differing = loadPrefixes(entries, from: start) else { break }
      if differing != 0 { return sort(entries, from: start, depth: depth, differing: differing) }
      start += 8
    }
    compare(entries)
  }

  /// Takes eight bytes of each key. Returns the bits that differ, nil when all keys end before those bytes: they may
  /// differ in the number of zeros at their end.
  private func loadPrefixes(_ entries: UnsafeMutableBufferPointer<KeyEntry>, from start: Int) -> UInt64? {
    var (differing, longest) = (UInt64(0), 0)
    for index in entries.indices {
      if index + Self.ahead < entries.count { godwit_prefetch(keys + entries[index + Self.ahead].offset + start) }
      entries[index].prefix = keyPrefix(key(entries[index]), from: start)
      differing |= entries[index].prefix ^ entries[0].prefix
      longest = max(longest, entries[index].length)
    }
    return longest > start ? differing : nil
  }

  private func sort(
    _ entries: UnsafeMutableBufferPointer<KeyEntry>, from start: Int, depth: Int, differing: UInt64
  ) {
    guard let base = entries.baseAddress else { return }
    // The highest bits that differ, as many as three digits have.
    let lowest = max(0, 64 - differing.leadingZeroBitCount - Self.bits)
    var mask: [UInt64] = [differing & (.max << UInt64(lowest)), 0]
    let words = radix.sort(
      Self.words(base), Self.words(scratch), count: entries.count, differing: &mask)
    if words == Self.words(scratch) { base.update(from: scratch, count: entries.count) }
    var first = 0
    while first < entries.count {
      var end = first + 1
      while end < entries.count, (entries[end].prefix ^ entries[first].prefix) & mask[0] == 0 { end += 1 }
      if end - first > 1 {
        sort(UnsafeMutableBufferPointer(rebasing: entries[first..<end]), from: start, depth: depth + 1)
      }
      first = end
    }
  }

  private func compare(_ entries: UnsafeMutableBufferPointer<KeyEntry>) {
    var all = entries
    guard entries.count <= Self.few else { return all.sort { compareKeys(key($0), key($1)) < 0 } }
    for index in 1..<max(1, entries.count) {
      let entry = entries[index]
      var place = index
      while place > 0, compareKeys(key(entry), key(entries[place - 1])) < 0 {
        entries[place] = entries[place - 1]
        place -= 1
      }
      entries[place] = entry
    }
  }

  // An entry is two words, so its memory may be seen as words.
  private static func words(_ entries: UnsafeMutablePointer<KeyEntry>) -> UnsafeMutablePointer<UInt64> {
    UnsafeMutableRawPointer(entries).assumingMemoryBound(to: UInt64.self)
  }
}

/// Plain order of bytes; a prefix comes first.
@inline(__always)
func compareKeys(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
  let count = min(left.count, right.count)
  if count > 0 {
    let order = memcmp(left.baseAddress!, right.baseAddress!, count)
    if order != 0 { return Int(order) }
  }
  return left.count - right.count
}

/// The number of equal bytes at the beginning of two keys.
@inline(__always)
func commonPrefix(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
  let count = min(left.count, right.count)
  guard let left = left.baseAddress, let right = right.baseAddress else { return 0 }
  var index = 0
  while index + 8 <= count {
    let difference =
      left.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      ^ right.loadUnaligned(fromByteOffset: index, as: UInt64.self)
    // The machine keeps the first byte in the lowest bits.
    if difference != 0 { return index + difference.trailingZeroBitCount >> 3 }
    index += 8
  }
  while index < count,
    left.load(fromByteOffset: index, as: UInt8.self) == right.load(fromByteOffset: index, as: UInt8.self)
  {
    index += 1
  }
  return index
}

/// Eight bytes of a key as a number that sorts as they do, zeros after its end.
@inline(__always)
func keyPrefix(_ key: UnsafeRawBufferPointer, from start: Int) -> UInt64 {
  guard let base = key.baseAddress else { return 0 }
  if key.count >= start + 8 { return UnsafeRawPointer(base).bigEndian64(start) }
  var prefix: UInt64 = 0
  for index in start..<(start + 8) { prefix = prefix << 8 | (index < key.count ? UInt64(key[index]) : 0) }
  return prefix
}
