/// Writes binary property lists whose bytes depend on the value alone: keys are sorted, equal texts share an object,
/// objects are numbered in the order of the walk. (Foundation orders keys by a seed of the process.)
struct PropertyListWriter {
  private enum Object {
    case scalar(PropertyListValue)
    case array([Int])
    case dictionary(keys: [Int], values: [Int])
  }

  private var objects: [Object] = []
  /// By bytes: texts that Swift takes for equal may be written differently.
  private var texts: [[UInt8]: Int] = [:]

  static func write(_ value: PropertyListValue) -> [UInt8] {
    var writer = PropertyListWriter()
    let top = writer.add(value)
    return writer.bytes(top: top)
  }

  private mutating func add(_ value: PropertyListValue) -> Int {
    switch value {
    case .array(let elements):
      let number = reserve()
      let numbers = elements.map { add($0) }
      objects[number] = .array(numbers)
      return number
    case .dictionary(let entries):
      let number = reserve()
      let names = entries.keys.sorted(by: NameOrder.codeUnits)
      let keys = names.map { add(.string($0)) }
      let values = names.compactMap { entries[$0] }.map { add($0) }
      objects[number] = .dictionary(keys: keys, values: values)
      return number
    case .string(let text):
      if let number = texts[Array(text.utf8)] { return number }
      objects.append(.scalar(value))
      texts[Array(text.utf8)] = objects.count - 1
      return objects.count - 1
    default:
      objects.append(.scalar(value))
      return objects.count - 1
    }
  }

  private mutating func reserve() -> Int {
    objects.append(.array([]))
    return objects.count - 1
  }

  private func bytes(top: Int) -> [UInt8] {
    let referenceSize = Self.width(objects.count)
    var bytes = Array("bplist00".utf8)
    var offsets: [Int] = []
    for object in objects {
      offsets.append(bytes.count)
      switch object {
      case .scalar(let value): Self.append(value, to: &bytes)
      case .array(let numbers):
        Self.append(marker: 0xA0, length: numbers.count, to: &bytes)
        for number in numbers { Self.append(number, width: referenceSize, to: &bytes) }
      case .dictionary(let keys, let values):
        Self.append(marker: 0xD0, length: keys.count, to: &bytes)
        for number in keys + values { Self.append(number, width: referenceSize, to: &bytes) }
      }
    }
    let start = bytes.count
    let offsetSize = Self.width(start)
    for offset in offsets { Self.append(offset, width: offsetSize, to: &bytes) }
    bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
    for number in [objects.count, top, start] { Self.append(number, width: 8, to: &bytes) }
    return bytes
  }

  private static func append(_ value: PropertyListValue, to bytes: inout [UInt8]) {
    switch value {
    case .boolean(let flag): bytes.append(flag ? 0x09 : 0x08)
    case .integer(let number): append(number, to: &bytes)
    case .unsigned(let number):
      bytes.append(0x14)
      bytes += Array(repeating: 0, count: 8) + bigEndian(number)
    case .real(let number):
      bytes.append(0x23)
      bytes += bigEndian(number.bitPattern)
    case .date(let seconds):
      bytes.append(0x33)
      bytes += bigEndian(seconds.bitPattern)
    case .data(let data):
      append(marker: 0x40, length: data.count, to: &bytes)
      bytes += data
    case .string(let text) where text.utf8.allSatisfy({ $0 < 0x80 }):
      append(marker: 0x50, length: text.utf8.count, to: &bytes)
      bytes += Array(text.utf8)
    case .string(let text):
      append(marker: 0x60, length: text.utf16.count, to: &bytes)
      for unit in text.utf16 { bytes += [UInt8(unit >> 8), UInt8(unit & 0xFF)] }
    case .array, .dictionary: break  // Never scalars: add(_:) takes them apart.
    }
  }

  private static func append(_ number: Int64, to bytes: inout [UInt8]) {
    let size = number < 0 ? 8 : width(Int(number))
    bytes.append(0x10 | UInt8(size.trailingZeroBitCount))
    bytes += bigEndian(UInt64(bitPattern: number)).suffix(size)
  }

  private static func append(marker: UInt8, length: Int, to bytes: inout [UInt8]) {
    if length < 15 {
      bytes.append(marker | UInt8(length))
    } else {
      bytes.append(marker | 0x0F)
      append(Int64(length), to: &bytes)
    }
  }

  private static func append(_ number: Int, width: Int, to bytes: inout [UInt8]) {
    bytes += bigEndian(UInt64(number)).suffix(width)
  }

  /// 1, 2, 4 or 8: the bytes that a number needs.
  private static func width(_ number: Int) -> Int {
    number < 0x100 ? 1 : number < 0x1_0000 ? 2 : number < 0x1_0000_0000 ? 4 : 8
  }

  private static func bigEndian(_ number: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) }
  }
}
