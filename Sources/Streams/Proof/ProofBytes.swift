// A second way to read the file format, on purpose without a line of the first: what one of them misunderstands, the
// other finds.
extension UnsafeRawPointer {
  @inline(__always)
  func proofByte(_ offset: Int) -> UInt8 { load(fromByteOffset: offset, as: UInt8.self) }

  @inline(__always)
  func proof16(_ offset: Int) -> Int { Int(proofByte(offset)) << 8 | Int(proofByte(offset + 1)) }

  @inline(__always)
  func proof32(_ offset: Int) -> UInt32 { UInt32(proof16(offset)) << 16 | UInt32(proof16(offset + 2)) }

  /// A big-endian two's complement number of 1 to 8 bytes.
  @inline(__always)
  func proofInteger(_ length: Int) -> Int64 {
    var value = Int64(Int8(bitPattern: proofByte(0)))
    var position = 1
    while position < length {
      value = value << 8 | Int64(proofByte(position))
      position += 1
    }
    return value
  }

  /// A number of 1 to 9 bytes that ends before `end`; nil when it does not. `position` moves after it.
  @inline(__always)
  func proofVarint(_ position: inout Int, _ end: Int) -> UInt64? {
    guard position < end else { return nil }
    let first = UInt64(proofByte(position))
    if first < 0x80 {
      position += 1
      return first
    }
    // Most lengths and rowids take up to four bytes.
    guard position + 4 <= end else { return proofLongVarint(&position, end) }
    let (second, third) = (UInt64(proofByte(position + 1)), UInt64(proofByte(position + 2)))
    if second < 0x80 {
      position += 2
      return (first & 0x7f) << 7 | second
    }
    if third < 0x80 {
      position += 3
      return (first & 0x7f) << 14 | (second & 0x7f) << 7 | third
    }
    let fourth = UInt64(proofByte(position + 3))
    guard fourth < 0x80 else { return proofLongVarint(&position, end) }
    position += 4
    return (first & 0x7f) << 21 | (second & 0x7f) << 14 | (third & 0x7f) << 7 | fourth
  }

  @inline(never)
  func proofLongVarint(_ position: inout Int, _ end: Int) -> UInt64? {
    var value: UInt64 = 0
    let last = position + 8
    while position < end {
      let byte = proofByte(position)
      position += 1
      if position > last { return value << 8 | UInt64(byte) }
      value = value << 7 | UInt64(byte & 0x7f)
      if byte < 0x80 { return value }
    }
    return nil
  }

  /// Whether these bytes are all zero.
  func proofIsZero(_ offset: Int, _ count: Int) -> Bool {
    var position = offset
    let end = offset + count
    while position + 8 <= end {
      if loadUnaligned(fromByteOffset: position, as: UInt64.self) != 0 { return false }
      position += 8
    }
    while position < end {
      if proofByte(position) != 0 { return false }
      position += 1
    }
    return true
  }
}
