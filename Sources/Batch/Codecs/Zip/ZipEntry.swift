import RunSupport

/// A file of a zip archive, as its directory describes it.
package struct ZipEntry: Sendable, Equatable {
  /// How its bytes are packed.
  enum Method: Equatable {
    case stored
    case deflated
    case other(Int)
  }

  /// The path in the archive, with slashes; that of a folder ends with one.
  package let name: String
  /// The number of bytes when unpacked.
  package let size: Int
  /// The number of bytes in the archive.
  let packedSize: Int
  let checksum: UInt32
  let method: Method
  let isEncrypted: Bool
  /// Where its header begins.
  let offset: Int
  /// Type and permissions of a file of Unix; 0 for one of another system.
  let mode: Int

  /// Whether it is a symbolic link.
  package var isLink: Bool { mode & 0xF000 == 0xA000 }
  package var isFolder: Bool { name.hasSuffix("/") }

  /// Bytes of the header without name and extra fields.
  static let headerSize = 30

  /// Why the archive with such an entry is not read; nil for a path that stays inside.
  var fault: String? {
    if name.isEmpty { return "it has no name" }
    if name.utf8.contains(0) { return "its path has a byte that no path has" }
    if name.hasPrefix("/") { return "its path begins at the root of the disk" }
    let parts = name.split(whereSeparator: { $0 == "/" || $0 == "\\" })
    return parts.contains("..") ? "its path leads out of the archive" : nil
  }
}
