import Glibc

/// An open-addressed hash table over bytes in one arena: the part of a ``SpillingMap`` that is in memory.
final class HashTable {
  /// An entry where it lies, with its key after it: a look touches one place, and that.
  struct Slot {
    fileprivate struct Head {
      var hash: UInt64
      var key: Int64
      var keyLength: UInt32
      var entity: UInt32
    }

    fileprivate let base: UnsafeMutableRawPointer
    fileprivate static var headLength: Int { MemoryLayout<Head>.size }

    fileprivate var head: Head {
      @inline(__always) get { base.load(as: Head.self) }
    }

    var hash: UInt64 { head.hash }
    var entry: SpillingEntry { SpillingEntry(key: head.key, entity: head.entity) }
    var key: UnsafeRawBufferPointer {
      UnsafeRawBufferPointer(start: base + Self.headLength, count: Int(head.keyLength))
    }
  }

  // Plain memory that grows in place: this is used for every object that a look-up knows.
  @exclusivity(unchecked) private(set) var count = 0
  /// Entries one after the other, each at a multiple of eight bytes.
  @exclusivity(unchecked) private var arena: UnsafeMutableRawPointer
  @exclusivity(unchecked) private var used = 0
  @exclusivity(unchecked) private var arenaCapacity = 1 << 12
  /// In the upper half where an entry begins, in units of eight bytes and counted from 1, in the lower half of its hash
  /// the upper half: most other entries are passed by without a look at them.
  @exclusivity(unchecked) private var places: UnsafeMutablePointer<UInt64>
  @exclusivity(unchecked) private var placeCount = 1024
  private let byteLimit: Int

  init(byteLimit: Int) {
    self.byteLimit = min(max(byteLimit, 1 << 12), 1 << 30)
    arena = malloc(arenaCapacity)!
    places = calloc(placeCount, 8)!.assumingMemoryBound(to: UInt64.self)
  }

  deinit {
    free(arena)
    free(places)
  }

  /// An entry has two to four places.
  var isFull: Bool { used + count * 24 >= byteLimit }

  /// Whether seven eighths are used, or as much as caches hold: looking at random in more is slower than not to look.
  var isFilling: Bool { used + count * 24 >= min(byteLimit / 8 * 7, 16 << 20) }

  @inline(__always)
  private func slot(_ place: UInt64) -> Slot { Slot(base: arena + (Int(place >> 32) - 1) * 8) }

  @inline(__always)
  private func place(_ key: TaggedKey, hash: UInt64) -> Int {
    let mask = placeCount - 1
    var place = Int(truncatingIfNeeded: hash) & mask
    while true {
      let found = places[place]
      if found == 0 || isAt(found, key: key, hash: hash) { return place }
      place = (place + 1) & mask
    }
  }

  @inline(__always)
  private func isAt(_ word: UInt64, key: TaggedKey, hash: UInt64) -> Bool {
    guard UInt32(truncatingIfNeeded: word) == UInt32(truncatingIfNeeded: hash >> 32) else { return false }
    let slot = slot(word)
    return slot.hash == hash && key.isEqual(slot.key)
  }

  /// What stands where a key of this hash is looked for first.
  @inline(__always)
  func word(_ hash: UInt64) -> UInt64 { places[Int(truncatingIfNeeded: hash) & (placeCount - 1)] }

  /// Finds a key whose ``word(_:)`` is at hand.
  @inline(__always)
  func find(_ key: TaggedKey, hash: UInt64, word: UInt64) -> SpillingEntry? {
    if word == 0 { return nil }
    if isAt(word, key: key, hash: hash) { return slot(word).entry }
    let found = places[place(key, hash: hash)]
    return found == 0 ? nil : slot(found).entry
  }

  func insert(_ key: TaggedKey, hash: UInt64, _ entry: SpillingEntry) {
    let found = place(key, hash: hash)
    let head = Slot.Head(
      hash: hash, key: entry.key, keyLength: UInt32(truncatingIfNeeded: key.count), entity: entry.entity)
    if places[found] != 0 { return slot(places[found]).base.storeBytes(of: head, as: Slot.Head.self) }
    let length = Self.length(key.count)
    if used + length > arenaCapacity {
      arenaCapacity = max(arenaCapacity * 2, used + length)
      arena = realloc(arena, arenaCapacity)!
    }
    let base = arena + used
    base.storeBytes(of: head, as: Slot.Head.self)
    key.copy(to: base + Slot.headLength)
    places[found] = UInt64(used / 8 + 1) << 32 | hash >> 32
    used += length
    count += 1
    if count * 2 > placeCount { growPlaces() }
  }

  /// What an entry takes of the arena.
  private static func length(_ keyLength: Int) -> Int { (Slot.headLength + keyLength + 7) & ~7 }

  /// Calls `body` with every entry and where it begins, in units of eight bytes.
  private func forEach(_ body: (Slot, Int) -> Void) {
    var position = 0
    while position < used {
      let slot = Slot(base: arena + position)
      body(slot, position / 8)
      position += Self.length(slot.key.count)
    }
  }

  private func growPlaces() {
    free(places)
    placeCount *= 2
    places = calloc(placeCount, 8)!.assumingMemoryBound(to: UInt64.self)
    let mask = placeCount - 1
    forEach { slot, position in
      var place = Int(truncatingIfNeeded: slot.hash) & mask
      while places[place] != 0 { place = (place + 1) & mask }
      places[place] = UInt64(position + 1) << 32 | slot.hash >> 32
    }
  }

  /// Calls `body` with every entry in the order of runs: by hash, then by key. Nothing can be found before the table
  /// was emptied.
  func drain(_ body: (Slot) throws -> Void) throws {
    // The places are no longer needed: they take the upper half of a hash and where the entry begins.
    var next = 0
    forEach { slot, position in
      places[next] = (slot.hash >> 32) << 32 | UInt64(position)
      next += 1
    }
    func slot(_ word: UInt64) -> Slot { Slot(base: arena + Int(word & 0xffff_ffff) * 8) }
    var order = UnsafeMutableBufferPointer(start: places, count: count)
    order.sort { left, right in
      if left >> 32 != right >> 32 { return left < right }
      let (left, right) = (slot(left), slot(right))
      return left.hash != right.hash ? left.hash < right.hash : compareKeys(left.key, right.key) < 0
    }
    for word in order { try body(slot(word)) }
  }

  func removeAll() {
    (count, used) = (0, 0)
    places.update(repeating: 0, count: placeCount)
  }
}
