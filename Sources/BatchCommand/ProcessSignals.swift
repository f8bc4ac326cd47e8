import Batch
import Glibc

/// What the process does about signals from its beginning to its end; ``StopSignals`` has those of a run.
enum ProcessSignals {
  /// Whether the process was started to outlive its terminal, as by nohup.
  static let ignoresHangUp = action(SIGHUP) == ignored

  private static let ignored = 1
  private static let leastFiles: rlim_t = 20

  /// To be called before anything is opened.
  static func begin() {
    _ = ignoresHangUp
    // A file that is opened later must not become standard output by its number.
    for number in Int32(0)...2 where fcntl(number, F_GETFD) < 0 && errno == EBADF {
      _ = open("/dev/null", number == 0 ? O_RDONLY : O_WRONLY)
    }
    // A write past a limit, or to a pipe that nobody reads, is an error of that write. Not SIG_IGN, which commands that
    // are called would inherit.
    for number in [SIGPIPE, SIGXFSZ] where action(number) != ignored { signal(number) { _ in } }
  }

  /// Does something at each signal of that number, in the place of whoever did something at it before, until it is
  /// cancelled; then nobody does. Nil for a SIGHUP that was ignored when the process began, which stays so.
  static func handler(_ number: Int32, _ action: @escaping @Sendable () -> Void) -> SignalHandler? {
    guard number != SIGHUP || !ignoresHangUp else { return nil }
    return SignalHandler(number, action)
  }

  /// Does something at SIGINT, SIGTERM and SIGHUP as long as the body works.
  static func whenAskedToStop(_ stop: @escaping @Sendable () -> Void, _ body: () throws -> Void) rethrows {
    let signals = [SIGINT, SIGTERM, SIGHUP].compactMap { handler($0, stop) }
    defer { for source in signals { source.cancel() } }
    try body()
  }

  /// Removes the files that are unfinished, and interrupts the programs that were called, when SIGINT, SIGTERM or SIGHUP
  /// ends the process while the body works. A body that has handlers of its own decides itself how it ends.
  static func removingUnfinished<Result>(_ body: () throws -> Result) rethrows -> Result {
    let numbers = [SIGINT, SIGTERM, SIGHUP].filter { action($0) == 0 }
    let signals = numbers.compactMap { number in
      handler(number) {
        UnfinishedFiles.endProcess()
        CalledPrograms.interruptAll()
        UnfinishedFiles.removeAll()
        signal(number, SIG_DFL)
        kill(getpid(), number)
        // Where the signal is blocked, the process ends as shells count it.
        _exit(128 + number)
      }
    }
    defer {
      for handler in signals {
        handler.cancel()
        // Where the body had handlers of its own, nobody does anything at signals from then on: it is done.
        if handler.isLast { signal(handler.number, SIG_DFL) }
      }
    }
    defer { waitIfEnding() }
    return try body()
  }

  /// Waits for the end if a signal is ending the process: what the command finds out or says from then on is of files
  /// that are removed.
  static func waitIfEnding() { while UnfinishedFiles.isProcessEnding { pause() } }

  /// Throws where so few files may be open that not even a thread's timer could work.
  static func refuseTooFewFiles() throws {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < leastFiles else {
      return
    }
    throw BatchError(
      .refused, "only \(limit.rlim_cur) files may be open at a time, and \(leastFiles) are needed",
      hint: "Raise the limit (ulimit -n) and start again", effect: .nothingWritten)
  }

  /// How a signal is handled: 0 for the default, 1 for ignored, else a function's address.
  private static func action(_ number: Int32) -> Int {
    var found = sigaction()
    sigaction(number, nil, &found)
    return unsafeBitCast(found.__sigaction_handler.sa_handler, to: Int.self)
  }
}
