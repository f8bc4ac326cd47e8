/// Writes binary property lists whose bytes depend on the value alone: keys are sorted, equal texts and equal
/// references of keyed archives share an object, objects are numbered in the order of the walk. (Foundation orders keys
/// by a seed of the process.)
package struct PropertyListWriter {
  private enum Object {
    case scalar(PropertyListValue)
    /// An array or a set, by its marker.
    case collection(UInt8, [Int])
    case dictionary(keys: [Int], values: [Int])
  }

  private var objects: [Object] = []
  /// By bytes: texts that Swift takes for equal may be written differently.
  private var texts: [[UInt8]: Int] = [:]
  private var references: [Int: Int] = [:]

  package static func write(_ value: PropertyListValue) -> [UInt8] {
    var writer = PropertyListWriter()
    let top = writer.add(value)
    return writer.bytes(top: top)
  }

  private mutating func add(_ value: PropertyListValue) -> Int {
    switch value {
    case .array(let members): return add(0xA0, members)
    case .orderedSet(let members): return add(0xB0, members)
    case .set(let members): return add(0xC0, members)
    case .dictionary(let entries):
      let number = reserve()
      let names = entries.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
      let keys = names.map { add(.string($0)) }
      let values = names.compactMap { entries[$0] }.map { add($0) }
      objects[number] = .dictionary(keys: keys, values: values)
      return number
    case .string(let text):
      if let number = texts[Array(text.utf8)] { return number }
      texts[Array(text.utf8)] = objects.count
    case .uid(let reference):
      if let number = references[reference] { return number }
      references[reference] = objects.count
    default: break
    }
    objects.append(.scalar(value))
    return objects.count - 1
  }

  private mutating func add(_ marker: UInt8, _ members: [PropertyListValue]) -> Int {
    let number = reserve()
    let numbers = members.map { add($0) }
    objects[number] = .collection(marker, numbers)
    return number
  }

  private mutating func reserve() -> Int {
    objects.append(.collection(0, []))
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
      case .collection(let marker, let numbers):
        Self.append(marker: marker, length: numbers.count, to: &bytes)
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
    case .null: bytes.append(0x00)
    case .boolean(let flag): bytes.append(flag ? 0x09 : 0x08)
    case .integer(let number): append(number, to: &bytes)
    case .unsigned(let number): bytes += [0x14] + bigEndian(0) + bigEndian(number)
    case .wide(let high, let low): bytes += [0x14] + bigEndian(high) + bigEndian(low)
    case .float(let number): bytes += [0x22] + bigEndian(UInt64(number.bitPattern)).suffix(4)
    case .real(let number): bytes += [0x23] + bigEndian(number.bitPattern)
    case .date(let seconds): bytes += [0x33] + bigEndian(seconds.bitPattern)
    case .uid(let number):
      let size = width(number)
      bytes += [0x80 | UInt8(size - 1)] + bigEndian(UInt64(truncatingIfNeeded: number)).suffix(size)
    case .data(let data):
      append(marker: 0x40, length: data.count, to: &bytes)
      bytes += data
    case .string(let text) where text.utf8.allSatisfy({ $0 < 0x80 }):
      append(marker: 0x50, length: text.utf8.count, to: &bytes)
      bytes += Array(text.utf8)
    case .string(let text):
      append(marker: 0x60, length: text.utf16.count, to: &bytes)
      for unit in text.utf16 { bytes += [UInt8(unit >> 8), UInt8(unit & 0xFF)] }
    case .array, .set, .orderedSet, .dictionary: break  // Never scalars: add(_:) takes them apart.
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
