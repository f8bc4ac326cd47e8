@preconcurrency import Dispatch
import Glibc
import Synchronization

/// Does something at a signal, as long as no other handler of its number comes after it.
///
/// The system's handler writes the number into a pipe, and a thread of libdispatch reads it: a source of libdispatch for
/// the signal itself brings a system's handler of its own, which comes later and once for each number.
final class SignalHandler: Sendable {
  /// The last one of each number.
  private static let last = Mutex<[Int32: SignalHandler]>([:])

  let number: Int32
  private let action: @Sendable () -> Void
  private let isCancelled = Atomic(false)

  /// Signals of this number are told to nobody else on return.
  init(_ number: Int32, _ action: @escaping @Sendable () -> Void) {
    (self.number, self.action) = (number, action)
    guard SignalPipe.open() else { return }
    Self.last.withLock { $0[number] = self }
    signal(number) { SignalPipe.note($0) }
    // Whoever starts the process may have blocked them: what is started from a thread of libdispatch inherits that.
    var numbers = sigset_t()
    sigemptyset(&numbers)
    sigaddset(&numbers, number)
    pthread_sigmask(SIG_UNBLOCK, &numbers, nil)
  }

  /// Whether none came after it.
  var isLast: Bool { Self.last.withLock { $0[number] === self } }

  /// Nobody does anything at the signal from now on, unless a handler came after this one.
  func cancel() { isCancelled.store(true, ordering: .sequentiallyConsistent) }

  fileprivate static func call(_ number: Int32) {
    guard let handler = last.withLock({ $0[number] }) else { return }
    // Each by itself: one that waits, as for a terminal, holds no other up.
    DispatchQueue.global().async {
      if !handler.isCancelled.load(ordering: .sequentiallyConsistent) { handler.action() }
    }
  }
}

/// Where signals go from the system's handlers, which may do next to nothing.
private enum SignalPipe {
  private static let entry = Atomic<Int32>(-1)

  /// Nil if no file can be opened: then signals end the process at once.
  private static let source: (any DispatchSourceRead)? = {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    let exit = ends[0]
    entry.store(ends[1], ordering: .sequentiallyConsistent)
    let source = DispatchSource.makeReadSource(fileDescriptor: exit, queue: .global())
    source.setEventHandler {
      var numbers = [UInt8](repeating: 0, count: 64)
      let count = read(exit, &numbers, numbers.count)
      for number in numbers.prefix(max(0, count)) { SignalHandler.call(Int32(number)) }
    }
    source.resume()
    return source
  }()

  /// Whether there is a pipe. To be called before ``note(_:)``.
  static func open() -> Bool { source != nil }

  /// Called by the system, on any thread, at any moment: nothing but this is safe there (signal-safety(7)).
  static func note(_ number: Int32) {
    let before = errno
    var byte = UInt8(truncatingIfNeeded: number)
    _ = write(entry.load(ordering: .relaxed), &byte, 1)
    errno = before
  }
}
