import Glibc
import Streams

/// How busy the machine is, for a run that gives way: by the kernel's pressure stall information, or by the load where
/// it has none.
public struct SystemLoad: Sendable {
  private static let stallLimit = 25.0
  private let read: @Sendable (String) -> String?
  private let processors: Int

  /// Reads files of the machine; tests have others.
  public init(
    processors: Int = sysconf(Int32(_SC_NPROCESSORS_ONLN)),
    read: @escaping @Sendable (String) -> String? = { path in
      (try? LocalFileSystem().readAll(path, cap: 4096)).map { String(decoding: $0, as: UTF8.self) }
    }
  ) {
    (self.processors, self.read) = (max(1, processors), read)
  }

  /// Whether others want the machine. Trap 9: if that cannot be known, they do.
  public var isBusy: Bool {
    let stalls = ["/proc/pressure/io", "/proc/pressure/cpu"].compactMap { read($0).flatMap(Self.stall) }
    if !stalls.isEmpty { return stalls.contains { $0 > Self.stallLimit } }
    guard let load = read("/proc/loadavg")?.split(separator: " ").first.flatMap({ Double($0) }) else { return true }
    // A run of its own keeps more than one processor at work.
    return load > Double(processors) + 1
  }

  /// The share of the last ten seconds, in percent, in which something had to wait.
  private static func stall(_ text: String) -> Double? {
    let line = text.split(separator: "\n").first { $0.hasPrefix("some ") }
    return line?.split(separator: " ").first { $0.hasPrefix("avg10=") }.flatMap { Double($0.dropFirst(6)) }
  }
}
