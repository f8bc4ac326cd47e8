import Glibc

/// Extended attributes by the calls of xattr(7), which the headers hide from Swift. None of them follows a symbolic
/// link.
enum ExtendedAttributes {
  private typealias List = @convention(c) (UnsafePointer<CChar>, UnsafeMutableRawPointer?, Int) -> Int
  private typealias Get =
    @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeMutableRawPointer?, Int) -> Int
  private typealias Set =
    @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeRawPointer?, Int, CInt) -> CInt

  private static let list = dlsym(nil, "llistxattr").map { unsafeBitCast($0, to: List.self) }
  private static let get = dlsym(nil, "lgetxattr").map { unsafeBitCast($0, to: Get.self) }
  private static let set = dlsym(nil, "lsetxattr").map { unsafeBitCast($0, to: Set.self) }

  /// The kernel's own limits for all names of a file and for a value.
  private static let cap = 1 << 16

  /// What belongs to a file's user: attributes of security modules are the system's business.
  private static func isKept(_ name: String) -> Bool { name.hasPrefix("user.") || name == "system.posix_acl_access" }

  /// The names that are kept. A file system without attributes has none.
  static func names(_ path: String) throws -> [String] {
    guard let list else { return [] }
    var bytes = [UInt8](repeating: 0, count: cap)
    let count = bytes.withUnsafeMutableBytes { list(path, $0.baseAddress, $0.count) }
    guard count >= 0 else {
      if errno == EOPNOTSUPP || errno == ENOSYS { return [] }
      throw StreamsError.system(errno, "list the extended attributes of", path: path)
    }
    return bytes[..<count].split(separator: 0).map { String(decoding: $0, as: UTF8.self) }.filter(isKept)
  }

  static func copy(_ name: String, from original: String, to path: String) throws {
    guard let get, let set else { return }
    var bytes = [UInt8](repeating: 0, count: cap)
    let count = bytes.withUnsafeMutableBytes { get(original, name, $0.baseAddress, $0.count) }
    guard count >= 0 else {
      // Somebody removed it meanwhile.
      if errno == ENODATA { return }
      throw StreamsError.system(errno, "read the extended attribute \(name) of", path: original)
    }
    guard set(path, name, bytes, count, 0) == 0 else {
      // Another file system, with other rules: the store matters more than its attributes.
      if errno == EOPNOTSUPP || errno == EPERM { return }
      throw StreamsError.system(errno, "set the extended attribute \(name) of", path: path)
    }
  }
}
