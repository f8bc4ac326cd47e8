import Batch
import Glibc
import Streams

/// The other side of ``StoreWorker``: runs what it is asked for until nobody asks any longer.
enum StoreWorkerLoop {
  /// The only argument of such a process. People never write it.
  static let word = "--store-worker"

  struct Answer {
    var code: Int32 = 0
    var isLast = false
  }

  /// A process that has grown leaves the next store to a new one: memory is bounded for each store.
  private static let mostMemory = MemoryBudget.standard.total - (4 << 20)
  private static let mostBytes: UInt32 = 16 << 20
  /// POLLRDHUP, which the C library shows to GNU's programs alone.
  private static let peerIsGone: Int16 = 0x2000

  /// Never returns: the process ends when its socket does.
  static func serve(_ run: ([String]) -> Int32) -> Never {
    let socket = takeSocket()
    let watcher = try? Worker { stopWhenAlone(socket) }
    KnownLibraries.trust(for: 1)
    while let words = request(socket) {
      var answer = Answer(code: Output.settled(run(words)))
      answer.isLast = Console.peakMemory > mostMemory
      guard withUnsafeBytes(of: answer, { send($0, to: socket) }), !answer.isLast else { break }
    }
    withExtendedLifetime(watcher) { exit(0) }
  }

  /// The socket came as standard input. Commands, and what they start, are to find nothing there.
  private static func takeSocket() -> Int32 {
    let (socket, nothing) = (dup(0), open("/dev/null", O_RDONLY | O_CLOEXEC))
    _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
    dup2(nothing, 0)
    close(nothing)
    return socket
  }

  private static func request(_ socket: Int32) -> [String]? {
    var count: UInt32 = 0
    guard withUnsafeMutableBytes(of: &count, { receive($0, from: socket) }), count > 0, count <= mostBytes else {
      return nil
    }
    var text = [UInt8](repeating: 0, count: Int(count))
    guard text.withUnsafeMutableBytes({ receive($0, from: socket) }) else { return nil }
    return text.dropLast().split(separator: 0, omittingEmptySubsequences: false).map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  /// Whoever asked is gone: the store at hand is left as after SIGTERM, to be resumed, and at the latest after a second
  /// as after SIGKILL, which loses no more than what was done since the last checkpoint.
  private static func stopWhenAlone(_ socket: Int32) {
    var waited = pollfd(fd: socket, events: peerIsGone, revents: 0)
    while poll(&waited, 1, -1) < 0, errno == EINTR {}
    // A command that is only just beginning does not hear the first one.
    for _ in 0..<9 {
      kill(getpid(), SIGTERM)
      usleep(100_000)
    }
    kill(getpid(), SIGKILL)
  }

  /// Whether all bytes could be sent.
  static func send(_ bytes: UnsafeRawBufferPointer, to socket: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let part = UnsafeRawBufferPointer(rebasing: rest)
      let sent = write(socket, part.baseAddress, part.count)
      if sent < 0, errno == EINTR { continue }
      guard sent > 0 else { return false }
      rest = rest.dropFirst(sent)
    }
    return true
  }

  /// Whether as many bytes came as there is place for.
  static func receive(_ bytes: UnsafeMutableRawBufferPointer, from socket: Int32) -> Bool {
    var place = 0
    while place < bytes.count {
      let count = read(socket, bytes.baseAddress?.advanced(by: place), bytes.count - place)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      place += count
    }
    return true
  }
}
