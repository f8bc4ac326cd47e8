import Glibc
import Synchronization

/// Standard output. What cannot be written there is noticed, and the command ends with an error.
enum Output {
  private struct State {
    /// The first failure, 0 for none.
    var failure: Int32 = 0
    /// What is done although it could not be printed.
    var done: String?
  }

  private static let state = Mutex(State())

  /// Notes what a command has done, for the case that its summary cannot be written. The command then outlives a reader
  /// that has gone.
  static func afterDone<R>(_ what: String, _ result: R) -> R {
    state.withLock { $0.done = what }
    return result
  }

  /// Writes a text as it is. If nobody reads any longer, the process ends quietly, as others do in a pipe.
  static func write(_ text: String) {
    guard state.withLock({ $0.failure == 0 }) else { return }
    var text = text
    let number = text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
    if number == EPIPE, state.withLock({ $0.done == nil }) { end(0) }
  }

  /// Writes bytes; returns 0, or the number of the error, which is kept for the end.
  static func write(_ bytes: UnsafeRawBufferPointer) -> Int32 {
    ProcessSignals.waitIfEnding()
    var rest = bytes[...]
    while !rest.isEmpty {
      let part = UnsafeRawBufferPointer(rebasing: rest)
      let written = Glibc.write(1, part.baseAddress, part.count)
      if written > 0 {
        rest = rest.dropFirst(written)
      } else if errno == EAGAIN {
        var waited = pollfd(fd: 1, events: Int16(POLLOUT), revents: 0)
        poll(&waited, 1, -1)
      } else if errno != EINTR {
        let number = errno
        state.withLock { $0.failure = number }
        return number
      }
    }
    return 0
  }

  /// The exit code of a command that has ended: not 0 if something that it said could not be written, which is told.
  static func settled(_ code: Int32) -> Int32 {
    fflush(nil)
    let state = state.withLock { state in
      defer { state = State() }
      return state
    }
    guard state.failure != 0 else { return code }
    let reason = String(cString: strerror(state.failure))
    let done = state.done.map { "; \($0)" } ?? ""
    Console.error("\(Program.name): standard output cannot be written: \(reason)\(done)")
    return code == 0 ? 1 : code
  }

  /// Ends the process. With a code of 0 it has written all that it said.
  static func end(_ code: Int32) -> Never {
    if state.withLock({ $0.failure == EPIPE }) {
      fflush(nil)
      signal(SIGPIPE, SIG_DFL)
      raise(SIGPIPE)
    }
    exit(settled(code))
  }
}
