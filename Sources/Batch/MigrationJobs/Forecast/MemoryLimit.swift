import Streams

/// How much memory a process may take here: the least of what the machine has and what its control groups allow.
///
/// Both versions of control groups (Linux, "Control Group v2", memory.max; "Memory Resource Controller",
/// memory.limit_in_bytes). A group's parents limit it as well.
struct MemoryLimit {
  /// Where `proc` and `sys` are.
  var root = ""
  private let files = LocalFileSystem()

  init(root: String = "") { self.root = root }

  /// Bytes, and who says so; nil if nobody does.
  func find() -> (bytes: UInt64, by: String)? {
    var least = machine.map { ($0, "the machine has") }
    for group in groups {
      if let bytes = text(group).flatMap({ UInt64($0) }), bytes < least?.0 ?? .max {
        least = (bytes, "its control group allows")
      }
    }
    return least
  }

  private var machine: UInt64? {
    let line = lines("/proc/meminfo").first { $0.hasPrefix("MemTotal:") }
    return line.flatMap { UInt64($0.filter(\.isNumber)) }.flatMap { $0 > UInt64.max >> 10 ? nil : $0 << 10 }
  }

  /// Files that may hold a limit: of every group of this process, and of those above it.
  private var groups: [String] {
    var found: [String] = []
    for line in lines("/proc/self/cgroup") {
      let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3 else { continue }
      let isSecond = parts[0] == "0" && parts[1].isEmpty
      guard isSecond || parts[1].split(separator: ",").contains("memory") else { continue }
      let (folder, name) =
        isSecond ? ("/sys/fs/cgroup", "memory.max") : ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
      var names = parts[2].split(separator: "/").filter { $0 != ".." }.prefix(64)
      while true {
        found.append(folder + names.map { "/" + $0 }.joined() + "/" + name)
        guard names.popLast() != nil else { break }
      }
    }
    return found
  }

  private func text(_ path: String) -> String? { lines(path).first }

  private func lines(_ path: String) -> [String] {
    guard let bytes = try? files.readAll(root + path, cap: 1 << 20) else { return [] }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
