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
  @exclusivity(unchecked) private var places: [UInt32] = Array(repeating: 0, count: 1024)
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
    while places[place] != 0 {
      let slot = slots[Int(places[place]) - 1]
      if slot.hash == hash, keyBytes(slot, { compareKeys($0, key) == 0 }) { return place }
      place = (place + 1) & mask
    }
    return place
  }

  func find(_ key: UnsafeRawBufferPointer, hash: UInt64) -> SpillingMap.Entry? {
    let index = places[place(key, hash: hash)]
    guard index != 0 else { return nil }
    let slot = slots[Int(index) - 1]
    return SpillingMap.Entry(key: slot.key, entity: slot.entity)
  }

  func insert(_ key: UnsafeRawBufferPointer, hash: UInt64, _ entry: SpillingMap.Entry) {
    let found = place(key, hash: hash)
    if places[found] != 0 {
      slots[Int(places[found]) - 1].key = entry.key
      slots[Int(places[found]) - 1].entity = entry.entity
      return
    }
    let slot = Slot(
      hash: hash, keyOffset: UInt32(truncatingIfNeeded: arena.count), keyLength: UInt32(truncatingIfNeeded: key.count),
      key: entry.key, entity: entry.entity)
    slots.append(slot)
    arena.append(contentsOf: key)
    places[found] = UInt32(slots.count)
    if slots.count * 2 > places.count { grow() }
  }

  private func grow() {
    places = Array(repeating: 0, count: places.count * 2)
    let mask = places.count - 1
    for (index, slot) in slots.enumerated() {
      var place = Int(truncatingIfNeeded: slot.hash) & mask
      while places[place] != 0 { place = (place + 1) & mask }
      places[place] = UInt32(index + 1)
    }
  }

  func removeAll() {
    slots.removeAll(keepingCapacity: true)
    arena.removeAll(keepingCapacity: true)
    for index in places.indices { places[index] = 0 }
  }
}
