import StoreExports

/// Reads values from the bytes of a line without making objects of them. What is unusual it does not read: then the
/// line is read by ``JSONParser`` or ``CSVFields``, which say what is wrong with it.
struct ImportScanner {
  let bytes: UnsafeRawBufferPointer
  var place = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var isAtEnd: Bool { place == bytes.count }

  @inline(__always)
  var next: UInt8 { place < bytes.count ? bytes[place] : 0 }

  /// Passes these bytes, if they come next.
  @inline(__always)
  mutating func passes(_ literal: [UInt8]) -> Bool { literal.withUnsafeBytes { passes($0) } }

  /// Passes this text, if it comes next.
  @inline(__always)
  mutating func passes(_ literal: StaticString) -> Bool {
    passes(UnsafeRawBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
  }

  /// Passes these bytes, a word at a time.
  @inline(__always)
  mutating func passes(_ literal: UnsafeRawBufferPointer) -> Bool {
    let count = literal.count
    guard bytes.count - place >= count, let base = bytes.baseAddress else { return false }
    let (from, word) = (base + place, MemoryLayout<UInt64>.size)
    var done = 0
    while done + word <= count {
      guard
        literal.loadUnaligned(fromByteOffset: done, as: UInt64.self)
          == from.loadUnaligned(fromByteOffset: done, as: UInt64.self)
      else { return false }
      done += word
    }
    while done < count {
      guard literal[done] == from.load(fromByteOffset: done, as: UInt8.self) else {
        return false
      }
      done += 1
    }
    place += count
    return true
  }

  @inline(__always)
  mutating func passes(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    place += 1
    return true
  }

  /// A whole number of at most 18 digits.
  @inline(__always)
  mutating func integer() -> Int64? {
    let isNegative = passes(0x2D)
    let (start, isZero) = (place, next == 0x30)
    var value: Int64 = 0
    while place < bytes.count {
      let digit = bytes[place] &- 0x30
      guard digit < 10 else { break }
      value = value &* 10 &+ Int64(digit)
      place += 1
    }
    guard place > start, place - start <= 18, !(isZero && (isNegative || place - start > 1)) else { return nil }
    return isNegative ? -value : value
  }

  /// A number: whole, or a double with its exact value.
  mutating func number() -> ImportCell? {
    let start = place
    let isNegative = passes(0x2D)
    let isZero = next == 0x30
    var (digits, value, places, isWhole) = (0, UInt64(0), 0, true)
    while place < bytes.count {
      let byte = bytes[place]
      if byte == 0x2E, isWhole, digits > 0 {
        isWhole = false
      } else {
        guard byte &- 0x30 < 10 else { break }
        value = value &* 10 &+ UInt64(byte &- 0x30)
        digits += 1
        places += isWhole ? 0 : 1
      }
      place += 1
    }
    guard digits > 0, !(isZero && digits - places > 1), next != 0x65, next != 0x45, next != 0x2B else { return nil }
    // Up to 2^53 and 10^22 both are exact, so one division rounds once.
    guard digits <= 19, value <= 1 << 53, places <= 22, !(value == 0 && isNegative) else { return slow(start, isWhole) }
    if isWhole { return .integer(isNegative ? -Int64(value) : Int64(value)) }
    guard places > 0 else { return nil }
    let double = Double(value) / Self.powers[places]
    return .real(isNegative ? -double : double)
  }

  private static let powers: [Double] = (0...22).map { Double("1e\($0)") ?? 0 }

  private func slow(_ start: Int, _ isWhole: Bool) -> ImportCell? {
    let text = String(decoding: bytes[start..<place], as: UTF8.self)
    if isWhole { return text == "-0" ? nil : Int64(text).map(ImportCell.integer) }
    return Double(text).flatMap { $0.isFinite ? .real($0) : nil }
  }

  /// Passes words of eight bytes in which nothing is found; gives the bits that are set in any of their bytes.
  @inline(__always)
  private mutating func passWords(_ find: (UInt64) -> UInt64) -> UInt8 {
    guard let base = bytes.baseAddress else { return 0 }
    var seen: UInt64 = 0
    while bytes.count - place >= 8 {
      let word = base.loadUnaligned(fromByteOffset: place, as: UInt64.self)
      guard find(word) == 0 else { break }
      seen |= word
      place += 8
    }
    return seen & Words.highBits == 0 ? 0 : 0x80
  }

  /// Looks for bytes in a word. Not 0 if one is there.
  private enum Words {
    static let highBits: UInt64 = 0x8080_8080_8080_8080
    private static let ones: UInt64 = 0x0101_0101_0101_0101

    @inline(__always)
    static func has(_ byte: UInt64, _ word: UInt64) -> UInt64 {
      let others = word ^ (ones &* byte)
      return (others &- ones) & ~others & highBits
    }

    /// A byte below 0x20.
    @inline(__always)
    static func hasControl(_ word: UInt64) -> UInt64 { (word &- ones &* 0x20) & ~word & highBits }
  }

  /// The rest of a text of JSON, after its quotation mark, without escapes.
  @inline(__always)
  mutating func text() -> UnsafeRawBufferPointer? {
    let start = place
    var seen = passWords { Words.has(0x22, $0) | Words.has(0x5C, $0) | Words.hasControl($0) }
    while place < bytes.count {
      let byte = bytes[place]
      if byte == 0x22 { break }
      guard byte >= 0x20, byte != 0x5C else { return nil }
      seen |= byte
      place += 1
    }
    guard place < bytes.count else { return nil }
    let text = UnsafeRawBufferPointer(rebasing: bytes[start..<place])
    place += 1
    guard seen < 0x80 || String(validating: text, as: UTF8.self) != nil else { return nil }
    return text
  }

  /// A field of CSV without doubled quotation marks, and whether it is in such marks.
  mutating func field() -> (text: UnsafeRawBufferPointer, isQuoted: Bool)? {
    let isQuoted = passes(0x22)
    let (start, end) = (place, isQuoted ? UInt8(0x22) : 0x2C)
    var seen = passWords { Words.has(0x22, $0) | Words.has(0x2C, $0) | Words.has(0x0D, $0) }
    while place < bytes.count, bytes[place] != end {
      let byte = bytes[place]
      // Such fields are wrong, and said to be when the line is read as a whole.
      if !isQuoted, byte == 0x22 || byte == 0x0D { return nil }
      seen |= byte
      place += 1
    }
    let text = UnsafeRawBufferPointer(rebasing: bytes[start..<place])
    if isQuoted { guard passes(0x22), next != 0x22 else { return nil } }
    guard seen < 0x80 || String(validating: text, as: UTF8.self) != nil else { return nil }
    return (text, isQuoted)
  }
}

/// A value of a row that is being read; texts are parts of the line.
enum ImportCell {
  case null
  /// What the entity's row has by default.
  case template
  case integer(Int64)
  case real(Double)
  case text(UnsafeRawBufferPointer)
  case uuid(UInt64, UInt64)
}
