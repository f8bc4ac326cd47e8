import Glibc

/// A name in a folder that is not UTF-8. Paths here are texts, so none leads to it: it can only be reported.
public struct UndecodableName: Sendable, Equatable {
  /// The name with `\xHH` for its bytes that are not plain ASCII, as bash takes it within `$'…'`.
  public var escaped: String
  /// Whether it is the name of a folder.
  public var isDirectory: Bool
  /// The first bytes of a regular file; empty of everything else, and where they cannot be read.
  public var beginning: [UInt8]

  /// Whether a name that ``FileSystem/list(_:)`` gave may be one that was repaired.
  public static func isRepaired(_ name: String) -> Bool { name.unicodeScalars.contains("\u{FFFD}") }

  /// All such names in a folder, with so many bytes of each file. Nothing is written.
  ///
  /// - Throws: ``StreamsError``.
  public static func all(in folder: String, beginning count: Int) throws -> [UndecodableName] {
    guard let directory = opendir(folder) else { throw StreamsError.system(errno, "list", path: folder) }
    defer { closedir(directory) }
    var found: [UndecodableName] = []
    while true {
      errno = 0
      guard let entry = readdir(directory) else { break }
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
      guard String(validating: name, as: UTF8.self) == nil else { continue }
      found.append(UndecodableName(name, folder: dirfd(directory), count: count))
    }
    guard errno == 0 else { throw StreamsError.system(errno, "list", path: folder) }
    return found.sorted { $0.escaped.utf8.lexicographicallyPrecedes($1.escaped.utf8) }
  }

  private init(_ name: [UInt8], folder: Int32, count: Int) {
    (escaped, isDirectory, beginning) = (Self.escaped(name), false, [])
    let path = name.map { CChar(bitPattern: $0) } + [0]
    var status = stat()
    guard fstatat(folder, path, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return }
    isDirectory = status.st_mode & S_IFMT == S_IFDIR
    guard status.st_mode & S_IFMT == S_IFREG else { return }
    let file = openat(folder, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return }
    defer { close(file) }
    beginning = [UInt8](unsafeUninitializedCapacity: count) { $1 = max(0, pread(file, $0.baseAddress, count, 0)) }
  }

  /// Bytes with `\xHH` for those that are not plain ASCII; a backslash and a quote are escaped, too.
  public static func escaped(_ bytes: some Sequence<UInt8>) -> String {
    let plain = bytes.flatMap { byte -> [UInt8] in
      switch byte {
      case 0x5C, 0x27: [0x5C, byte]
      case 0x20...0x7E: [byte]
      default: Array("\\x".utf8) + [digit(byte >> 4), digit(byte & 15)]
      }
    }
    return String(decoding: plain, as: UTF8.self)
  }

  private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x61 + value - 10 }
}
