import Foundation
import Glibc
import Streams
import Testing

@testable import MigrationJobs

/// Another process that holds a lease's lock and gives a sign of life every 50 ms. Python plays it: flock(1) takes
/// another kind of lock.
final class LeaseProcess {
  static let python = ["/usr/bin/python3", "/usr/local/bin/python3"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }
  private static let script = """
    import fcntl, os, struct, sys, time
    f = open(sys.argv[1], 'r+b')
    fcntl.fcntl(f, 37, struct.pack('hhqqi4x', fcntl.F_WRLCK, 0, 0, 1, 0))
    os.write(1, b'!')
    while True:
      time.sleep(0.05)
      now = time.time() + float(sys.argv[2])
      os.utime(f.fileno(), (now, now))
    """

  let process = Process()

  /// Starts it on an empty lease file, without a record; its clock may be wrong by some seconds.
  init(_ job: JobDirectory, clock offset: Double = 0) throws {
    try LocalFileSystem().writeAndSync([], to: job.lease)
    process.executableURL = URL(fileURLWithPath: try #require(Self.python))
    process.arguments = ["-c", Self.script, job.lease, "\(offset)"]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    #expect(output.fileHandleForReading.availableData == Data("!".utf8))
  }

  /// Behind a SIGSTOP it does nothing any longer.
  @discardableResult func send(_ signal: Int32) -> Int32 {
    let result = kill(process.processIdentifier, signal)
    while signal == SIGSTOP, process.isRunning, !isStopped { usleep(1000) }
    return result
  }

  private var isStopped: Bool {
    let status = (try? String(contentsOfFile: "/proc/\(process.processIdentifier)/stat", encoding: .utf8)) ?? ""
    return status.split(separator: ")").last?.hasPrefix(" T") == true
  }

  func end() {
    guard process.isRunning else { return }
    send(SIGKILL)
    process.waitUntilExit()
  }
}
