import Foundation
import Streams

/// What of the machine's memory this process has.
package enum ProcessMemory {
  /// Resident bytes; 0 where that cannot be known.
  package static var resident: UInt64 {
    let bytes = (try? LocalFileSystem().readAll("/proc/self/statm", cap: 4096)) ?? []
    let fields = String(decoding: bytes, as: UTF8.self).split(separator: " ")
    return (fields.count > 1 ? UInt64(fields[1]) ?? 0 : 0) &* UInt64(sysconf(Int32(_SC_PAGESIZE)))
  }

  /// The most bytes that were resident so far.
  package static var peak: UInt64 { highWater ?? mostUsed }

  /// What the system says of the program alone; nil where it does not.
  private static var highWater: UInt64? {
    let bytes = (try? LocalFileSystem().readAll("/proc/self/status", cap: 1 << 16)) ?? []
    let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { UInt64($0) }.map { $0 << 10 }
  }

  /// The same of the whole process: a program that another one has become goes on with the peak of that one.
  private static var mostUsed: UInt64 {
    var usage = rusage()
    return getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 ? UInt64(usage.ru_maxrss) << 10 : 0
  }

  /// Gives what is free back to the system: what one work has needed, the next one would have on top of its own.
  package static func giveBack() {
    // A function of glibc that its Swift module does not have.
    guard let trim = dlsym(nil, "malloc_trim") else { return }
    _ = unsafeBitCast(trim, to: (@convention(c) (Int) -> CInt).self)(0)
  }
}
