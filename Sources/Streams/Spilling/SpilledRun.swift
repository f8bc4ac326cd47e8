/// An immutable file of entries sorted by hash. Layout: FORMAT.md, "Look-up runs".
final class SpilledRun {
  static let magic: UInt64 = 0x3130_6e75_7254_4457
  static let headerLength = 32
  static let slotLength = 32

  private let file: any File
  private let count: Int
  private let keysStart: UInt64
  private let keysLength: UInt64
  private let filter: BloomFilter

  /// Opens a run and reads its filter.
  init(path: String, fileSystem: any FileSystem) throws {
    let file = try fileSystem.open(path, .read)
    self.file = file
    var header = [UInt8](repeating: 0, count: Self.headerLength)
    let read = try header.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
    let words = header.withUnsafeBytes { bytes in
      (0..<4).map { UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8 * $0, as: UInt64.self)) }
    }
    let size = try file.size()
    let (slots, filterBytes) = (words[1], words[3])
    guard read == Self.headerLength, words[0] == Self.magic, slots <= size / 32, words[2] <= size, filterBytes <= size,
      filterBytes > 0, 32 + slots * 32 + words[2] + filterBytes == size
    else { throw StreamsError(.damagedCheckpoint, "a run of a look-up is damaged", path: path) }
    count = Int(slots)
    keysStart = 32 + slots * 32
    keysLength = words[2]
    let filterStart = 32 + slots * 32 + words[2]
    var bits = [UInt8](repeating: 0, count: Int(filterBytes))
    _ = try bits.withUnsafeMutableBytes { try file.read(into: $0, at: filterStart) }
    filter = BloomFilter(bits: bits)
  }

  /// Writes a table as a run and makes it durable.
  static func write(_ table: HashTable, path: String, fileSystem: any FileSystem) throws -> SpilledRun {
    let order = table.slots.indices.sorted { table.slots[$0].hash < table.slots[$1].hash }
    var filter = BloomFilter(keys: order.count)
    var bytes: [UInt8] = []
    func append<T: FixedWidthInteger>(_ value: T) {
      withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }
    bytes.reserveCapacity(order.count * 33 + table.arena.count + headerLength)
    for word in [magic, UInt64(order.count), UInt64(table.arena.count), UInt64(filter.bits.count)] { append(word) }
    for index in order {
      let slot = table.slots[index]
      filter.insert(slot.hash)
      append(slot.hash)
      append(slot.key)
      append(UInt64(slot.keyOffset))
      append(slot.keyLength)
      append(slot.entity)
    }
    let file = try fileSystem.open(path, .create)
    try bytes.withUnsafeBytes { try file.write($0, at: 0) }
    try table.arena.withUnsafeBytes { try file.write($0, at: UInt64(bytes.count)) }
    try filter.bits.withUnsafeBytes { try file.write($0, at: UInt64(bytes.count + table.arena.count)) }
    try file.sync()
    file.close()
    return try SpilledRun(path: path, fileSystem: fileSystem)
  }

  deinit { file.close() }

  /// Finds a key: its place is guessed from the hash, which is spread evenly, then narrowed by halving.
  func find(_ key: UnsafeRawBufferPointer, hash: UInt64) throws -> SpillingMap.Entry? {
    guard filter.mayContain(hash) else { return nil }
    var low = 0
    var high = count
    try withUnsafeTemporaryAllocation(byteCount: Self.slotLength, alignment: 8) { slot in
      var guess = Int(hash.multipliedFullWidth(by: UInt64(count)).high)
      var step = 16
      while low < high {
        let found = try hashAt(guess, slot)
        if found < hash { low = guess + 1 } else { high = guess }
        // Near the guess first, then in growing steps, then by halves.
        let near = found < hash ? guess + step : guess - step
        guess = near > low && near < high ? near : (low + high) / 2
        step = min(step * 4, count)
      }
    }
    return try scan(from: low, key, hash)
  }

  private func hashAt(_ index: Int, _ slot: UnsafeMutableRawBufferPointer) throws -> UInt64 {
    _ = try file.read(into: slot, at: UInt64(Self.headerLength + index * Self.slotLength))
    return UInt64(littleEndian: slot.loadUnaligned(as: UInt64.self))
  }

  private func scan(from start: Int, _ key: UnsafeRawBufferPointer, _ hash: UInt64) throws -> SpillingMap.Entry? {
    var index = start
    while index < count {
      var slot = [UInt8](repeating: 0, count: Self.slotLength)
      let found = try slot.withUnsafeMutableBytes { try hashAt(index, $0) }
      guard found == hash else { return nil }
      let (entry, offset, length) = slot.withUnsafeBytes { bytes in
        (
          SpillingMap.Entry(
            key: Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: Int64.self)),
            entity: UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 28, as: UInt32.self))),
          UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)),
          Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 24, as: UInt32.self)))
        )
      }
      if length == key.count, try matches(key, at: offset) { return entry }
      index += 1
    }
    return nil
  }

  private func matches(_ key: UnsafeRawBufferPointer, at offset: UInt64) throws -> Bool {
    guard key.count > 0 else { return true }
    guard offset <= keysLength, UInt64(key.count) <= keysLength - offset else { return false }
    return try withUnsafeTemporaryAllocation(byteCount: key.count, alignment: 1) { stored in
      _ = try file.read(into: stored, at: keysStart + offset)
      return compareKeys(UnsafeRawBufferPointer(stored), key) == 0
    }
  }
}

/// Tells surely absent keys from perhaps present ones: ten bits a key, seven probes, about one error in a hundred.
struct BloomFilter {
  private(set) var bits: [UInt8]

  init(keys: Int) { bits = Array(repeating: 0, count: max(8, keys * 10 / 8)) }
  init(bits: [UInt8]) { self.bits = bits }

  private func probe(_ hash: UInt64, _ index: UInt64) -> Int {
    let mixed = hash &+ index &* ((hash << 32 | hash >> 32) | 1)
    return Int(mixed.multipliedFullWidth(by: UInt64(bits.count * 8)).high)
  }

  mutating func insert(_ hash: UInt64) {
    for index in 0..<7 {
      let bit = probe(hash, UInt64(index))
      bits[bit >> 3] |= 1 << UInt8(bit & 7)
    }
  }

  func mayContain(_ hash: UInt64) -> Bool {
    for index in 0..<7 {
      let bit = probe(hash, UInt64(index))
      if bits[bit >> 3] & (1 << UInt8(bit & 7)) == 0 { return false }
    }
    return true
  }
}
