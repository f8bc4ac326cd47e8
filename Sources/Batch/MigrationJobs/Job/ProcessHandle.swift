@preconcurrency import Dispatch
import Glibc
import RunSupport
import Streams

/// A process that keeps its identity while it is held, by pidfd_open(2); by its number alone on a kernel without.
struct ProcessHandle {
  private typealias Open = @convention(c) (pid_t, UInt32) -> CInt
  private typealias Send = @convention(c) (CInt, CInt, UnsafeMutableRawPointer?, UInt32) -> CInt
  private static let open = dlsym(nil, "pidfd_open").map { unsafeBitCast($0, to: Open.self) }
  private static let send = dlsym(nil, "pidfd_send_signal").map { unsafeBitCast($0, to: Send.self) }

  private let pid: Int32
  private let descriptor: CInt

  /// Nil when there is no such process any longer.
  init?(_ pid: Int32) {
    self.pid = pid
    descriptor = Self.open?(pid, 0) ?? -1
    if descriptor < 0, errno == ESRCH { return nil }
  }

  func kill() {
    if descriptor >= 0, let send = Self.send {
      _ = send(descriptor, SIGKILL, nil, 0)
    } else {
      _ = Glibc.kill(pid, SIGKILL)
    }
  }

  func close() { if descriptor >= 0 { _ = Glibc.close(descriptor) } }

  /// Whether the process has that file open. Only for processes of this user.
  func hasOpen(_ path: String) -> Bool {
    let local = LocalFileSystem()
    guard let wanted = try? local.status(path), let names = try? local.list("/proc/\(pid)/fd") else { return false }
    return names.contains { name in
      guard let found = try? local.status("/proc/\(pid)/fd/\(name)") else { return false }
      return found.device == wanted.device && found.inode == wanted.inode
    }
  }
}
