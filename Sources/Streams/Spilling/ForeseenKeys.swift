/// Keys that are going to be asked for one after the other, and what is known of them beforehand: looked for together,
/// their accesses to memory happen at the same time, and two threads can read runs for them.
public final class ForeseenKeys: @unchecked Sendable {
  // Sendable by discipline: threads that look for keys at the same time look for different ones.
  struct Key {
    var body: UnsafeRawBufferPointer
    var hash: UInt64
    /// Where the table would have it.
    var word: UInt64
    var entry: SpillingEntry?
    var isAsked: Bool
  }

  let tag: UInt8
  @exclusivity(unchecked) private(set) var keys: UnsafeMutablePointer<Key>
  @exclusivity(unchecked) private(set) var count = 0
  private var capacity = 1024
  /// How many tables had become runs when the keys were looked for.
  @exclusivity(unchecked) var spilled: UInt64 = 0
  /// Keys that no table in memory has, and that runs may have.
  @exclusivity(unchecked) var open: [Int] = []

  /// Makes room for keys that begin with a byte.
  public init(tag: UInt8) {
    self.tag = tag
    keys = .allocate(capacity: capacity)
  }

  deinit { keys.deallocate() }

  /// Forgets all keys.
  public func removeAll() {
    count = 0
    open.removeAll(keepingCapacity: true)
  }

  /// Adds a key, whose bytes must stay; nil keeps a place for one that is not asked for beforehand.
  @inline(__always)
  public func append(_ body: UnsafeRawBufferPointer?) {
    if count == capacity { grow() }
    let key = body.map { TaggedKey(tag: tag, body: $0) }
    (keys + count).initialize(
      to: Key(
        body: body ?? UnsafeRawBufferPointer(start: nil, count: 0), hash: key?.hash ?? 0, word: 0, entry: nil,
        isAsked: body != nil))
    count += 1
  }

  private func grow() {
    let larger = UnsafeMutablePointer<Key>.allocate(capacity: 2 * capacity)
    larger.moveInitialize(from: keys, count: count)
    keys.deallocate()
    (keys, capacity) = (larger, 2 * capacity)
  }

  /// What a key was found to stand for; nil if that has to be asked for yet.
  @inline(__always)
  public func entry(_ place: Int) -> SpillingEntry? { place < count ? keys[place].entry : nil }

  /// Whether the key was asked for beforehand.
  @inline(__always)
  public func isAsked(_ place: Int) -> Bool { place < count && keys[place].isAsked }

  /// How many keys are to be looked for in runs.
  public var openCount: Int { open.count }
}

extension SpillingMap {
  /// Looks for keys in memory. What is not found there is open, if there are runs.
  public func foresee(_ keys: ForeseenKeys) {
    keys.spilled = spilled
    let all = UnsafeMutableBufferPointer(start: keys.keys, count: keys.count)
    for place in all.indices where all[place].isAsked { all[place].word = table.word(all[place].hash) }
    for place in all.indices where all[place].isAsked {
      let key = all[place]
      all[place].entry = table.find(TaggedKey(tag: keys.tag, body: key.body), hash: key.hash, word: key.word)
      if all[place].entry == nil, hasRuns { keys.open.append(place) }
    }
  }

  /// Looks again for a key that was not found, in memory and in runs: only what was inserted since can have it.
  ///
  /// - Throws: ``StreamsError``.
  public func findInserted(_ keys: ForeseenKeys, _ place: Int) throws -> SpillingEntry? {
    let (hash, key) = (keys.keys[place].hash, TaggedKey(tag: keys.tag, body: keys.keys[place].body))
    if let entry = table.find(key, hash: hash, word: table.word(hash)) { return entry }
    return keys.spilled == spilled ? nil : try findAlone(key, hash: hash)
  }

  /// Looks for some of the open keys in runs; other threads may look for others meanwhile, as long as nothing is
  /// inserted.
  ///
  /// - Throws: ``StreamsError``.
  public func foresee(_ keys: ForeseenKeys, open: Range<Int>, _ memory: RunMemory) throws {
    for place in keys.open[open] {
      let key = keys.keys[place]
      keys.keys[place].entry = try findInRuns(TaggedKey(tag: keys.tag, body: key.body), hash: key.hash, memory)
    }
  }
}
