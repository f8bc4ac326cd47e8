import Foundation

@testable import Codecs

/// Writes zip archives, sound ones and others.
struct ZipFile {
  struct Entry {
    var name: String
    var bytes: [UInt8]
    var mode = 0o100644
    var isDeflated = true
    /// What the directory says of the unpacked size, if it is not the truth.
    var size: Int?
    var checksum: UInt32?
    var flags = 0
    var method: Int?
    /// The name in the header before the bytes, if it is another one.
    var headerName: String?
  }

  var entries: [Entry] = []

  init(_ files: [String: [UInt8]] = [:]) {
    entries = files.sorted { $0.key < $1.key }.map { Entry(name: $0.key, bytes: $0.value) }
  }

  func write(to path: String) throws { try Data(bytes).write(to: URL(fileURLWithPath: path)) }

  var bytes: [UInt8] {
    var (bytes, directory) = ([UInt8](), [UInt8]())
    for entry in entries {
      let packed = entry.isDeflated ? Deflate.encode(entry.bytes) : entry.bytes
      let size = entry.size ?? entry.bytes.count
      let common =
        Self.short(20) + Self.short(entry.flags) + Self.short(entry.method ?? (entry.isDeflated ? 8 : 0)) + Self.long(0)
        + Self.long(Int(entry.checksum ?? Checksum32.of(entry.bytes))) + Self.long(packed.count) + Self.long(size)
      let offset = bytes.count
      let headerName = entry.headerName ?? entry.name
      bytes += [0x50, 0x4B, 3, 4] + common + Self.short(headerName.utf8.count) + Self.short(0)
      bytes += Array(headerName.utf8) + packed
      directory += [0x50, 0x4B, 1, 2] + Self.short(3 << 8 | 20) + common + Self.short(entry.name.utf8.count)
      directory += Self.short(0) + Self.short(0) + Self.short(0) + Self.short(0) + Self.long(entry.mode << 16)
      directory += Self.long(offset) + Array(entry.name.utf8)
    }
    let counts = Self.short(entries.count) + Self.short(entries.count)
    return bytes + directory + [0x50, 0x4B, 5, 6] + Self.long(0) + counts + Self.long(directory.count)
      + Self.long(bytes.count) + Self.short(0)
  }

  static func short(_ number: Int) -> [UInt8] {
    [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
  }
  static func long(_ number: Int) -> [UInt8] { short(number) + short(number >> 16) }
}
