import Glibc

/// How fast a disk takes bytes so that they are durable.
public struct DiskSpeed: Sendable, Equatable, Codable {
  /// Bytes a second.
  public var bytesPerSecond: Double
  /// Bytes a second that the system takes before it waits for the disk: the cost of copying them.
  public var copiedPerSecond: Double
  /// Seconds of one small write that is waited for.
  public var latency: Double

  private static let chunk = 1 << 20
  /// Linux's O_TMPFILE, which the C library's headers hide from Swift (include/uapi/asm-generic/fcntl.h).
  private static let nameless = 0o20_000_000 | O_DIRECTORY

  /// The longest that is tried.
  private static let seconds = 0.3

  /// Found by writing up to `bytes` to a file without a name and waiting for the disk; nothing of it is left, also not
  /// by a kill. Takes a third of a second, and on a slow disk what four MiB take. Nil if the directory cannot be
  /// written, is nearly full, or its file system knows no such files.
  public static func measure(in directory: String, bytes: Int = 32 << 20) -> DiskSpeed? {
    guard let free = try? LocalFileSystem().availableSpace(directory), free / 4 > UInt64(bytes) else { return nil }
    let descriptor = open(directory, nameless | O_RDWR | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    let buffer = randomChunk()
    var latency = Double.infinity
    for _ in 0..<4 {
      let begin = ContinuousClock.now
      guard buffer.withUnsafeBytes({ pwrite(descriptor, $0.baseAddress, 4096, 0) }) == 4096, fdatasync(descriptor) == 0
      else {
        return nil
      }
      latency = min(latency, (ContinuousClock.now - begin) / .seconds(1))
    }
    let begin = ContinuousClock.now
    var (position, passed, copying) = (0, 0.0, 0.0)
    while position < bytes, passed < seconds {
      let start = ContinuousClock.now
      let written = buffer.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, chunk, position) }
      copying += (ContinuousClock.now - start) / .seconds(1)
      guard written == chunk else { return nil }
      position += chunk
      guard position % (4 * chunk) == 0 || position >= bytes else { continue }
      guard fdatasync(descriptor) == 0 else { return nil }
      passed = (ContinuousClock.now - begin) / .seconds(1)
    }
    guard passed > 0, copying > 0 else { return nil }
    return DiskSpeed(
      bytesPerSecond: Double(position) / passed, copiedPerSecond: Double(position) / copying, latency: latency)
  }

  /// No zeros: some disks leave them out.
  private static func randomChunk() -> [UInt64] {
    var random: UInt64 = 0x9e37_79b9_7f4a_7c15
    return (0..<chunk / 8).map { _ in
      random ^= random << 13
      random ^= random >> 7
      random ^= random << 17
      return random
    }
  }
}
