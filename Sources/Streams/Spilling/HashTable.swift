/// An open-addressed hash table over bytes in one arena: the part of a ``SpillingMap`` that is in memory.
final class HashTable {
  struct Slot {
    var hash: UInt64
    var keyOffset: UInt32
    var keyLength: UInt32
    var key: Int64
    var entity: UInt32
  }

  @exclusivity(unchecked) private(set) var slots: [Slot] = []
  /// In the upper half a slot's number, counted from 1, in the lower half of its hash the upper half: most other slots are passed
  /// by without a look at them.
  @exclusivity(unchecked) private var places: [UInt64] = Array(repeating: 0, count: 1024)
  @exclusivity(unchecked) private(set) var arena: [UInt8] = []
  private let byteLimit: Int

  init(byteLimit: Int) { self.byteLimit = min(max(byteLimit, 1 << 12), 1 << 30) }

  var isFull: Bool {
    arena.count + slots.count * (MemoryLayout<Slot>.stride + 8) >= byteLimit
  }

  private func keyBytes<R>(_ slot: Slot, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    arena.withUnsafeBytes { bytes in
      body(UnsafeRawBufferPointer(rebasing: bytes[Int(slot.keyOffset)..<Int(slot.keyOffset) + Int(slot.keyLength)]))
    }
  }

  private func place(_ key: UnsafeRawBufferPointer, hash: UInt64) -> Int {
    let mask = places.count - 1
    var place = Int(truncatingIfNeeded: hash) & mask
    while true {
      let found = places[place]
      if found == 0 { return place }
      if UInt32(truncatingIfNeeded: found) == UInt32(truncatingIfNeeded: hash >> 32) {
        let slot = slots[Int(found >> 32) - 1]
        if slot.hash == hash, keyBytes(slot, { compareKeys($0, key) == 0 }) { return place }
      }
      place = (place + 1) & mask
    }
  }

  private static func entry(_ slot: Int, _ hash: UInt64) -> UInt64 { UInt64(slot + 1) << 32 | hash >> 32 }

  func find(_ key: UnsafeRawBufferPointer, hash: UInt64) -> SpillingMap.Entry? {
    let index = Int(places[place(key, hash: hash)] >> 32)
    guard index != 0 else { return nil }
    let slot = slots[index - 1]
    return SpillingMap.Entry(key: slot.key, entity: slot.entity)
  }

  func insert(_ key: UnsafeRawBufferPointer, hash: UInt64, _ entry: SpillingMap.Entry) {
    let found = place(key, hash: hash)
    if places[found] != 0 {
      let index = Int(places[found] >> 32) - 1
      slots[index].key = entry.key
      slots[index].entity = entry.entity
      return
    }
    let slot = Slot(
      hash: hash, keyOffset: UInt32(truncatingIfNeeded: arena.count), keyLength: UInt32(truncatingIfNeeded: key.count),
      key: entry.key, entity: entry.entity)
    slots.append(slot)
    arena.append(contentsOf: key)
    places[found] = Self.entry(slots.count - 1, hash)
    if slots.count * 2 > places.count { grow() }
  }

  private func grow() {
    places = Array(repeating: 0, count: places.count * 2)
    let mask = places.count - 1
    for (index, slot) in slots.enumerated() {
      var place = Int(truncatingIfNeeded: slot.hash) & mask
      while places[place] != 0 { place = (place + 1) & mask }
      places[place] = Self.entry(index, slot.hash)
    }
  }

  func removeAll() {
    slots.removeAll(keepingCapacity: true)
    arena.removeAll(keepingCapacity: true)
    for index in places.indices { places[index] = 0 }
  }
}
