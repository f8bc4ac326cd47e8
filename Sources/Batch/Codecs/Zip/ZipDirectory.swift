import RunSupport

/// Where the directory of a zip archive is, and what is in it. Every number comes from the file: each is compared with
/// the file's size before it is used.
struct ZipDirectory {
  private static let (endSize, endMark) = (22, [0x50, 0x4B, 0x05, 0x06] as [UInt8])
  private static let (locatorSize, locatorMark) = (20, [0x50, 0x4B, 0x06, 0x07] as [UInt8])
  private static let (largeEndSize, largeEndMark) = (56, [0x50, 0x4B, 0x06, 0x06] as [UInt8])
  private static let (entrySize, entryMark) = (46, [0x50, 0x4B, 0x01, 0x02] as [UInt8])
  private static let longestComment = 0xFFFF
  /// The most entries and the most bytes of a directory.
  private static let (mostEntries, mostBytes) = (500_000, 64 << 20)

  private let count: Int
  let offset: Int
  private let size: Int

  /// Looks for the end of the archive; `read` gives bytes of the file.
  init(fileSize: Int, read: (_ offset: Int, _ count: Int) throws -> [UInt8]) throws {
    let tail = try read(max(0, fileSize - Self.endSize - Self.longestComment), fileSize)
    guard let place = Self.end(in: tail) else { throw ZipArchive.damage("it has no end of a zip archive") }
    let end = ZipFields(tail, at: place)
    let start = fileSize - tail.count + place
    guard end.short(4) == 0, end.short(6) == 0 else { throw ZipArchive.damage("it is a part of several files") }
    var (count, size, offset) = (end.short(10), end.long(12), end.long(16))
    var limit = start
    if count == 0xFFFF || size == 0xFFFF_FFFF || offset == 0xFFFF_FFFF,
      let large = try Self.largeEnd(before: start, read: read)
    {
      (count, size, offset, limit) = large
    }
    guard count <= Self.mostEntries, size <= Self.mostBytes else {
      throw ZipArchive.damage("it has more than \(Self.mostEntries.grouped) files")
    }
    // What stands before an archive, as a program that unpacks itself, would move all places.
    guard offset >= 0, size >= 0, offset <= limit, size == limit - offset else {
      throw ZipArchive.damage("its directory does not end where the archive's end begins")
    }
    (self.count, self.size, self.offset) = (count, size, offset)
  }

  private static func end(in tail: [UInt8]) -> Int? {
    guard tail.count >= endSize else { return nil }
    return stride(from: tail.count - endSize, through: 0, by: -1).first { place in
      tail[place] == endMark[0] && tail[place..<place + 4].elementsEqual(endMark)
        && ZipFields(tail, at: place).short(20) == tail.count - place - endSize
    }
  }

  /// The numbers of an archive of more than 4 GB or 65,535 files.
  private static func largeEnd(
    before start: Int, read: (Int, Int) throws -> [UInt8]
  ) throws -> (count: Int, size: Int, offset: Int, limit: Int)? {
    guard start >= locatorSize else { return nil }
    let locator = try read(start - locatorSize, locatorSize)
    guard locator.starts(with: locatorMark) else { return nil }
    let place = ZipFields(locator, at: 0).veryLong(8)
    guard place >= 0, place <= start - locatorSize - largeEndSize else {
      throw ZipArchive.damage("its end is not where it says")
    }
    let bytes = try read(place, largeEndSize)
    guard bytes.starts(with: largeEndMark) else { throw ZipArchive.damage("its end is not where it says") }
    let end = ZipFields(bytes, at: 0)
    return (end.veryLong(32), end.veryLong(40), end.veryLong(48), place)
  }

  /// The entries, in the order of the directory.
  func entries(_ read: (_ offset: Int, _ count: Int) throws -> [UInt8]) throws -> [ZipEntry] {
    let bytes = try read(offset, size)
    var (entries, place) = ([ZipEntry](), 0)
    for _ in 0..<count {
      guard place + Self.entrySize <= bytes.count, bytes[place..<place + 4].elementsEqual(Self.entryMark) else {
        throw ZipArchive.damage("its directory is cut off")
      }
      let fields = ZipFields(bytes, at: place)
      let nameEnd = place + Self.entrySize + fields.short(28)
      let next = nameEnd + fields.short(30) + fields.short(32)
      guard next <= bytes.count else { throw ZipArchive.damage("its directory is cut off") }
      let name = String(decoding: bytes[place + Self.entrySize..<nameEnd], as: UTF8.self)
      entries.append(Self.entry(fields, name: name, extra: Array(bytes[nameEnd..<nameEnd + fields.short(30)])))
      place = next
    }
    guard place == bytes.count else { throw ZipArchive.damage("its directory has more files than it says") }
    return entries
  }

  private static func entry(_ fields: ZipFields, name: String, extra: [UInt8]) -> ZipEntry {
    var large = LargeNumbers(extra)
    let size = large.number(fields.long(24)), packedSize = large.number(fields.long(20))
    let offset = large.number(fields.long(42))
    let method: ZipEntry.Method =
      switch fields.short(10) {
      case 0: .stored
      case 8: .deflated
      case let number: .other(number)
      }
    // Files of Unix and of macOS have their mode in the upper half.
    let mode = [3, 19].contains(fields.short(4) >> 8) ? fields.long(38) >> 16 : 0
    return ZipEntry(
      name: name, size: size, packedSize: packedSize, checksum: UInt32(fields.long(16)), method: method,
      isEncrypted: fields.short(8) & 1 == 1, offset: offset, mode: mode)
  }

  /// The numbers of an extra field that do not fit into the entry, in their order.
  private struct LargeNumbers {
    private var bytes: [UInt8] = []
    private var place = 0

    init(_ extra: [UInt8]) {
      var start = 0
      while start + 4 <= extra.count {
        let fields = ZipFields(extra, at: start)
        let end = start + 4 + fields.short(2)
        guard end <= extra.count else { return }
        if fields.short(0) == 1 { bytes = Array(extra[start + 4..<end]) }
        start = end
      }
    }

    mutating func number(_ short: Int) -> Int {
      guard short == 0xFFFF_FFFF, place + 8 <= bytes.count else { return short }
      defer { place += 8 }
      return ZipFields(bytes, at: place).veryLong(0)
    }
  }
}

/// Numbers at a place, lowest byte first. The caller has made sure that the bytes are there.
struct ZipFields {
  private let bytes: [UInt8]
  private let place: Int

  init(_ bytes: [UInt8], at place: Int) { (self.bytes, self.place) = (bytes, place) }

  private func number(_ offset: Int, _ count: Int) -> UInt64 {
    (0..<count).reversed().reduce(0) { $0 << 8 | UInt64(bytes[place + offset + $1]) }
  }

  func short(_ offset: Int) -> Int { Int(number(offset, 2)) }
  func long(_ offset: Int) -> Int { Int(number(offset, 4)) }

  /// What no file can have is -1.
  func veryLong(_ offset: Int) -> Int { Int(exactly: number(offset, 8)) ?? -1 }
}
