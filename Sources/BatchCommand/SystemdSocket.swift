import Glibc

/// Tells systemd how a service is, by the protocol of sd_notify(3): datagrams to the socket that NOTIFY_SOCKET names.
struct SystemdSocket: Sendable {
  private let path: String

  /// Nil if nobody listens.
  init?(_ path: String? = getenv("NOTIFY_SOCKET").map { String(cString: $0) }) {
    guard let path, path.hasPrefix("/") || path.hasPrefix("@"), path.utf8.count < 108 else { return nil }
    self.path = path
  }

  /// Sends assignments, such as READY=1. Nothing is done about a socket that is gone, or that nobody reads: a run waits
  /// for no reader.
  func send(_ lines: [String]) {
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { bytes in
      for (place, byte) in path.utf8.enumerated() { bytes[place] = byte }
      // A name that begins with @ is no file: it begins with 0.
      if path.hasPrefix("@") { bytes[0] = 0 }
    }
    let length = MemoryLayout<sa_family_t>.size + path.utf8.count
    let text = Array(lines.joined(separator: "\n").utf8)
    _ = withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, text, text.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT), $0, socklen_t(length))
      }
    }
  }
}
