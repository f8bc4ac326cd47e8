/// A key of a ``SpillingMap``, perhaps in two pieces: a first byte, and the others, which may lie where they came from.
public struct TaggedKey {
  /// The first byte; nil if `body` is all.
  let tag: UInt8?
  let body: UnsafeRawBufferPointer

  /// A key of one piece.
  public init(_ bytes: UnsafeRawBufferPointer) { (tag, body) = (nil, bytes) }

  /// A key of two pieces.
  public init(tag: UInt8, body: UnsafeRawBufferPointer) { (self.tag, self.body) = (tag, body) }

  var count: Int { body.count + (tag == nil ? 0 : 1) }

  /// The hash of all bytes one after the other.
  @inline(__always)
  public var hash: UInt64 {
    guard let tag, let base = body.baseAddress, body.count >= 8 else { return short }
    var hash = KeyHash(count: count)
    hash.add(UInt64(tag) | base.loadUnaligned(as: UInt64.self).littleEndian << 8)
    var offset = 7
    while offset + 8 <= body.count {
      hash.add(base.loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian)
      offset += 8
    }
    while offset < body.count {
      hash.add(byte: base.load(fromByteOffset: offset, as: UInt8.self))
      offset += 1
    }
    return hash.finished
  }

  @inline(never)
  private var short: UInt64 {
    guard let tag else { return hashBytes(body) }
    return withUnsafeTemporaryAllocation(byteCount: count, alignment: 8) { bytes in
      bytes[0] = tag
      UnsafeMutableRawBufferPointer(rebasing: bytes[1...]).copyMemory(from: body)
      return hashBytes(UnsafeRawBufferPointer(bytes))
    }
  }

  /// Whether these are the key's bytes.
  @inline(__always)
  func isEqual(_ stored: UnsafeRawBufferPointer) -> Bool {
    guard stored.count == count else { return false }
    guard let tag else { return compareKeys(stored, body) == 0 }
    return stored[0] == tag && compareKeys(UnsafeRawBufferPointer(rebasing: stored[1...]), body) == 0
  }

  /// Puts all bytes one after the other.
  func copy(to target: UnsafeMutableRawPointer) {
    if let tag { target.storeBytes(of: tag, as: UInt8.self) }
    if let base = body.baseAddress { (target + (tag == nil ? 0 : 1)).copyMemory(from: base, byteCount: body.count) }
  }
}

/// A fast 64-bit hash of bytes; part of the format of working files, so it never changes. It finds faults, not
/// forgeries.
private struct KeyHash {
  private var hash: UInt64

  init(count: Int) { hash = 0xcbf2_9ce4_8422_2325 ^ UInt64(count) }

  @inline(__always)
  mutating func add(_ word: UInt64) {
    hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
    hash ^= hash >> 32
  }

  @inline(__always)
  mutating func add(byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }

  @inline(__always)
  var finished: UInt64 {
    let mixed = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
    return mixed ^ (mixed >> 31)
  }
}

/// The hash of bytes in one piece: what checks working files.
public func hashBytes(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
  var hash = KeyHash(count: bytes.count)
  var offset = 0
  while offset + 8 <= bytes.count {
    hash.add(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian)
    offset += 8
  }
  while offset < bytes.count {
    hash.add(byte: bytes[offset])
    offset += 1
  }
  return hash.finished
}
