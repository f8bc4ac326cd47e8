// Decodes the same records by an unsafe pointer, by RawSpan and by an array: what decision 0008 is about. Prints
// nanoseconds per record, the best of nine rounds. The records have a header of varints and thirteen columns, as W1's
// rows have.
import Glibc

let columns = 13
let count = 20_000
let widths: InlineArray<8, Int> = [0, 1, 2, 3, 4, 6, 8, 8]

func varint(_ number: UInt64, into bytes: inout [UInt8]) {
  guard number >= 128 else { return bytes.append(UInt8(number)) }
  bytes.append(UInt8(number >> 7) | 0x80)
  bytes.append(UInt8(number & 0x7f))
}

/// Records one behind the other, each with its length before it.
func made() -> [UInt8] {
  var (bytes, state) = ([UInt8](), UInt64(88_172_645_463_325_252))
  for _ in 0..<count {
    var (header, body) = ([UInt8](), [UInt8]())
    for _ in 0..<columns {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      let width = [1, 2, 4, 8][Int(state >> 60) & 3]
      varint([1: 1, 2: 2, 4: 4, 8: 6][width] ?? 1, into: &header)
      for byte in 0..<width { body.append(UInt8(truncatingIfNeeded: state >> UInt64(byte * 8))) }
    }
    varint(UInt64(header.count + body.count), into: &bytes)
    bytes += header + body
  }
  return bytes
}

/// The sum of all columns, by an unsafe pointer. A record that its length contradicts ends the sum.
@inline(never) func byPointer(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
  var (place, sum) = (0, UInt64(0))
  let base = bytes.baseAddress.unsafelyUnwrapped
  while place < bytes.count {
    let (length, start) = next(base, place)
    var (header, body) = (start, start &+ columns)
    guard length >= columns, length <= bytes.count &- start else { return sum }
    let end = start &+ length
    for _ in 0..<columns {
      let (type, behind) = next(base, header)
      header = behind
      let width = widths[type & 7]
      guard width <= end &- body else { return sum }
      for byte in 0..<width { sum &+= part((base + (body &+ byte)).load(as: UInt8.self), byte) }
      body &+= width
    }
    place = end
  }
  return sum
}

@inline(__always) func next(_ base: UnsafeRawPointer, _ place: Int) -> (Int, Int) {
  let first: UInt8 = (base + place).load(as: UInt8.self)
  guard first >= 0x80 else { return (Int(first), place &+ 1) }
  let second: UInt8 = (base + (place &+ 1)).load(as: UInt8.self)
  return (varint(first, second), place &+ 2)
}

@inline(__always) func varint(_ first: UInt8, _ second: UInt8) -> Int { Int(first & 0x7f) << 7 | Int(second) }

@inline(__always) func part(_ value: UInt8, _ byte: Int) -> UInt64 { UInt64(value) << UInt64(byte &* 8) }

/// The same by RawSpan, which checks each access against its own length.
@inline(never) func bySpan(_ bytes: RawSpan) -> UInt64 {
  var (place, sum) = (0, UInt64(0))
  while place < bytes.byteCount {
    let (length, start) = next(bytes, place)
    var (header, body) = (start, start &+ columns)
    guard length >= columns, length <= bytes.byteCount &- start else { return sum }
    let end = start &+ length
    for _ in 0..<columns {
      let (type, behind) = next(bytes, header)
      header = behind
      let width = widths[type & 7]
      guard width <= end &- body else { return sum }
      for byte in 0..<width { sum &+= part(bytes.byte(body &+ byte), byte) }
      body &+= width
    }
    place = end
  }
  return sum
}

@inline(__always) func next(_ bytes: RawSpan, _ place: Int) -> (Int, Int) {
  let first = bytes.byte(place)
  guard first >= 0x80 else { return (Int(first), place &+ 1) }
  return (varint(first, bytes.byte(place &+ 1)), place &+ 2)
}

extension RawSpan {
  /// Checked, whatever the name of what it calls: a byte has no alignment and no invalid values.
  @inline(__always) func byte(_ place: Int) -> UInt8 { unsafeLoad(fromByteOffset: place, as: UInt8.self) }
}

/// The same by an array.
@inline(never) func byArray(_ bytes: [UInt8]) -> UInt64 {
  var (place, sum) = (0, UInt64(0))
  while place < bytes.count {
    let (length, start) = next(bytes, place)
    var (header, body) = (start, start &+ columns)
    guard length >= columns, length <= bytes.count &- start else { return sum }
    let end = start &+ length
    for _ in 0..<columns {
      let (type, behind) = next(bytes, header)
      header = behind
      let width = widths[type & 7]
      guard width <= end &- body else { return sum }
      for byte in 0..<width { sum &+= part(bytes[body &+ byte], byte) }
      body &+= width
    }
    place = end
  }
  return sum
}

@inline(__always) func next(_ bytes: [UInt8], _ place: Int) -> (Int, Int) {
  let first = bytes[place]
  guard first >= 0x80 else { return (Int(first), place &+ 1) }
  return (varint(first, bytes[place &+ 1]), place &+ 2)
}

func nanoseconds(_ body: () -> UInt64) -> (Double, UInt64) {
  var (best, sum) = (Double.infinity, UInt64(0))
  for _ in 0..<9 {
    let begin = ContinuousClock.now
    for _ in 0..<20 { sum = body() }
    best = min(best, (ContinuousClock.now - begin) / .nanoseconds(1) / Double(20 * count))
  }
  return (best, sum)
}

let bytes = made()
let pointer = nanoseconds { bytes.withUnsafeBytes { byPointer($0) } }
let span = nanoseconds { bySpan(bytes.span.bytes) }
let array = nanoseconds { byArray(bytes) }
guard pointer.1 == span.1, span.1 == array.1 else { fatalError("the sums differ") }
for (name, time) in [("pointer", pointer.0), ("RawSpan", span.0), ("array", array.0)] {
  print("\(name): \((time * 10).rounded() / 10) ns a record, \((time / pointer.0 * 100).rounded() / 100) x")
}
