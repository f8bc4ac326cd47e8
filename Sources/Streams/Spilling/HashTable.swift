import Glibc

/// An open-addressed hash table over bytes in one arena: the part of a ``SpillingMap`` that is in memory.
final class HashTable {
  struct Slot {
    var hash: UInt64
    var keyOffset: UInt64
    var key: Int64
    var keyLength: UInt32
    var entity: UInt32
  }

  // Plain memory that grows in place: this is used for every object that a look-up knows.
  @exclusivity(unchecked) private var slots: UnsafeMutablePointer<Slot>
  @exclusivity(unchecked) private(set) var count = 0
  @exclusivity(unchecked) private var slotCapacity = 256
  @exclusivity(unchecked) private var arena: UnsafeMutableRawPointer
  @exclusivity(unchecked) private var used = 0
  @exclusivity(unchecked) private var arenaCapacity = 1 << 12
  /// In the upper half a slot's number, counted from 1, in the lower half of its hash the upper half: most other slots are passed
  /// by without a look at them.
  @exclusivity(unchecked) private var places: UnsafeMutablePointer<UInt64>
  @exclusivity(unchecked) private var placeCount = 1024
  private let byteLimit: Int

  init(byteLimit: Int) {
    self.byteLimit = min(max(byteLimit, 1 << 12), 1 << 30)
    slots = malloc(slotCapacity * MemoryLayout<Slot>.stride)!.assumingMemoryBound(to: Slot.self)
    arena = malloc(arenaCapacity)!
    places = calloc(placeCount, 8)!.assumingMemoryBound(to: UInt64.self)
  }

  deinit {
    free(slots)
    free(arena)
    free(places)
  }

  /// A slot has two to four places.
  var isFull: Bool { used + count * (MemoryLayout<Slot>.stride + 24) >= byteLimit }

  /// The key of a slot.
  @inline(__always)
  func key(_ slot: Slot) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: arena + Int(slot.keyOffset), count: Int(slot.keyLength))
  }

  @inline(__always)
  private func place(_ key: UnsafeRawBufferPointer, hash: UInt64) -> Int {
    let mask = placeCount - 1
    var place = Int(truncatingIfNeeded: hash) & mask
    while true {
      let found = places[place]
      if found == 0 { return place }
      if UInt32(truncatingIfNeeded: found) == UInt32(truncatingIfNeeded: hash >> 32) {
        let slot = slots[Int(found >> 32) - 1]
        if slot.hash == hash, compareKeys(self.key(slot), key) == 0 { return place }
      }
      place = (place + 1) & mask
    }
  }

  func find(_ key: UnsafeRawBufferPointer, hash: UInt64) -> SpillingMap.Entry? {
    let index = Int(places[place(key, hash: hash)] >> 32)
    guard index != 0 else { return nil }
    return SpillingMap.Entry(key: slots[index - 1].key, entity: slots[index - 1].entity)
  }

  func insert(_ key: UnsafeRawBufferPointer, hash: UInt64, _ entry: SpillingMap.Entry) {
    let found = place(key, hash: hash)
    if places[found] != 0 {
      let index = Int(places[found] >> 32) - 1
      (slots[index].key, slots[index].entity) = (entry.key, entry.entity)
      return
    }
    makeRoom(key.count)
    slots[count] = Slot(
      hash: hash, keyOffset: UInt64(used), key: entry.key, keyLength: UInt32(truncatingIfNeeded: key.count),
      entity: entry.entity)
    if let base = key.baseAddress { (arena + used).copyMemory(from: base, byteCount: key.count) }
    used += key.count
    count += 1
    places[found] = UInt64(count) << 32 | hash >> 32
    if count * 2 > placeCount { growPlaces() }
  }

  private func makeRoom(_ length: Int) {
    if count == slotCapacity {
      slotCapacity *= 2
      slots = realloc(slots, slotCapacity * MemoryLayout<Slot>.stride)!.assumingMemoryBound(to: Slot.self)
    }
    if used + length > arenaCapacity {
      arenaCapacity = max(arenaCapacity * 2, used + length)
      arena = realloc(arena, arenaCapacity)!
    }
  }

  private func growPlaces() {
    free(places)
    placeCount *= 2
    places = calloc(placeCount, 8)!.assumingMemoryBound(to: UInt64.self)
    let mask = placeCount - 1
    for index in 0..<count {
      var place = Int(truncatingIfNeeded: slots[index].hash) & mask
      while places[place] != 0 { place = (place + 1) & mask }
      places[place] = UInt64(index + 1) << 32 | slots[index].hash >> 32
    }
  }

  /// Calls `body` with every slot in the order of runs: by hash, then by key. Nothing can be found before the table was emptied.
  func drain(_ body: (Slot) throws -> Void) throws {
    // The places are not needed any more: they take the upper half of a hash and the slot's number.
    for index in 0..<count { places[index] = (slots[index].hash >> 32) << 32 | UInt64(index) }
    var order = UnsafeMutableBufferPointer(start: places, count: count)
    order.sort { left, right in
      if left >> 32 != right >> 32 { return left < right }
      let (left, right) = (slots[Int(left & 0xffff_ffff)], slots[Int(right & 0xffff_ffff)])
      return left.hash != right.hash ? left.hash < right.hash : compareKeys(key(left), key(right)) < 0
    }
    for word in order { try body(slots[Int(word & 0xffff_ffff)]) }
  }

  func removeAll() {
    (count, used) = (0, 0)
    places.update(repeating: 0, count: placeCount)
  }
}
