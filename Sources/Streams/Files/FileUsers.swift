import Glibc

/// Which other processes have a file locked or open, as far as the kernel shows them to this user: for a person who has
/// to end them.
public enum FileUsers {
  private static let textCap = 1 << 20

  /// Processes with a POSIX lock on one of these files, such as SQLite takes.
  public static func locking(_ paths: [String]) -> [String] { owners(paths).filter { $0 > 0 }.map(name) }

  /// Whose locks a file has.
  public enum Holder: Sendable {
    /// Only locks of open files, which no process owns. SQLite takes none of these, this program takes no others.
    case thisProgram
    /// At least one lock of a process, as SQLite takes it.
    case otherProgram
  }

  /// Who has the database at `path` locked; nil if the kernel shows no lock.
  public static func holder(_ path: String) -> Holder? {
    let owners = owners([path, path + "-shm"])
    guard !owners.isEmpty else { return nil }
    return owners.allSatisfy { $0 == -1 } ? .thisProgram : .otherProgram
  }

  /// Process numbers, each once; -1 for locks without owner.
  private static func owners(_ paths: [String]) -> [Int32] {
    let files = LocalFileSystem()
    let wanted = paths.compactMap { path in (try? files.status(path)).flatMap { $0 }.map(place) }
    guard let bytes = try? files.readAll("/proc/locks", cap: textCap) else { return [] }
    var found: [Int32] = []
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
      // "1: POSIX ADVISORY WRITE 1234 08:01:5678 0 EOF", with "->" after the number of one that waits.
      let words = line.split(separator: " ").filter { $0 != "->" }
      guard words.count >= 6, let pid = Int32(words[4]), wanted.contains(String(words[5])) else { continue }
      if !found.contains(pid) { found.append(pid) }
    }
    return found
  }

  /// Other processes that have a file open to write.
  public static func writing(_ path: String) -> [String] {
    let files = LocalFileSystem()
    guard !isUnwritten(path), let wanted = (try? files.status(path)).flatMap({ $0 }),
      let names = try? files.list("/proc")
    else {
      return []
    }
    return names.compactMap { Int32($0) }.filter { pid in
      guard pid != getpid(), let open = try? files.list("/proc/\(pid)/fd") else { return false }
      return open.contains { number in
        guard let status = (try? files.status("/proc/\(pid)/fd/\(number)")).flatMap({ $0 }) else { return false }
        return status.inode == wanted.inode && status.device == wanted.device && isWriting(pid, number)
      }
    }.map(name)
  }

  /// Whether the kernel says that nobody has a file open to write: it grants a lease for reading only then, and only to
  /// the file's owner. The lease is given back at once. False where it does not say.
  private static func isUnwritten(_ path: String) -> Bool {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard file >= 0 else { return false }
    defer { close(file) }
    // Whoever wants to write meanwhile waits, and this process gets a signal: one that is ignored.
    guard fcntl(file, setSignal, SIGURG) == 0, fcntl(file, setLease, F_RDLCK) == 0 else { return false }
    return fcntl(file, setLease, F_UNLCK) == 0
  }

  /// F_SETSIG and F_SETLEASE of Linux, fcntl(2); the headers hide them from Swift.
  private static var setSignal: Int32 { 10 }
  private static var setLease: Int32 { 1024 }

  private static func isWriting(_ pid: Int32, _ number: String) -> Bool {
    guard let bytes = try? LocalFileSystem().readAll("/proc/\(pid)/fdinfo/\(number)", cap: 4096) else { return false }
    let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("flags:") }
    let flags = line?.split(separator: "\t").last.flatMap { Int32($0, radix: 8) }
    return (flags ?? 0) & O_ACCMODE != O_RDONLY
  }

  private static func place(_ status: FileStatus) -> String {
    func hex(_ number: UInt64) -> String { (number < 16 ? "0" : "") + String(number, radix: 16) }
    let device = status.device
    let (major, minor) = (device >> 8 & 0xFFF | device >> 32 & ~0xFFF, device & 0xFF | device >> 12 & ~0xFF)
    return "\(hex(major)):\(hex(minor & 0xFFFF_FFFF)):\(status.inode)"
  }

  private static func name(_ pid: Int32) -> String {
    let bytes = (try? LocalFileSystem().readAll("/proc/\(pid)/comm", cap: 256)) ?? []
    let name = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first.map { " (\($0))" } ?? ""
    return "process \(pid)\(name)"
  }
}
